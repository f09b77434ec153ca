/* The same network for the host. HANG and CRASH choose what the last operator does wrong. */
#include "standin.h"

#define OPERATOR __attribute__((noinline))

OPERATOR int32_t tvmgen_default_fused_double(const int8_t *in0, int8_t *out0)
{
    for (int i = 0; i < WIDTH; i++) {
        out0[i] = (int8_t)(2 * in0[i]);
    }
    return 0;
}

OPERATOR int32_t tvmgen_default_fused_copy(const int8_t *in0, int8_t *out0)
{
    for (int i = 0; i < WIDTH; i++) {
        out0[i] = in0[i];
    }
    return 0;
}

OPERATOR int32_t tvmgen_default_fused_sum(const int8_t *in0, const int8_t *in1, int8_t *out0)
{
#ifdef HANG
    for (volatile int wait = 1; wait;) {
    }
#endif
#ifdef CRASH
    __builtin_trap();
#endif
    for (int i = 0; i < WIDTH; i++) {
        out0[i] = (int8_t)(in0[i] + in1[i]);
    }
    return 0;
}

int32_t tvmgen_default___tvm_main__(const int8_t *input, int8_t *output)
{
    int8_t *arena = tvmgen_default_global_workspace;
    int32_t status = tvmgen_default_fused_double(input, &arena[0]);
    status |= tvmgen_default_fused_double(&arena[0], &arena[8]);
    status |= tvmgen_default_fused_copy(&arena[8], &arena[0]);
    return status | tvmgen_default_fused_sum(&arena[0], &arena[8], output);
}

void TVMPlatformTimerStart(void)
{
}

void TVMPlatformTimerStop(void)
{
}

int32_t measured(const int8_t *input, int8_t *output)
{
    TVMPlatformTimerStart();
    int32_t status = tvmgen_default___tvm_main__(input, output);
    TVMPlatformTimerStop();
    return status;
}
