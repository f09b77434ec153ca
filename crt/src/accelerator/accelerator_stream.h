/* SPDX-License-Identifier: Apache-2.0 */
/* Reads command streams of the simulated accelerator in place and never past the end. Numbers are
 * little-endian and read byte by byte.
 *
 *     u32 magic "MGAC" | u16 version | u16 memories | u32 bytes of the stream | u32 CRC-32 of what
 *     follows | u32 bytes of each memory | commands
 *
 * A command is u8 opcode | u8 operands | u16 parameters | operands | i32 parameters. An operand is
 * u32 memory | u32 offset | u32 bytes. An absent operand has memory MG_ACCELERATOR_ABSENT, and its
 * offset and bytes are 0.
 *
 * The parameters are the fields of the kernel's structure, in order. The operands are the kernel's
 * pointers, in order, with the output last. DENSE rounds once, DENSE_TWICE twice. */
#ifndef MICROGEN_ACCELERATOR_STREAM_H
#define MICROGEN_ACCELERATOR_STREAM_H

#include "microgen/accelerator_memory.h"
#include "modules/module_stream.h"

#include <stdbool.h>

#define MG_ACCELERATOR_MAGIC 0x4341474DU
#define MG_ACCELERATOR_VERSION 1U
#define MG_ACCELERATOR_ABSENT 0xFFFFFFFFU
#define MG_ACCELERATOR_MAX_OPERANDS 6U
#define MG_ACCELERATOR_MAX_PARAMETERS 24U

/* The maximum size of a tensor in bytes. It keeps indices of elements, and sums of indices, within
 * int32. */
#define MG_ACCELERATOR_MAX_TENSOR 0x7FFFFF

typedef enum {
    MG_ACCELERATOR_ADD = 1,
    MG_ACCELERATOR_MULTIPLY,
    MG_ACCELERATOR_CLIP,
    MG_ACCELERATOR_LOOKUP,
    MG_ACCELERATOR_MAX_POOL2D,
    MG_ACCELERATOR_AVG_POOL2D,
    MG_ACCELERATOR_DENSE,
    MG_ACCELERATOR_CONV2D,
    MG_ACCELERATOR_DEPTHWISE_CONV2D,
    MG_ACCELERATOR_DENSE_TWICE
} mg_accelerator_opcode;

/* `read` is NULL if the operand is absent, and `write` if it is read-only. */
typedef struct {
    const void *read;
    void *write;
    uint32_t bytes;
    bool is_constant; /* in memory 0, which is never written */
} mg_accelerator_operand;

typedef struct {
    uint32_t opcode;
    uint32_t n_operands;
    uint32_t n_parameters;
    mg_accelerator_operand operands[MG_ACCELERATOR_MAX_OPERANDS];
    int32_t parameters[MG_ACCELERATOR_MAX_PARAMETERS];
} mg_accelerator_command;

typedef struct {
    mg_stream rest;
    const mg_accelerator_memory *memories;
    uint32_t count;
} mg_accelerator_stream;

/* Reads everything before the first command. Returns 0, or an error of mg_accelerator_run. */
MG_EXTERN int32_t mg_accelerator_begin(mg_accelerator_stream *stream, const uint8_t *bytes,
                                       uint32_t nbytes, const mg_accelerator_memory *memories,
                                       uint32_t count);

MG_EXTERN bool mg_accelerator_at_end(const mg_accelerator_stream *stream);

/* Reads the next command and checks that its operands are inside the memories. It does not check
 * the opcode. Returns 0, or kTvmErrorExecutorGraphMalformed, also at the end of the stream. */
MG_EXTERN int32_t mg_accelerator_next(mg_accelerator_stream *stream,
                                      mg_accelerator_command *command);

#endif
