/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a platform provides for the model and the application, with the names and
 * signatures of TVM v0.14. TVM's memory and logging functions are absent, because nothing here
 * allocates or formats. */
#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include "tvm/runtime/crt/error_codes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the program because execution cannot continue. Prints `code` if the platform has a
 * console. */
void TVMPlatformAbort(tvm_crt_error_t code) __attribute__((noreturn));

/* Prepares the platform. Call once, before everything else. */
tvm_crt_error_t TVMPlatformInitialize(void);

/* Starts the timer. Returns kTvmErrorPlatformTimerBadState if it is already running, or if there is
 * none. */
tvm_crt_error_t TVMPlatformTimerStart(void);

/* Stops the timer and stores the seconds since its start, rounded towards zero to a double. Returns
 * kTvmErrorPlatformTimerBadState and stores nothing if it is not running. */
tvm_crt_error_t TVMPlatformTimerStop(double *elapsed_time_seconds);

#ifdef __cplusplus
}
#endif

#endif
