/* SPDX-License-Identifier: Apache-2.0 */
#include "accelerator/accelerator_commands.h"

/* Defines the function `command_name`, which calls the kernel's body with the command's operands in
 * order. */
#define MG_COMMAND(command_name, kernel, ...)                                                      \
    static void command_name(const mg_accelerator_command *command)                                \
    {                                                                                              \
        const mg_accelerator_operand *const operands = command->operands;                          \
        kernel##_params p;                                                                         \
                                                                                                   \
        MG_ACCELERATOR_DECODE(command, p);                                                         \
        kernel##_body(&p, operands[0].read, __VA_ARGS__);                                          \
    }

#define MG_WEIGHTED(rounding)                                                                      \
    operands[1].read, operands[2].read, operands[3].read, operands[4].read, operands[5].write,     \
        rounding

MG_COMMAND(add, mg_add_s8, operands[1].read, operands[2].write)
MG_COMMAND(multiply, mg_multiply_s8, operands[1].read, operands[2].write)
MG_COMMAND(clip, mg_clip_s8, operands[1].write)
MG_COMMAND(lookup, mg_lookup_s8, operands[1].read, operands[2].write)
MG_COMMAND(max_pool2d, mg_max_pool2d_s8, operands[1].write)
MG_COMMAND(avg_pool2d, mg_avg_pool2d_s8, operands[1].write, MG_ROUND_NEAREST)
MG_COMMAND(dense, mg_dense_s8, MG_WEIGHTED(MG_ROUND_NEAREST))
MG_COMMAND(dense_twice, mg_dense_s8, MG_WEIGHTED(MG_ROUND_TWICE))
MG_COMMAND(conv2d, mg_conv2d_s8, MG_WEIGHTED(MG_ROUND_TWICE))
MG_COMMAND(depthwise_conv2d, mg_depthwise_conv2d_s8, MG_WEIGHTED(MG_ROUND_TWICE))

void mg_accelerator_compute(const mg_accelerator_command *command)
{
    switch (command->opcode) {
    case MG_ACCELERATOR_ADD:
        add(command);
        break;
    case MG_ACCELERATOR_MULTIPLY:
        multiply(command);
        break;
    case MG_ACCELERATOR_CLIP:
        clip(command);
        break;
    case MG_ACCELERATOR_LOOKUP:
        lookup(command);
        break;
    case MG_ACCELERATOR_MAX_POOL2D:
        max_pool2d(command);
        break;
    case MG_ACCELERATOR_AVG_POOL2D:
        avg_pool2d(command);
        break;
    case MG_ACCELERATOR_DENSE:
        dense(command);
        break;
    case MG_ACCELERATOR_CONV2D:
        conv2d(command);
        break;
    case MG_ACCELERATOR_DEPTHWISE_CONV2D:
        depthwise_conv2d(command);
        break;
    default:
        dense_twice(command);
        break;
    }
}
