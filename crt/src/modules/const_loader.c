/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/const_loader.h"
#include "modules/param_file.h"

#define MAX_BYTES 0x7FFFFFFFU

static bool is_known(DLDataType dtype)
{
    return dtype.code <= kDLBfloat && dtype.bits >= 1U && dtype.bits <= 64U && dtype.lanes == 1U;
}

/* Whether an array is of a kind that TVM writes, and has the number of bytes of its shape. */
static bool is_sound(const mg_param *array)
{
    mg_stream shape = array->shape;
    uint64_t nbytes = (array->dtype.bits + 7U) / 8U;
    uint32_t i;

    for (i = 0U; i < array->ndim && !shape.failed; i++) {
        nbytes *= mg_stream_unsigned(&shape);
        /* Keeps the next product from overflowing. A dimension of 0 still makes the final product
         * 0. */
        nbytes = nbytes > MAX_BYTES ? MAX_BYTES + 1U : nbytes;
    }
    return !shape.failed && nbytes == array->num_data && array->device_type == kDLCPU &&
           is_known(array->dtype);
}

static void skip_strings(mg_stream *stream)
{
    uint32_t count = mg_stream_count(stream, 8U);
    mg_text ignored;

    for (; count > 0U && !stream->failed; count--) {
        mg_stream_string(stream, &ignored);
    }
}

static void skip_arrays(mg_stream *stream)
{
    mg_param_file file;
    mg_param array;
    uint32_t i;

    if (!mg_param_open_list(&file, stream)) {
        mg_stream_fail(stream);
        return;
    }
    for (i = 0U; i < file.count; i++) {
        if (!mg_param_next(&file, &array) || !is_sound(&array)) {
            mg_stream_fail(stream);
            return;
        }
    }
    *stream = file.arrays;
}

void mg_const_loader_read(mg_stream *stream, mg_stream *lists)
{
    mg_stream symbols;
    uint32_t count;

    skip_arrays(stream);
    *lists = *stream;
    symbols = *stream;
    skip_strings(stream);
    count = mg_stream_count(stream, 8U);
    if (count != mg_stream_count(&symbols, 8U)) {
        mg_stream_fail(stream);
    }
    for (; count > 0U && !stream->failed; count--) {
        skip_strings(stream);
    }
}

/* The number of the symbol's list plus one, or 0 if it has none. Leaves the stream after all
 * symbols. */
static uint32_t place(mg_stream *stream, mg_text symbol)
{
    const uint32_t count = mg_stream_count(stream, 8U);
    uint32_t found = 0U;
    uint32_t i;
    mg_text text;

    for (i = 1U; i <= count; i++) {
        mg_stream_string(stream, &text);
        found = mg_text_same(text, symbol) ? i : found;
    }
    return found;
}

uint32_t mg_const_loader_find(const mg_stream *lists, mg_text symbol, mg_stream *names)
{
    uint32_t before;

    *names = *lists;
    before = place(names, symbol);
    if (before == 0U) {
        return 0U;
    }
    (void)mg_stream_count(names, 8U);
    for (; before > 1U; before--) {
        skip_strings(names);
    }
    return mg_stream_count(names, 8U);
}
