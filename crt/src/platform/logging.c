/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/logging.h"
#include "platform/io.h"

#define MESSAGE_BYTES 128U

TVM_WEAK void TVMLogf(const char *fmt, ...)
{
    char text[MESSAGE_BYTES];
    va_list args;

    va_start(args, fmt);
    (void)TVMPlatformFormatMessage(text, sizeof(text), fmt, args);
    va_end(args);
    mg_io_print(text);
}
