#include "param_file.h"

#define LIST_MAGIC 0xF7E58D4F05049CB7U
#define ARRAY_MAGIC 0xDD5E40F096B4A13FU

static const uint8_t *take(mg_bytes *bytes, uint64_t wanted)
{
    const uint8_t *const start = bytes->at;

    if (bytes->failed || wanted > bytes->left) {
        bytes->failed = true;
        return NULL;
    }
    bytes->at += (size_t)wanted;
    bytes->left -= (size_t)wanted;
    return start;
}

static uint64_t number(const uint8_t *at, uint32_t nbytes)
{
    uint64_t value = 0U;

    for (; nbytes > 0U; nbytes--) {
        value = value << 8 | at[nbytes - 1U];
    }
    return value;
}

/* A number of `nbytes` bytes, 0 if they are not there. */
static uint64_t read_number(mg_bytes *bytes, uint32_t nbytes)
{
    const uint8_t *const at = take(bytes, nbytes);

    return at != NULL ? number(at, nbytes) : 0U;
}

static void expect(mg_bytes *bytes, uint64_t wanted)
{
    if (read_number(bytes, 8U) != wanted) {
        bytes->failed = true;
    }
}

/* Each item takes 8 bytes and more: what claims to be more than that ends at once. */
static uint32_t read_count(mg_bytes *bytes)
{
    const uint64_t count = read_number(bytes, 8U);

    if (count > bytes->left / 8U || count > UINT32_MAX) {
        bytes->failed = true;
        return 0U;
    }
    return (uint32_t)count;
}

bool mg_param_open(mg_param_file *file, const uint8_t *data, size_t size)
{
    mg_bytes bytes = {data, size, false};
    uint32_t i;

    expect(&bytes, LIST_MAGIC);
    (void)read_number(&bytes, 8U);
    file->count = read_count(&bytes);
    file->names = bytes;
    for (i = 0U; i < file->count && !bytes.failed; i++) {
        (void)take(&bytes, read_number(&bytes, 8U));
    }
    expect(&bytes, file->count);
    file->arrays = bytes;
    return !bytes.failed;
}

bool mg_param_next(mg_param_file *file, mg_param *param)
{
    mg_bytes *const bytes = &file->arrays;
    uint64_t ndim;
    uint64_t num_data;

    param->name_length = (size_t)read_number(&file->names, 8U);
    param->name = (const char *)take(&file->names, param->name_length);
    expect(bytes, ARRAY_MAGIC);
    (void)take(bytes, 16U); /* a reserved word and the device that the data was on */
    ndim = read_number(bytes, 4U);
    param->dtype.code = (uint8_t)read_number(bytes, 1U);
    param->dtype.bits = (uint8_t)read_number(bytes, 1U);
    param->dtype.lanes = (uint16_t)read_number(bytes, 2U);
    param->shape = take(bytes, ndim * 8U);
    param->ndim = (int32_t)ndim;
    num_data = read_number(bytes, 8U);
    param->data = take(bytes, num_data);
    param->num_data = (size_t)num_data;
    return !bytes->failed && ndim <= INT32_MAX;
}

bool mg_param_is_at_end(const mg_param_file *file)
{
    return file->arrays.left == 0U;
}

uint64_t mg_param_dim(const mg_param *param, int32_t axis)
{
    return number(param->shape + 8 * (ptrdiff_t)axis, 8U);
}
