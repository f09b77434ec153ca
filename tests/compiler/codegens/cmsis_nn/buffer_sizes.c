/* The sizes that CMSIS-NN's functions return for convolutions. Each convolution is 18 numbers, in
 * the order of test_buffers.py; its 4 sizes are written. */
#include "arm_nnfunctions.h"

#include <stdint.h>

void sizes(const int32_t *count, const int32_t *window, int32_t *size);

static cmsis_nn_dims dims(int32_t n, int32_t h, int32_t w, int32_t c)
{
    const cmsis_nn_dims made = {.n = n, .h = h, .w = w, .c = c};
    return made;
}

static cmsis_nn_tile tile(const int32_t *pair)
{
    const cmsis_nn_tile made = {.h = pair[0], .w = pair[1]};
    return made;
}

static int32_t wrapper(const int32_t *n, const cmsis_nn_dims *input, const cmsis_nn_dims *output)
{
    if (n[17] != 0) {
        const cmsis_nn_dims filter = dims(1, n[8], n[9], n[7]);
        cmsis_nn_dw_conv_params params = {0};
        params.stride = tile(&n[10]);
        params.dilation = tile(&n[12]);
        params.padding = tile(&n[14]);
        params.ch_mult = n[7] / n[3];
        return arm_depthwise_conv_wrapper_s8_get_buffer_size(&params, input, &filter, output);
    } else {
        const cmsis_nn_dims filter = dims(n[7], n[8], n[9], n[16]);
        cmsis_nn_conv_params params = {0};
        params.stride = tile(&n[10]);
        params.dilation = tile(&n[12]);
        params.padding = tile(&n[14]);
        return arm_convolve_wrapper_s8_get_buffer_size(&params, input, &filter, output);
    }
}

void sizes(const int32_t *count, const int32_t *window, int32_t *size)
{
    for (int32_t i = 0; i < *count; i++) {
        const int32_t *n = &window[18 * i];
        const cmsis_nn_dims input = dims(n[0], n[1], n[2], n[3]);
        const cmsis_nn_dims output = dims(n[4], n[5], n[6], n[7]);
        const cmsis_nn_dims filter = dims(n[7], n[8], n[9], n[16]);
        const cmsis_nn_dims units = dims(1, 1, 1, n[7]);

        size[4 * i] = arm_convolve_s8_get_buffer_size(&input, &filter);
        size[4 * i + 1] = wrapper(n, &input, &output);
        size[4 * i + 2] = arm_fully_connected_s8_get_buffer_size(&units);
        size[4 * i + 3] = arm_avgpool_s8_get_buffer_size(n[6], n[7]);
    }
}
