/* SPDX-License-Identifier: Apache-2.0 */
#include "microgen/tracing_device.h"

#include "platform/io.h"

#include <stddef.h>

#define FILE_NAME "microgen_devices.txt"
#define FILE_BYTES 64U

static mg_device_event events[MG_TRACING_EVENTS];
static uint32_t count;

/* Pairs of a call's number and its status. Zeros follow the last pair, because no call has the
 * number 0. */
static int32_t failures[2U * MG_TRACING_FAILURES];

/* Stores the numbers of the text. Any characters except digits and a minus sign separate them. */
static void parse(const char *text, uint32_t length)
{
    uint32_t found = 0U;
    uint32_t i = 0U;

    while (i < length && found < 2U * MG_TRACING_FAILURES) {
        const uint32_t start = i;
        uint32_t value = 0U;

        for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
            value = value * 10U + (uint32_t)(text[i] - '0');
        }
        if (i == start) {
            i++;
            continue;
        }
        value &= 0x7FFFFFFFU;
        failures[found] = (int32_t)value;
        if (start > 0U && text[start - 1U] == '-') {
            failures[found] = -failures[found];
        }
        found++;
    }
}

static void read_failures(void)
{
    char text[FILE_BYTES];
    const int32_t file = mg_io_open(FILE_NAME, sizeof(FILE_NAME) - 1U, MG_IO_READ);

    if (file != MG_IO_NONE) {
        parse(text, mg_io_read(file, text, FILE_BYTES));
        (void)mg_io_close(file);
    }
}

static int32_t status_of(uint32_t number)
{
    uint32_t i;

    for (i = 0U; i < MG_TRACING_FAILURES; i++) {
        if (failures[2U * i] == (int32_t)number) {
            return failures[2U * i + 1U];
        }
    }
    return 0;
}

static void print(const mg_device_event *event)
{
    static const char *const names[] = {" Activate", " Open", " Close", " Deactivate"};

    mg_io_print("microgen: device ");
    mg_io_print(event->device != NULL ? event->device->name : "(no context)");
    mg_io_print(names[event->hook]);
    if (event->status != 0) {
        mg_io_print(" status=");
        mg_io_print_int(event->status);
    }
    mg_io_print("\n");
}

int32_t mg_tracing_device_hook(const mg_tracing_device *device, mg_hook hook)
{
    mg_device_event *const event = &events[count % MG_TRACING_EVENTS];

    if (count == 0U) {
        read_failures();
    }
    count++;
    event->device = device;
    event->hook = hook;
    event->status = status_of(count);
    print(event);
    return event->status;
}

uint32_t mg_tracing_device_count(void)
{
    return count;
}

const mg_device_event *mg_tracing_device_event(uint32_t number)
{
    if (number == 0U || number > count || count - number >= MG_TRACING_EVENTS) {
        return NULL;
    }
    return &events[(number - 1U) % MG_TRACING_EVENTS];
}
