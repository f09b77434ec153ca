/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and checks, with the names of TVM v0.14. The macros take their format among the variable
 * arguments, so they need no extension of C99. Nothing else in this runtime uses them. */
#ifndef TVM_RUNTIME_CRT_LOGGING_H_
#define TVM_RUNTIME_CRT_LOGGING_H_

#include "crt_config.h"
#include "tvm/runtime/crt/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVM_CRT_LOG_LEVEL_ERROR 0
#define TVM_CRT_LOG_LEVEL_WARN 1
#define TVM_CRT_LOG_LEVEL_INFO 2
#define TVM_CRT_LOG_LEVEL_DEBUG 3

/* Writes a message. Applications usually define it. The default of src/platform/logging.c cuts the
 * message to 127 bytes and prints it on the console of the project's platform. */
void TVMLogf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* LOG(level, format, ...) */
#define LOG(level, ...)                                                                            \
    do {                                                                                           \
        if (TVM_CRT_LOG_LEVEL >= (level)) {                                                        \
            TVMLogf(__VA_ARGS__);                                                                  \
        }                                                                                          \
    } while (0)

#define LOG_ERROR(...) LOG(TVM_CRT_LOG_LEVEL_ERROR, __VA_ARGS__)
#define LOG_WARN(...) LOG(TVM_CRT_LOG_LEVEL_WARN, __VA_ARGS__)
#define LOG_INFO(...) LOG(TVM_CRT_LOG_LEVEL_INFO, __VA_ARGS__)
#define LOG_DEBUG(...) LOG(TVM_CRT_LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Ends the program by TVMPlatformAbort, after a message, unless `x` is true. */
#ifndef CHECK
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            LOG_ERROR("%s:%d: check failed: %s\n", __FILE__, __LINE__, #x);                        \
            TVMPlatformAbort(kTvmErrorPlatformCheckFailure);                                       \
        }                                                                                          \
    } while (0)
#endif

/* The same for `x op y`. A format and its arguments follow, which become part of the message. */
#ifndef CHECK_BINARY_OP
#define CHECK_BINARY_OP(op, x, y, ...)                                                             \
    do {                                                                                           \
        if (!((x)op(y))) {                                                                         \
            LOG_ERROR("%s:%d: check failed: %s %s %s: ", __FILE__, __LINE__, #x, #op, #y);         \
            LOG_ERROR(__VA_ARGS__);                                                                \
            LOG_ERROR("%s", "\n");                                                                 \
            TVMPlatformAbort(kTvmErrorPlatformCheckFailure);                                       \
        }                                                                                          \
    } while (0)
#endif

/* CHECK_LT(x, y, format, ...), and the others in the same way. */
#ifndef CHECK_LT
#define CHECK_LT(x, y, ...) CHECK_BINARY_OP(<, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_GT
#define CHECK_GT(x, y, ...) CHECK_BINARY_OP(>, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_LE
#define CHECK_LE(x, y, ...) CHECK_BINARY_OP(<=, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_GE
#define CHECK_GE(x, y, ...) CHECK_BINARY_OP(>=, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_EQ
#define CHECK_EQ(x, y, ...) CHECK_BINARY_OP(==, x, y, __VA_ARGS__)
#endif
#ifndef CHECK_NE
#define CHECK_NE(x, y, ...) CHECK_BINARY_OP(!=, x, y, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
