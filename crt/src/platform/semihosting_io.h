/* SPDX-License-Identifier: Apache-2.0 */
/* The files and the exit of io.h by semihosting. All platforms with semihosting share the source,
 * which a project gets by including this header. */
#ifndef MICROGEN_SEMIHOSTING_IO_H
#define MICROGEN_SEMIHOSTING_IO_H

#include "platform/io.h"

#endif
