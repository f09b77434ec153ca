/* SPDX-License-Identifier: Apache-2.0 */
#include "accelerator/accelerator_stream.h"

#include "tvm/runtime/crt/error_codes.h"

#include <stddef.h>

#define CRC_POLYNOMIAL 0xEDB88320U /* CRC-32 of IEEE 802.3, bits reversed */

static uint32_t crc32(const uint8_t *bytes, const uint8_t *end)
{
    uint32_t crc = 0xFFFFFFFFU;
    uint32_t bit;

    for (; bytes < end; bytes++) {
        crc ^= *bytes;
        for (bit = 0U; bit < 8U; bit++) {
            crc = (crc >> 1) ^ (((crc & 1U) != 0U) ? CRC_POLYNOMIAL : 0U);
        }
    }
    return ~crc;
}

static uint32_t number(mg_accelerator_stream *stream, uint32_t nbytes)
{
    return (uint32_t)mg_stream_number(&stream->rest, nbytes);
}

/* The next 32-bit number, as a signed one. */
static int32_t signed_number(mg_accelerator_stream *stream)
{
    const uint32_t bits = number(stream, 4U);

    return (bits <= INT32_MAX) ? (int32_t)bits : -(int32_t)~bits - 1;
}

int32_t mg_accelerator_begin(mg_accelerator_stream *stream, const uint8_t *bytes, uint32_t nbytes,
                             const mg_accelerator_memory *memories, uint32_t count)
{
    const mg_accelerator_stream made = {{bytes, bytes + nbytes, false}, memories, count};
    bool is_right;
    uint32_t version;
    uint32_t checksum;
    uint32_t i;

    *stream = made;
    is_right = number(stream, 4U) == MG_ACCELERATOR_MAGIC;
    version = number(stream, 2U);
    if (is_right && !stream->rest.failed && version != MG_ACCELERATOR_VERSION) {
        return kTvmErrorExecutorGraphUnsupported;
    }
    is_right = number(stream, 2U) == count && is_right;
    is_right = number(stream, 4U) == nbytes && is_right;
    checksum = number(stream, 4U);
    is_right = checksum == crc32(stream->rest.at, stream->rest.end) && is_right;
    for (i = 0U; i < count; i++) {
        is_right = number(stream, 4U) == memories[i].bytes && is_right;
    }
    return (is_right && !stream->rest.failed) ? kTvmErrorNoError : kTvmErrorExecutorGraphMalformed;
}

bool mg_accelerator_at_end(const mg_accelerator_stream *stream)
{
    return stream->rest.at == stream->rest.end && !stream->rest.failed;
}

static void read_operand(mg_accelerator_stream *stream, mg_accelerator_operand *operand)
{
    const mg_accelerator_operand none = {NULL, NULL, 0U, false};
    const uint32_t memory = number(stream, 4U);
    const uint32_t offset = number(stream, 4U);
    const uint32_t bytes = number(stream, 4U);
    const mg_accelerator_memory *in;

    *operand = none;
    if (memory == MG_ACCELERATOR_ABSENT && offset == 0U && bytes == 0U) {
        return;
    }
    if (memory >= stream->count || bytes == 0U || bytes > MG_ACCELERATOR_MAX_TENSOR) {
        mg_stream_fail(&stream->rest);
        return;
    }
    in = &stream->memories[memory];
    if (offset > in->bytes || bytes > in->bytes - offset) {
        mg_stream_fail(&stream->rest);
        return;
    }
    operand->read = (const uint8_t *)in->read + offset;
    operand->write = (in->write != NULL) ? (uint8_t *)in->write + offset : NULL;
    operand->bytes = bytes;
    operand->is_constant = memory == 0U && in->write == NULL;
}

int32_t mg_accelerator_next(mg_accelerator_stream *stream, mg_accelerator_command *command)
{
    uint32_t i;

    command->opcode = number(stream, 1U);
    command->n_operands = number(stream, 1U);
    command->n_parameters = number(stream, 2U);
    if (command->n_operands > MG_ACCELERATOR_MAX_OPERANDS ||
        command->n_parameters > MG_ACCELERATOR_MAX_PARAMETERS) {
        mg_stream_fail(&stream->rest);
    }
    for (i = 0U; i < command->n_operands && !stream->rest.failed; i++) {
        read_operand(stream, &command->operands[i]);
    }
    for (i = 0U; i < command->n_parameters && !stream->rest.failed; i++) {
        command->parameters[i] = signed_number(stream);
    }
    return stream->rest.failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}
