/* Calls each function of calls.h with arguments from one file, and writes its outputs to another.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_ARGUMENTS = 32
};

struct call {
    int32_t (*function)(void **p);
    int32_t read;  /* how many arguments are read */
    int32_t ports; /* how many are read or written */
    int32_t count; /* with the scratch */
    size_t sizes[MAX_ARGUMENTS];
};

#include "calls.h"

static int run(const struct call *call, FILE *in, FILE *out)
{
    void *p[MAX_ARGUMENTS];
    int status;
    for (int32_t i = 0; i < call->count; ++i) {
        p[i] = malloc(call->sizes[i]);
        memset(p[i], 0xA5, call->sizes[i]);
        if (i < call->read && fread(p[i], call->sizes[i], 1, in) != 1) {
            return 1;
        }
    }
    status = call->function(p);
    for (int32_t i = call->read; i < call->ports; ++i) {
        if (fwrite(p[i], call->sizes[i], 1, out) != 1) {
            return 1;
        }
    }
    for (int32_t i = 0; i < call->count; ++i) {
        free(p[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    FILE *in = (argc == 3) ? fopen(argv[1], "rb") : NULL;
    FILE *out = in ? fopen(argv[2], "wb") : NULL;
    if (!out) {
        return 2;
    }
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
        if (run(&calls[i], in, out) != 0) {
            fprintf(stderr, "call %d failed\n", (int)i);
            return 1;
        }
    }
    return fclose(in) | fclose(out);
}
