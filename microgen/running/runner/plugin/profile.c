/* TCG plugin for QEMU: counts the retired instructions of every inference and operator call, how
 * often each translation block ran, and the bytes that were read from flash.
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
 * number. A model to which rows are fed has several intervals between markers in an inference. Each
 * begins with its first call, whose count is then the sum of all, and only the last has others.
 *
 * A part of an inference is what is charged to one call, or to no call between two of them. It has
 * the blocks that began in it. A block fell through if the next one began right after its end.
 *
 * An operator with loops or branches calls functions of layers. Each of these counts from its entry
 * until control is back in the operator, or in one of its functions that call others. What it
 * counts is a share of the part, and share 0 is everything else.
 *
 * In a program that is not the project's main, an inference is a call of a model's run function,
 * and ends at an address to which that returns.
 *
 * Flash is read through a model of a flash accelerator: lines, the code's in a direct
 * mapped cache, data's in sets of WAYS lines, of which the least recently used is replaced. A line
 * of code that follows the line of code used before it is one that a prefetch has begun to read.
 *
 * Arguments: plan=FILE, hexadecimal numbers: address of the first marker, of the second, number of
 * models; for each the intervals of an inference, first address of the runner, first address after
 * it, number of operator calls, entry of each, and for each call twice the number of functions that
 * call layers, first address of each and first address after it, the number of layers' functions,
 * entry of each; then the bytes of a line, the lines of the code's
 * cache, the sets of the data's (both 0: misses are not counted), number of flash regions, for each
 * the first address and the number of bytes; the number of run functions (0: there are markers),
 * the address of each, the number of addresses to which they return, each of these. out=FILE, one
 * line of decimal numbers per inference: the total, then one count per call made, and for each
 * function of layers that ran "CALL:SHARE:TIMES:INSTRUCTIONS". blocks=FILE,
 * decimal: "b NUMBER ADDRESS INSTRUCTIONS" before the first use of a block, and a line for each
 * share of a part: "p CALL SHARE BYTES DATA CODE NEXT" (0: no call; bytes read from flash as data;
 * lines missed as data, as code after a jump, and as the next line of code), then for each block
 * "NUMBER EXECUTIONS FALLEN". "e" ends an inference.
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
enum memory_access {
    ANY_ACCESS = 3 /* QEMU 7.2 confuses reads (1) and writes (2) */
};

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id,
                                           void (*on_translate)(plugin_id,
                                                                struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
                                          void (*on_execute)(unsigned, void *),
                                          enum register_access access, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction,
                                      void (*on_access)(unsigned, uint32_t, uint64_t, void *),
                                      enum register_access access, enum memory_access which,
                                      void *data);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
_Bool qemu_plugin_mem_is_store(uint32_t info);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = API_VERSION;
__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info,
                                                               int argc, char **argv);

#define WAYS 8

/* The numbers of executions of a block in a share of this part. They are 0 unless it is in the list
 * of the share's blocks, whose next one is `other`. */
struct use {
    uint64_t executions;
    uint64_t fallen;
    struct block *block;
    struct use *other;
};

/* A translation block: the address of its first instruction, the address after its last, the number
 * of instructions, and its use in each share. */
struct block {
    uint64_t start;
    uint64_t end;
    uint64_t count;
    uint64_t number; /* 0: not written yet */
    struct use *uses;
};

struct region {
    uint64_t start;
    uint64_t size;
};

struct list {
    uint64_t count;
    uint64_t *addresses;
};

/* Of a call: the extents of the functions that call others, and the entries of those that do not.
 */
struct inside {
    struct list callers;
    struct list layers;
};

struct model {
    uint64_t intervals;
    uint64_t runner_start;
    uint64_t runner_end;
    uint64_t calls;
    uint64_t *entries;
    struct inside *insides;
};

/* A share of a part. */
struct share {
    struct use *used;                     /* its blocks */
    uint64_t flash_bytes;                 /* as the next three */
    uint64_t data_misses, jumps, follows; /* lines missed: data, code, the next line of code */
};

/* The calls of a function of layers in an inference, and their instructions. */
struct times {
    uint64_t count;
    uint64_t instructions;
};

static struct {
    uint64_t timer_start;
    uint64_t timer_stop;
    uint64_t count;
    struct model *models;
    uint64_t line_bytes;
    uint64_t code_lines;
    uint64_t data_sets;
    uint64_t region_count;
    struct region *regions;
    struct list runs;
    struct list returns;
    uint64_t most_calls;
    uint64_t shares; /* of the call with most of them */
} plan;

