/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform gives the model and the application: TVM's names and signatures (v0.14).
 * TVM's memory and logging functions are absent: nothing here allocates or formats. */
#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the program: execution cannot continue. Reports `code` where the platform has a console. */
void TVMPlatformAbort(tvm_crt_error_t code) __attribute__((noreturn));

/* Prepares the platform. Call once, before everything else. */
tvm_crt_error_t TVMPlatformInitialize(void);

/* Starts the timer. kTvmErrorPlatformTimerBadState if it is running, or if there is none. */
tvm_crt_error_t TVMPlatformTimerStart(void);

/* Stops the timer and stores the seconds since its start, rounded towards zero to a double.
 * kTvmErrorPlatformTimerBadState, and nothing stored, if it is not running. */
tvm_crt_error_t TVMPlatformTimerStop(double *elapsed_time_seconds);

#ifdef __cplusplus
}
#endif

#endif
