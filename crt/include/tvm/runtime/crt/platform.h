/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a platform provides for the model and the application, with the names and
 * signatures of TVM v0.14. A generated project's src/platform.c and src/platform/io.c define
 * TVMPlatformAbort, TVMPlatformInitialize and the timer. The other functions have weak defaults in
 * the sources named below. An application may define any of these itself. */
#ifndef TVM_RUNTIME_CRT_PLATFORM_H_
#define TVM_RUNTIME_CRT_PLATFORM_H_

#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

/* Formats a message with a NUL into `out_buf`, and returns the number of bytes without the NUL.
 * Bytes that do not fit are left out. The default of src/platform/format_message.c has the
 * conversions d i u x X c s p and %, flags - and 0, a width, and the lengths hh h l ll z j t. It
 * prints any other conversion as it is written, and then the rest of the format. */
size_t TVMPlatformFormatMessage(char *out_buf, size_t out_buf_size_bytes, const char *fmt,
                                va_list args);

/* Allocates memory aligned to TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES. The default of
 * src/platform/platform_memory.c takes it from the pool of TVMPlatformMemorySetPool
 * (platform_memory.h). Returns kTvmErrorPlatformNoMemory if not enough of the pool is left, or if
 * no pool was set. */
tvm_crt_error_t TVMPlatformMemoryAllocate(size_t num_bytes, DLDevice dev, void **out_ptr);

/* Frees the block and, in the default, all blocks allocated after it. Returns
 * kTvmErrorPlatformStackAllocBadFree if `ptr` does not point into memory that is in use. */
tvm_crt_error_t TVMPlatformMemoryFree(void *ptr, DLDevice dev);

/* For programs that measure: prepare a measurement, and end it. Nothing in this runtime calls them.
 * The defaults of src/platform/platform_hooks.c do nothing and return kTvmErrorNoError. */
tvm_crt_error_t TVMPlatformBeforeMeasurement(void);
tvm_crt_error_t TVMPlatformAfterMeasurement(void);

/* Fills a buffer with random bytes, which need not be secure. Nothing in this runtime calls it. The
 * default of src/platform/platform_hooks.c returns kTvmErrorFunctionCallNotImplemented. */
tvm_crt_error_t TVMPlatformGenerateRandom(uint8_t *buffer, size_t num_bytes);

#ifdef __cplusplus
}
#endif

#endif