static enum {
    OUTSIDE,
    IN_TIMER_START,
    IN_INFERENCE
} state;
static FILE *out;
static FILE *blocks;
static uint64_t counter;          /* instructions since QEMU started */
static uint64_t interval_start;   /* counter at the start of the interval */
static uint64_t intervals;        /* of this inference that have begun */
static uint64_t total;            /* instructions of its intervals that have ended */
static uint64_t call_start;       /* counter at the entry of the running operator */
static uint64_t calls_made;       /* operators entered in this interval */
static uint64_t *call_counts;     /* one for each call of the model with most calls */
static uint64_t next_model;       /* the model of the next inference */
static const struct model *model; /* the model of this inference */
static int in_operator;
static uint64_t return_address; /* of the first marker */
static struct block *previous;
static struct use *previous_use; /* NULL: none of this part */
static struct share *shares;     /* of this part */
static uint64_t share;           /* the one that counts */
static uint64_t share_start;     /* counter at its start */
static struct times *times;      /* [calls][shares] of this inference */
static uint64_t block_count;
static uint64_t *code_cache;         /* line in it, by its number modulo the lines */
static uint64_t (*data_cache)[WAYS]; /* lines in each set, the last used one first */
static uint64_t last_code;           /* the line of code used before */

/* Writes a share of the part that was charged to a call, and clears it. */
static void end_share(uint64_t call, uint64_t number)
{
    struct share *own = &shares[number];
    for (struct use *use = own->used; use != NULL; use = use->other) {
        if (use->block->number == 0) {
            use->block->number = ++block_count;
            (void)fprintf(blocks, "b %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", use->block->number,
                          use->block->start, use->block->count);
        }
    }
    (void)fprintf(blocks, "p %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                  call, number, own->flash_bytes, own->data_misses, own->jumps, own->follows);
    for (struct use *use = own->used; use != NULL; use = use->other) {
        (void)fprintf(blocks, " %" PRIu64 " %" PRIu64 " %" PRIu64, use->block->number,
                      use->executions, use->fallen);
        use->executions = 0;
        use->fallen = 0;
    }
    (void)fputc('\n', blocks);
    (void)memset(own, 0, sizeof *own);
}

/* Ends a part of the inference, which was charged to a call, or to none with 0. */
static void end_part(uint64_t call)
{
    for (uint64_t number = 0; number < plan.shares; number++) {
        if (number == 0 || shares[number].used != NULL) {
            end_share(call, number);
        }
    }
    previous_use = NULL;
}

static int is_in_flash(uint64_t address)
{
    for (uint64_t i = 0; i < plan.region_count; i++) {
        if (address - plan.regions[i].start < plan.regions[i].size) {
            return 1;
        }
    }
    return 0;
}

static void read_line(uint64_t line)
{
    uint64_t *set = data_cache[line % plan.data_sets];
    uint64_t moved = line;
    for (int way = 0; way < WAYS; way++) {
        const uint64_t was = set[way];
        set[way] = moved;
        if (was == line) {
            return;
        }
        moved = was;
    }
    shares[share].data_misses++;
}

/* Runs after each access to memory. */
static void on_access(unsigned cpu, uint32_t info, uint64_t address, void *data)
{
    (void)cpu;
    (void)data;
    if (state == IN_INFERENCE && is_in_flash(address) && !qemu_plugin_mem_is_store(info)) {
        shares[share].flash_bytes += (uint64_t)1 << qemu_plugin_mem_size_shift(info);
        if (plan.data_sets != 0) {
            read_line(address / plan.line_bytes);
        }
    }
}

static void fetch(const struct block *block)
{
    const uint64_t end = (block->end - 1) / plan.line_bytes;
    for (uint64_t line = block->start / plan.line_bytes; line <= end; line++) {
        uint64_t *place = &code_cache[line % plan.code_lines];
        if (*place != line) {
            *place = line;
            shares[share].follows += line == last_code + 1;
            shares[share].jumps += line != last_code + 1;
        }
        last_code = line;
    }
}

/* Counts an execution of a block in this part. */
static void use(struct block *block)
{
    struct use *own = &block->uses[share];
    if (own->executions++ == 0) {
        own->block = block;
        own->other = shares[share].used;
        shares[share].used = own;
    }
    previous_use = own;
    if (plan.code_lines != 0 && is_in_flash(block->start)) {
        fetch(block);
    }
}

static void leave_layer(void)
{
    if (share != 0) {
        times[(calls_made - 1) * plan.shares + share].instructions += counter - share_start;
        share = 0;
    }
}

static void leave_operator(void)
{
    if (in_operator) {
        leave_layer();
        call_counts[calls_made - 1] += counter - call_start;
        in_operator = 0;
        end_part(calls_made);
    }
}

static void begin_inference(void)
{
    model = &plan.models[next_model];
    next_model = (next_model + 1) % plan.count;
    intervals = 0;
    total = 0;
    for (uint64_t k = 0; k < model->calls; k++) {
        call_counts[k] = 0;
    }
    (void)memset(times, 0, plan.most_calls * plan.shares * sizeof *times);
}

static void begin_interval(void)
{
    if (model == NULL || intervals == model->intervals ||
        (plan.runs.count != 0 && model != &plan.models[next_model])) {
        begin_inference();
    }
    state = IN_INFERENCE;
    intervals++;
    interval_start = counter;
    calls_made = 0;
    in_operator = 0;
}

static void end_inference(void)
{
    (void)fputs("e\n", blocks);
    (void)fflush(blocks);
    (void)fprintf(out, "%" PRIu64, total);
    for (uint64_t k = 0; k < calls_made; k++) {
        (void)fprintf(out, " %" PRIu64, call_counts[k]);
    }
    for (uint64_t k = 0; k < calls_made * plan.shares; k++) {
        if (times[k].count != 0) {
            (void)fprintf(out, " %" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64, k / plan.shares,
                          k % plan.shares, times[k].count, times[k].instructions);
        }
    }
    (void)fputc('\n', out);
    (void)fflush(out);
}

static void end_interval(void)
{
    leave_operator();
    end_part(0);
    state = OUTSIDE;
    total += counter - interval_start;
    if (intervals == model->intervals) {
        end_inference();
    }
}

/* The position of an address in a list, or the number of its elements. */
static uint64_t position(const struct list *list, uint64_t address)
{
    uint64_t k = 0;
    while (k < list->count && list->addresses[k] != address) {
        k++;
    }
    return k;
}

static int is_end(uint64_t address)
{
    if (plan.runs.count != 0) {
        return position(&plan.returns, address) < plan.returns.count;
    }
    return address == plan.timer_stop;
}

static void begin_run(uint64_t address)
{
    const uint64_t run = position(&plan.runs, address);
    if (run < plan.runs.count) {
        next_model = run;
        begin_interval();
    }
}

/* Whether an address is in one of the extents, each of which is two addresses. */
static int is_within(const struct list *extents, uint64_t address)
{
    for (uint64_t k = 0; k + 1 < extents->count; k += 2) {
        if (address >= extents->addresses[k] && address < extents->addresses[k + 1]) {
            return 1;
        }
    }
    return 0;
}

/* Begins the share of a layer if its function is at an address. Layers that have one function call
 * it in turn, so it is the first one that has called it least often. */
static void begin_layer(const struct list *layers, uint64_t address)
{
    struct times *own = &times[(calls_made - 1) * plan.shares];
    for (uint64_t k = 0; k < layers->count; k++) {
        if (layers->addresses[k] == address &&
            (share == 0 || own[k + 1].count < own[share].count)) {
            share = k + 1;
            share_start = counter;
        }
    }
    own[share].count += share != 0;
}

/* Follows an operator with functions of layers. */
static void follow_operator(uint64_t address)
{
    const struct inside *inside = &model->insides[calls_made - 1];
    if (inside->layers.count == 0) {
        return;
    }
    if (is_within(&inside->callers, address)) {
        leave_layer();
    } else if (share == 0) {
        begin_layer(&inside->layers, address);
    }
}

static void follow_inference(uint64_t address)
{
    if (address >= model->runner_start && address < model->runner_end) {
        leave_operator();
    } else if (!in_operator && calls_made < model->calls && address == model->entries[calls_made]) {
        end_part(0);
        in_operator = 1;
        calls_made++;
        call_start = counter;
    } else if (is_end(address)) {
        end_interval();
    } else if (in_operator) {
        follow_operator(address);
    }
}

/* Runs before the block's first instruction is counted. */
static void on_execute(unsigned cpu, void *data)
{
    struct block *block = data;
    (void)cpu;
    if (previous) {
        counter += previous->count;
        if (previous_use != NULL) {
            previous_use->fallen += block->start == previous->end;
        }
    }
    switch (state) {
    case OUTSIDE:
        if (plan.runs.count != 0) {
            begin_run(block->start);
        } else if (block->start == plan.timer_start) {
            return_address = previous ? previous->end : 0;
            state = IN_TIMER_START;
        }
        break;
    case IN_TIMER_START:
        if (block->start == return_address) {
            begin_interval();
            follow_inference(block->start);
        }
        break;
    case IN_INFERENCE:
        follow_inference(block->start);
        break;
    }
    if (state == IN_INFERENCE) {
        use(block);
    }
    previous = block;
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *translation)
{
    size_t count = qemu_plugin_tb_n_insns(translation);
    struct block *block = calloc(1, sizeof *block); /* QEMU may use it forever */
    (void)id;
    if (block == NULL || (block->uses = calloc(plan.shares, sizeof *block->uses)) == NULL) {
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
        qemu_plugin_register_vcpu_mem_cb(instruction, on_access, NO_REGISTERS, ANY_ACCESS, NULL);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(translation, on_execute, NO_REGISTERS, block);
}

/* Reads so many addresses. One more is allocated, because calloc may return NULL for none. */
static int read_addresses(FILE *file, uint64_t count, uint64_t **into)
{
    uint64_t *found = calloc(count + 1, sizeof *found);
    int ok = found != NULL;
    for (uint64_t k = 0; ok && k < count; k++) {
        ok = fscanf(file, "%" SCNx64, &found[k]) == 1;
    }
    *into = found;
    return ok;
}

static int read_list(FILE *file, struct list *list)
{
    int ok = fscanf(file, "%" SCNx64, &list->count) == 1;
    return ok && read_addresses(file, list->count, &list->addresses);
}

static int read_model(FILE *file, struct model *into)
{
    int ok = fscanf(file, "%" SCNx64 "%" SCNx64 "%" SCNx64 "%" SCNx64, &into->intervals,
                    &into->runner_start, &into->runner_end, &into->calls) == 4;
    ok = ok && read_addresses(file, into->calls, &into->entries);
    into->insides = ok ? calloc(into->calls + 1, sizeof *into->insides) : NULL;
    ok = into->insides != NULL;
    for (uint64_t k = 0; ok && k < into->calls; k++) {
        struct inside *inside = &into->insides[k];
        ok = read_list(file, &inside->callers) && read_list(file, &inside->layers);
        if (ok && inside->layers.count >= plan.shares) {
            plan.shares = inside->layers.count + 1;
        }
    }
    return ok;
}

/* Reads the flash regions and makes the caches, in which no line is line 0 of memory. */
static int read_flash(FILE *file)
{
    int ok = fscanf(file, "%" SCNx64 "%" SCNx64 "%" SCNx64 "%" SCNx64, &plan.line_bytes,
                    &plan.code_lines, &plan.data_sets, &plan.region_count) == 4;
    ok = ok && plan.line_bytes != 0;
    if (ok) {
        plan.regions = calloc(plan.region_count + 1, sizeof *plan.regions);
        code_cache = calloc(plan.code_lines + 1, sizeof *code_cache);
        data_cache = calloc(plan.data_sets + 1, sizeof *data_cache);
        ok = plan.regions != NULL && code_cache != NULL && data_cache != NULL;
    }
    for (uint64_t k = 0; ok && k < plan.region_count; k++) {
        ok =
            fscanf(file, "%" SCNx64 "%" SCNx64, &plan.regions[k].start, &plan.regions[k].size) == 2;
    }
    return ok;
}

static int read_plan(const char *path)
{
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
    plan.most_calls = 1; /* calloc may return NULL for none */
    plan.shares = 1;
    for (uint64_t k = 0; ok && k < plan.count; k++) {
        const struct model *own = &plan.models[k];
        ok = read_model(file, &plan.models[k]);
        plan.most_calls = own->calls > plan.most_calls ? own->calls : plan.most_calls;
    }
    ok = ok && read_flash(file);
    ok = ok && read_list(file, &plan.runs);
    ok = ok && read_list(file, &plan.returns);
    (void)fclose(file);
    call_counts = calloc(plan.most_calls, sizeof *call_counts);
    times = calloc(plan.most_calls * plan.shares, sizeof *times);
    shares = calloc(plan.shares, sizeof *shares);
    return ok && call_counts != NULL && times != NULL && shares != NULL;
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
        } else if (strncmp(argv[i], "blocks=", 7) == 0) {
            blocks = fopen(argv[i] + 7, "w");
        }
    }
    if (!have_plan || out == NULL || blocks == NULL) {
        (void)fprintf(stderr, "profile: needs plan=FILE, out=FILE and blocks=FILE\n");
        return 1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    return 0;
}
