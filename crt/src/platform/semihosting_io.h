/* SPDX-License-Identifier: Apache-2.0 */
/* The files and the end of io.h over semihosting. Including this brings their source along: all
 * platforms that have semihosting share it. */
#ifndef MICROGEN_SEMIHOSTING_IO_H
#define MICROGEN_SEMIHOSTING_IO_H

#include "platform/io.h"

#endif
