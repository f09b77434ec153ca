/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/param_file.h"

#define LIST_MAGIC 0xF7E58D4F05049CB7U
#define ARRAY_MAGIC 0xDD5E40F096B4A13FU

static void expect(mg_stream *stream, uint64_t wanted)
{
    if (mg_stream_number(stream, 8U) != wanted) {
        mg_stream_fail(stream);
    }
}

bool mg_param_open(mg_param_file *file, const uint8_t *data, size_t size)
{
    mg_stream stream = {data, data + size, false};

    expect(&stream, LIST_MAGIC);
    (void)mg_stream_number(&stream, 8U);
    return mg_param_open_list(file, &stream);
}

bool mg_param_open_list(mg_param_file *file, const mg_stream *list)
{
    mg_stream stream = *list;
    mg_text ignored;
    uint32_t i;

    file->count = mg_stream_count(&stream, 8U);
    file->names = stream;
    for (i = 0U; i < file->count && !stream.failed; i++) {
        mg_stream_string(&stream, &ignored);
    }
    expect(&stream, file->count);
    file->arrays = stream;
    return !stream.failed;
}

bool mg_param_next(mg_param_file *file, mg_param *param)
{
    mg_stream *const arrays = &file->arrays;
    uint32_t i;

    mg_stream_string(&file->names, &param->name);
    expect(arrays, ARRAY_MAGIC);
    (void)mg_stream_number(arrays, 8U);
    param->device_type = (uint32_t)mg_stream_number(arrays, 4U);
    (void)mg_stream_number(arrays, 4U); /* the device's number */
    param->ndim = (uint32_t)mg_stream_number(arrays, 4U);
    param->dtype.code = (uint8_t)mg_stream_number(arrays, 1U);
    param->dtype.bits = (uint8_t)mg_stream_number(arrays, 1U);
    param->dtype.lanes = (uint16_t)mg_stream_number(arrays, 2U);
    param->shape = *arrays;
    for (i = 0U; i < param->ndim && !arrays->failed; i++) {
        (void)mg_stream_number(arrays, 8U);
    }
    param->num_data = mg_stream_count(arrays, 1U);
    param->data = arrays->at;
    mg_stream_skip(arrays, param->num_data);
    return !arrays->failed;
}

bool mg_param_is_at_end(const mg_param_file *file)
{
    return file->arrays.at == file->arrays.end;
}
