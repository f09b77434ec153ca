/* SPDX-License-Identifier: Apache-2.0 */
/* A device that only records the calls of its hooks: a stand-in in a generated project until there
 * is a driver, which tests use, too.
 *
 * Every hook prints a line on the console, "microgen: device <name> <Hook>", followed by
 * " status=<n>" if it fails, and is kept in a buffer of fixed size.
 *
 * A hook fails if a file microgen_devices.txt in the current directory says so. It holds pairs of
 * decimal numbers: which call of a hook, over all devices, the first being 1; and the status that
 * it returns instead of 0. It is read once, at the first hook. Without files no hook fails. */
#ifndef MICROGEN_TRACING_DEVICE_H
#define MICROGEN_TRACING_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MG_TRACING_EVENTS 32U  /* hooks that are kept: the last so many */
#define MG_TRACING_FAILURES 4U /* pairs that are read from the file */

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

/* What each hook of a tracing device calls. Returns 0, or the status that the file gives. */
int32_t mg_tracing_device_hook(const mg_tracing_device *device, mg_hook hook);

/* How many hooks were called so far. */
uint32_t mg_tracing_device_count(void);

/* The hook that was called as number `number`, from 1 up to the count; NULL if it is not kept. */
const mg_device_event *mg_tracing_device_event(uint32_t number);

#ifdef __cplusplus
}
#endif

#endif
