/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_stream.h"

void mg_stream_fail(mg_stream *stream)
{
    stream->failed = true;
    stream->at = stream->end;
}

uint64_t mg_stream_number(mg_stream *stream, uint32_t nbytes)
{
    const uint8_t *const at = stream->at;
    uint64_t value = 0U;

    mg_stream_skip(stream, nbytes);
    if (stream->failed) {
        return 0U;
    }
    for (; nbytes > 0U; nbytes--) {
        value = value << 8 | at[nbytes - 1U];
    }
    return value;
}

uint32_t mg_stream_unsigned(mg_stream *stream)
{
    const uint64_t value = mg_stream_number(stream, 8U);

    if (value > INT32_MAX) {
        mg_stream_fail(stream);
        return 0U;
    }
    return (uint32_t)value;
}

uint32_t mg_stream_count(mg_stream *stream, size_t least)
{
    const uint32_t count = mg_stream_unsigned(stream);

    if (count > (size_t)(stream->end - stream->at) / least) {
        mg_stream_fail(stream);
        return 0U;
    }
    return count;
}

void mg_stream_string(mg_stream *stream, mg_text *text)
{
    const uint32_t length = mg_stream_count(stream, 1U);

    text->at = (const char *)stream->at;
    text->length = length;
    mg_stream_skip(stream, length);
}

void mg_stream_skip(mg_stream *stream, size_t nbytes)
{
    if (nbytes > (size_t)(stream->end - stream->at)) {
        mg_stream_fail(stream);
    } else {
        stream->at += nbytes;
    }
}

bool mg_text_same(mg_text a, mg_text b)
{
    uint32_t i;

    for (i = 0U; i < a.length && i < b.length && a.at[i] == b.at[i]; i++) {
    }
    return i == a.length && i == b.length;
}
