/* TCG plugin for QEMU: counts the retired instructions of every inference and operator call.
 *
 * An inference is what runs between the return of the first marker (TVMPlatformTimerStart) and the
 * entry of the second (TVMPlatformTimerStop): the first instruction counted is the one after the
 * call of the first, the last is the call of the second.
 *
 * A callback at each translation block adds the instructions of the block before, which has then
 * run to its end (only a fault leaves one early, and that ends the run). What was counted since the
 * last charge goes to operator call k from the entry of the k-th operator until control is back in
 * the runner, and to no call otherwise. So everything that an operator calls is included in its
 * count, and a loop to an operator's own first instruction is not a new call.
 *
 * Several models run in turn, each between the markers: inference n is of model n modulo their
 * number.
 *
 * Arguments: plan=FILE, hexadecimal numbers: address of the first marker, of the second, number of
 * models; for each first address of the runner, first address after it, number of operator calls,
 * entry of each. out=FILE, one line of decimal numbers per inference: the total, then one count per
 * call made.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of QEMU's plugin interface that is used here (QEMU's manual, "TCG Plugins"). It is the
 * same in the versions 1 (QEMU before 9) and 2. Distributions of QEMU install no header for it. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t plugin_id;
enum register_access {
    NO_REGISTERS
};

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*on_translate)(plugin_id,
                                                                struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
                                          void (*on_execute)(unsigned, void *),
                                          enum register_access access, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = API_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info,
                                                               int argc, char **argv);

/* A translation block: the address of its first instruction, the address after its last, and the
 * number of instructions. */
struct block {
    uint64_t start;
    uint64_t end;
    uint64_t count;
};

struct model {
    uint64_t runner_start;
    uint64_t runner_end;
    uint64_t calls;
    uint64_t *entries;
};

static struct {
    uint64_t timer_start;
    uint64_t timer_stop;
    uint64_t count;
    struct model *models;
} plan;

static enum {
    OUTSIDE,
    IN_TIMER_START,
    IN_INFERENCE
} state;
static FILE *out;
static uint64_t counter;          /* instructions since QEMU started */
static uint64_t inference_start;  /* counter at the start of the inference */
static uint64_t call_start;       /* counter at the entry of the running operator */
static uint64_t calls_made;       /* operators entered in this inference */
static uint64_t *call_counts;     /* one for each call of the model with most calls */
static uint64_t next_model;       /* the model of the next inference */
static const struct model *model; /* the model of this inference */
static int in_operator;
static uint64_t return_address; /* of the first marker */
static const struct block *previous;

static void leave_operator(void)
{
    if (in_operator) {
        call_counts[calls_made - 1] = counter - call_start;
        in_operator = 0;
    }
}

static void begin_inference(void)
{
    state = IN_INFERENCE;
    model = &plan.models[next_model];
    next_model = (next_model + 1) % plan.count;
    inference_start = counter;
    calls_made = 0;
    in_operator = 0;
}

static void end_inference(void)
{
    leave_operator();
    state = OUTSIDE;
    (void)fprintf(out, "%" PRIu64, counter - inference_start);
    for (uint64_t k = 0; k < calls_made; k++) {
        (void)fprintf(out, " %" PRIu64, call_counts[k]);
    }
    (void)fputc('\n', out);
    (void)fflush(out);
}

static void follow_inference(uint64_t address)
{
    if (address >= model->runner_start && address < model->runner_end) {
        leave_operator();
    } else if (!in_operator && calls_made < model->calls && address == model->entries[calls_made]) {
        in_operator = 1;
        calls_made++;
        call_start = counter;
    } else if (address == plan.timer_stop) {
        end_inference();
    }
}

/* Runs before the block's first instruction is counted. */
static void on_execute(unsigned cpu, void *data)
{
    const struct block *block = data;
    (void)cpu;
    counter += previous ? previous->count : 0;
    switch (state) {
    case OUTSIDE:
        if (block->start == plan.timer_start) {
            return_address = previous ? previous->end : 0;
            state = IN_TIMER_START;
        }
        break;
    case IN_TIMER_START:
        if (block->start == return_address) {
            begin_inference();
            follow_inference(block->start);
        }
        break;
    case IN_INFERENCE:
        follow_inference(block->start);
        break;
    }
    previous = block;
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *translation)
{
    size_t count = qemu_plugin_tb_n_insns(translation);
    struct block *block = malloc(sizeof *block); /* QEMU may use it forever */
    (void)id;
    if (block == NULL) {
        abort();
    }
    block->count = count;
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(translation, i);
        uint64_t address = qemu_plugin_insn_vaddr(instruction);
        if (i == 0) {
            block->start = address;
        }
        block->end = address + qemu_plugin_insn_size(instruction);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(translation, on_execute, NO_REGISTERS, block);
}

static int read_model(FILE *file, struct model *into)
{
    int ok = fscanf(file, "%" SCNx64 "%" SCNx64 "%" SCNx64, &into->runner_start, &into->runner_end,
                    &into->calls) == 3;
    if (ok) {
        into->entries = calloc(into->calls + 1, sizeof *into->entries);
        ok = into->entries != NULL;
    }
    for (uint64_t k = 0; ok && k < into->calls; k++) {
        ok = fscanf(file, "%" SCNx64, &into->entries[k]) == 1;
    }
    return ok;
}

static int read_plan(const char *path)
{
    uint64_t most_calls = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    int ok = fscanf(file, "%" SCNx64 "%" SCNx64 "%" SCNx64, &plan.timer_start, &plan.timer_stop,
                    &plan.count) == 3;
    if (ok) {
        plan.models = calloc(plan.count + 1, sizeof *plan.models);
        ok = plan.models != NULL && plan.count > 0;
    }
    for (uint64_t k = 0; ok && k < plan.count; k++) {
        ok = read_model(file, &plan.models[k]);
        most_calls = plan.models[k].calls > most_calls ? plan.models[k].calls : most_calls;
    }
    (void)fclose(file);
    call_counts = calloc(most_calls + 1, sizeof *call_counts);
    return ok && call_counts != NULL;
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    int have_plan = 0;
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "plan=", 5) == 0) {
            have_plan = read_plan(argv[i] + 5);
        } else if (strncmp(argv[i], "out=", 4) == 0) {
            out = fopen(argv[i] + 4, "w");
        }
    }
    if (!have_plan || out == NULL) {
        (void)fprintf(stderr, "profile: needs plan=FILE and out=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
