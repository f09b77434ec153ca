/* SPDX-License-Identifier: Apache-2.0 */
/* A device that only records the calls of its hooks. A generated project uses it until there is a
 * driver, and tests use it, too.
 *
 * Every hook prints a line on the console: "microgen: device <name> <Hook>", followed by
 * " status=<n>" if it fails. A buffer of fixed size keeps the last calls.
 *
 * A hook fails if a file microgen_devices.txt in the current directory says so. The file contains
 * pairs of decimal numbers. The first is the number of a call, counted from 1 over all devices; the
 * second is the status that this call returns instead of 0. The file is read once, at the first
 * call. On a platform without files no hook fails. */
#ifndef MICROGEN_TRACING_DEVICE_H
#define MICROGEN_TRACING_DEVICE_H

#include "microgen/inline.h"

#define MG_TRACING_EVENTS 32U  /* number of calls that are kept, the last ones */
#define MG_TRACING_FAILURES 4U /* maximum number of pairs in the file */

typedef enum {
    MG_HOOK_ACTIVATE,
    MG_HOOK_OPEN,
    MG_HOOK_CLOSE,
    MG_HOOK_DEACTIVATE
} mg_hook;

/* The context of a tracing device. `name` must be text. */
typedef struct {
    const char *name;
} mg_tracing_device;

/* One call of a hook. */
typedef struct {
    const mg_tracing_device *device;
    mg_hook hook;
    int32_t status; /* what it returned */
} mg_device_event;

/* Records the call of a hook. Every hook of a tracing device calls it. Returns 0, or the status
 * that the file gives. */
MG_EXTERN int32_t mg_tracing_device_hook(const mg_tracing_device *device, mg_hook hook);

/* The number of hooks called so far. */
MG_EXTERN uint32_t mg_tracing_device_count(void);

/* Call number `number`, from 1 to the count. NULL if it is no longer kept. */
MG_EXTERN const mg_device_event *mg_tracing_device_event(uint32_t number);

#endif
