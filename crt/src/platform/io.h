/* SPDX-License-Identifier: Apache-2.0 */
/* What the application needs from its platform: two files, a console, and an exit.
 *
 * platform_<name>.c implements it: over semihosting on boards, over POSIX on the host. */
#ifndef MICROGEN_IO_H
#define MICROGEN_IO_H

#include "microgen/inline.h"

/* The result for a file that could not be opened. */
#define MG_IO_NONE (-1)

typedef enum {
    MG_IO_READ,
    MG_IO_WRITE
} mg_io_mode;

/* Opens a file in the current directory for reading, or creates or empties it for writing. `length`
 * is strlen(name), which semihosting needs. Returns a handle or MG_IO_NONE. */
MG_EXTERN int32_t mg_io_open(const char *name, uint32_t length, mg_io_mode mode);

/* Reads up to `nbytes` bytes. Returns the number of bytes read. Fewer than `nbytes` means the end
 * of the file or an error. */
MG_EXTERN uint32_t mg_io_read(int32_t file, void *data, uint32_t nbytes);

/* Writes `nbytes` bytes. Returns the number of bytes written. Fewer than `nbytes` means an
 * error. */
MG_EXTERN uint32_t mg_io_write(int32_t file, const void *data, uint32_t nbytes);

/* Closes a file. Returns 0, or another value if written data may be lost. */
MG_EXTERN int32_t mg_io_close(int32_t file);

/* Prints text on the console. */
MG_EXTERN void mg_io_print(const char *text);

/* Prints a number in decimal. */
MG_EXTERN void mg_io_print_int(int32_t value);

/* Prints a number as 0x and eight hexadecimal digits. */
MG_EXTERN void mg_io_print_hex(uint32_t value);

/* Ends the program with an exit status. */
MG_EXTERN void mg_io_exit(int32_t status) __attribute__((noreturn));

/* The number of bytes of stack used so far, or 0 if the platform does not paint its stack. */
MG_EXTERN uint32_t mg_io_stack_used(void);

#endif
