/* Damages blobs, loads them, and runs their functions. Arguments: seed, number of blobs. Standard
 * input: the originals, each a u32 length and its bytes. Standard output: how often each code came,
 * as lines "<load|find|init|run> <code> <times>".
 *
 * Nearly all blobs keep a correct length at the front, because otherwise little else would be
 * read. */
#include "module_blob_toy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ORIGINALS 64U
#define MAX_BYTES 4096U
#define MAX_CODE 0x900

enum {
    LOAD,
    FIND,
    INIT,
    RUN,
    STEPS
};

static uint8_t originals[MAX_ORIGINALS][MAX_BYTES];
static uint32_t lengths[MAX_ORIGINALS];
static uint32_t num_originals;
static unsigned long times[STEPS][MAX_CODE + 1];
static uint64_t state;

/* xorshift64* */
static uint32_t below(uint32_t bound)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)((state * 0x2545F4914F6CDD1DU) >> 32) % bound;
}

static void note(int step, tvm_crt_error_t error)
{
    if ((int)error < 0 || (int)error > MAX_CODE) {
        fprintf(stderr, "no error code: %d\n", (int)error);
        exit(2);
    }
    times[step][error]++;
}

static void put(uint8_t *at, uint64_t value)
{
    uint32_t i;

    for (i = 0U; i < 8U; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

static uint64_t get(const uint8_t *at)
{
    uint64_t value = 0U;
    uint32_t i;

    for (i = 8U; i > 0U; i--) {
        value = value << 8 | at[i - 1U];
    }
    return value;
}

static uint64_t interesting(uint64_t old)
{
    static const uint64_t values[] = {0U,
                                      1U,
                                      2U,
                                      3U,
                                      7U,
                                      8U,
                                      255U,
                                      0x7FFFFFFFU,
                                      0x80000000U,
                                      0xFFFFFFFFU,
                                      0x100000000U,
                                      0x2000000000000000U,
                                      0x7FFFFFFFFFFFFFFFU,
                                      0x8000000000000000U,
                                      0xFFFFFFFFFFFFFFF8U,
                                      0xFFFFFFFFFFFFFFFFU};

    switch (below(5U)) {
    case 0U:
        return old + 1U;
    case 1U:
        return old - 1U;
    case 2U:
        return old ^ (uint64_t)1U << below(64U);
    case 3U:
        return below(8U);
    default:
        return values[below(sizeof(values) / sizeof(values[0]))];
    }
}

/* A place where a number of 8 bytes seems to be; mostly it is a small number. */
static uint32_t place_of_number(const uint8_t *data, uint32_t length)
{
    uint32_t at = below(length - 7U);
    uint32_t tries;

    for (tries = 0U; tries < 40U && (get(data + at) > 4096U || data[at] == 0U); tries++) {
        at = below(length - 7U);
    }
    return at;
}

/* Makes room at `at` for `more` bytes, or takes `less` away. */
static uint32_t resize(uint8_t *data, uint32_t length, uint32_t at, uint32_t less, uint32_t more)
{
    less = less > length - at ? length - at : less;
    more = length - less + more > MAX_BYTES ? 0U : more;
    (void)memmove(data + at + more, data + at + less, length - at - less);
    return length - less + more;
}

/* Puts a piece of some original over a piece of the blob. */
static uint32_t splice(uint8_t *data, uint32_t length)
{
    const uint32_t from = below(num_originals);
    const uint32_t start = below(lengths[from]);
    uint32_t more = below(100U);
    const uint32_t at = below(length);
    uint32_t made;

    more = more > lengths[from] - start ? lengths[from] - start : more;
    made = resize(data, length, at, below(2U) == 0U ? more : below(24U), more);
    if (at + more <= made) {
        (void)memcpy(data + at, originals[from] + start, more);
    }
    return made;
}

static bool is_string(const uint8_t *data, uint32_t length, uint32_t at)
{
    const uint64_t count = get(data + at);
    uint32_t i;

    if (count == 0U || count > length - at - 8U) {
        return false;
    }
    for (i = 0U; i < count; i++) {
        if (data[at + 8U + i] < 0x20U) {
            return false;
        }
    }
    return true;
}

/* Replaces a string by another one and its length, so that the bytes around it remain readable. */
static uint32_t another_string(uint8_t *data, uint32_t length)
{
    static const char letters[] = "fgch0123_{}\\\"\0\xff";
    uint32_t at = below(length - 7U);
    uint32_t tries;
    uint32_t i;

    for (tries = 0U; tries < 200U; tries++) {
        const uint32_t old = (uint32_t)get(data + at);
        uint32_t more = below(4U) != 0U ? old : below(12U);
        if (!is_string(data, length, at)) {
            at = below(length - 7U);
            continue;
        }
        length = resize(data, length, at + 8U, old > more ? old - more : 0U,
                        more > old ? more - old : 0U);
        more = more > length - at - 8U ? length - at - 8U : more;
        put(data + at, more);
        i = more > 0U ? below(more) : 0U;
        for (; i < more && below(2U) == 0U; i++) {
            data[at + 8U + i] = (uint8_t)letters[below(sizeof(letters) - 1U)];
        }
        break;
    }
    return length;
}

static uint32_t damage(uint8_t *data, uint32_t length)
{
    uint32_t at;

    if (length < 24U) {
        return length;
    }
    switch (below(12U)) {
    case 0U:
        data[below(length)] = (uint8_t)below(256U);
        return length;
    case 1U:
        data[below(length)] ^= (uint8_t)(1U << below(8U));
        return length;
    case 2U:
        at = below(length);
        return resize(data, length, at, 1U + below(16U), 0U);
    case 3U:
        return splice(data, length);
    case 4U:
        at = place_of_number(data, length);
        put(data + at, get(data + place_of_number(data, length)));
        return length;
    case 5U:
    case 6U:
    case 7U:
        return another_string(data, length);
    default:
        at = place_of_number(data, length);
        put(data + at, interesting(get(data + at)));
        return length;
    }
}

static void run(const mg_modules *modules, mg_module_function function)
{
    int32_t *const result = toy_block(sizeof(int32_t));

    note(RUN, toy_call(modules, function, 5, result));
    free(result);
}

static void use(mg_modules *modules)
{
    static const char *const names[] = {"f", "g", "h", "__init_f", "__init_", "", "symbol_1", "_"};
    uint32_t module;
    uint32_t i;

    for (i = 0U; i < sizeof(names) / sizeof(names[0]); i++) {
        const uint32_t length = (uint32_t)strlen(names[i]);
        char *const block = toy_block(length);
        const mg_text name = {block, length};
        mg_module_function function = {UINT32_MAX, 0U, false};
        (void)memcpy(block, names[i], length);
        for (module = 0U; module <= modules->num_modules && module < 20U; module++) {
            tvm_crt_error_t error =
                mg_modules_get_function(modules, module, name, i % 2U == 0U, &function);
            note(FIND, error);
            run(modules, function);
        }
        note(INIT, mg_modules_init(modules, names[i], toy_constants, TOY_CONSTANTS, &function));
        run(modules, function);
        free(block);
    }
}

static void try_one(const uint8_t *data, uint32_t length)
{
    const uint32_t num_pool = below(10U) == 0U ? below(600U) : 1U << 16;
    uint8_t *const memory = toy_block(num_pool);
    uint8_t *const blob = toy_block(length);
    mg_pool pool = {memory, memory + num_pool};
    mg_modules modules;
    tvm_crt_error_t error;

    (void)memcpy(blob, data, length);
    (void)memset(memory, 0xA5, num_pool);
    error = mg_modules_load(blob, length, &pool, &modules);
    note(LOAD, error);
    if (pool.at < memory || pool.at > pool.end || pool.end != memory + num_pool) {
        exit(3);
    }
    use(&modules);
    free(blob);
    free(memory);
}

static uint32_t read_length(void)
{
    uint8_t bytes[4];

    return fread(bytes, 1, 4, stdin) == 4U
               ? (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
               : 0U;
}

static void read_originals(void)
{
    uint32_t length;

    for (length = read_length(); length > 0U; length = read_length()) {
        if (num_originals == MAX_ORIGINALS || length > MAX_BYTES ||
            fread(originals[num_originals], 1, length, stdin) != length) {
            exit(4);
        }
        lengths[num_originals] = length;
        num_originals++;
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[MAX_BYTES];
    unsigned long left;
    int step;
    int code;

    if (argc != 3) {
        return 5;
    }
    state = 0x9E3779B97F4A7C15U * (1U + strtoul(argv[1], NULL, 10));
    read_originals();
    for (left = strtoul(argv[2], NULL, 10); left > 0U; left--) {
        const uint32_t from = below(num_originals);
        uint32_t length = lengths[from];
        uint32_t changes;
        (void)memcpy(data, originals[from], length);
        for (changes = 1U + below(3U); changes > 0U; changes--) {
            length = damage(data, length);
        }
        if (below(32U) != 0U && length >= 8U) {
            put(data, length - 8U);
        }
        try_one(data, length);
    }
    for (step = 0; step < STEPS; step++) {
        static const char *const steps[] = {"load", "find", "init", "run"};
        for (code = 0; code <= MAX_CODE; code++) {
            if (times[step][code] > 0U) {
                printf("%s %d %lu\n", steps[step], code, times[step][code]);
            }
        }
    }
    return 0;
}
