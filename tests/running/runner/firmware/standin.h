/* The stand-in firmware of tests/running/runner: the symbols and files that microgen/running/runner relies on. */
#ifndef STANDIN_H
#define STANDIN_H

#include <stdint.h>

#define WIDTH 8 /* bytes of the input, of the output and of every sid */

/* Workspace: sid_0 and sid_2 at offset 0, sid_1 at offset 8. */
extern int8_t tvmgen_default_global_workspace[16];

int32_t tvmgen_default_fused_double(const int8_t *in0, int8_t *out0);
int32_t tvmgen_default_fused_copy(const int8_t *in0, int8_t *out0);
int32_t tvmgen_default_fused_sum(const int8_t *in0, const int8_t *in1, int8_t *out0);
int32_t tvmgen_default___tvm_main__(const int8_t *input, int8_t *output);

void TVMPlatformTimerStart(void);
void TVMPlatformTimerStop(void);

/* TimerStart, the runner, TimerStop; the runner's status. */
int32_t measured(const int8_t *input, int8_t *output);

#endif
