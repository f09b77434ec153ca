#ifndef TVMGEN_DEFAULT_H_
#define TVMGEN_DEFAULT_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*!
 * \brief Input tensor image size (in bytes) for TVM module "default"
 */
#define TVMGEN_DEFAULT_IMAGE_SIZE 64
/* image: int8[1,8,8,1]; an element stands for SCALE * (element - ZERO_POINT) */
#define TVMGEN_DEFAULT_IMAGE_COUNT 64
#define TVMGEN_DEFAULT_IMAGE_TYPE int8_t
#define TVMGEN_DEFAULT_IMAGE_RANK 4
#define TVMGEN_DEFAULT_IMAGE_SHAPE {1, 8, 8, 1}
#define TVMGEN_DEFAULT_IMAGE_SCALE 0.003921569F
#define TVMGEN_DEFAULT_IMAGE_ZERO_POINT (-128)

/*!
 * \brief Output tensor output size (in bytes) for TVM module "default"
 */
#define TVMGEN_DEFAULT_OUTPUT_SIZE 10
/* probabilities: int8[1,10]; an element stands for SCALE * (element - ZERO_POINT) */
#define TVMGEN_DEFAULT_OUTPUT_COUNT 10
#define TVMGEN_DEFAULT_OUTPUT_TYPE int8_t
#define TVMGEN_DEFAULT_OUTPUT_RANK 2
#define TVMGEN_DEFAULT_OUTPUT_SHAPE {1, 10}
#define TVMGEN_DEFAULT_OUTPUT_SCALE 0.00390625F
#define TVMGEN_DEFAULT_OUTPUT_ZERO_POINT (-128)

/*!
 * \brief Input tensor pointers for TVM module "default"
 */
struct tvmgen_default_inputs {
    void *image; /* int8_t[TVMGEN_DEFAULT_IMAGE_COUNT] */
};

/*!
 * \brief Output tensor pointers for TVM module "default"
 */
struct tvmgen_default_outputs {
    void *output; /* int8_t[TVMGEN_DEFAULT_OUTPUT_COUNT] */
};

/*!
 * \brief entrypoint function for TVM module "default"
 * \param inputs Input tensors for the module
 * \param outputs Output tensors for the module
 * \return 0, or the first error code; no pointer may be NULL
 */
int32_t tvmgen_default_run(
    struct tvmgen_default_inputs *inputs,
    struct tvmgen_default_outputs *outputs
);

/*!
 * \brief Workspace size for TVM module "default": linked in, the caller owes none of it
 */
#define TVMGEN_DEFAULT_WORKSPACE_SIZE 3072

/*
 * The structs' pointers with the types of their elements: TVM's structs have void *, and no const.
 * Inputs are only read.
 */
static inline void tvmgen_default_set_image(
    struct tvmgen_default_inputs *inputs,
    const int8_t *data)
{
    inputs->image = (void *)(uintptr_t)data;
}

static inline int8_t *tvmgen_default_get_image(const struct tvmgen_default_inputs *inputs)
{
    return (int8_t *)inputs->image;
}

static inline void tvmgen_default_set_output(
    struct tvmgen_default_outputs *outputs,
    int8_t *data)
{
    outputs->output = data;
}

static inline int8_t *tvmgen_default_get_output(const struct tvmgen_default_outputs *outputs)
{
    return (int8_t *)outputs->output;
}

/*!
 * \brief value / scale, rounded to nearest, halves away from zero, plus zero_point, saturated; least for NaN:
 *        in all bits what a quantize operator of the network computes
 */
static inline int32_t tvmgen_default_quantized(
    float value,
    float scale,
    int32_t zero_point,
    int32_t least,
    int32_t most)
{
    const float quotient = value / scale;
    int32_t whole;
    float rest;

    if (!(quotient > (float)(least - zero_point))) {
        return least; /* also for NaN */
    }
    if (quotient >= (float)(most - zero_point)) {
        return most;
    }
    whole = (int32_t)quotient;
    rest = quotient - (float)whole;
    if (rest >= 0.5F) {
        whole++;
    } else if (rest <= -0.5F) {
        whole--;
    }
    return whole + zero_point;
}

/*
 * From real values to elements, and back. Unused ones take no memory; used ones need floating point.
 */

static inline int8_t tvmgen_default_quantize_image(float value)
{
    return (int8_t)tvmgen_default_quantized(
        value,
        TVMGEN_DEFAULT_IMAGE_SCALE,
        TVMGEN_DEFAULT_IMAGE_ZERO_POINT,
        -128,
        127);
}

static inline float tvmgen_default_dequantize_image(int8_t element)
{
    return (float)(element - TVMGEN_DEFAULT_IMAGE_ZERO_POINT) * TVMGEN_DEFAULT_IMAGE_SCALE;
}

static inline int8_t tvmgen_default_quantize_output(float value)
{
    return (int8_t)tvmgen_default_quantized(
        value,
        TVMGEN_DEFAULT_OUTPUT_SCALE,
        TVMGEN_DEFAULT_OUTPUT_ZERO_POINT,
        -128,
        127);
}

static inline float tvmgen_default_dequantize_output(int8_t element)
{
    return (float)(element - TVMGEN_DEFAULT_OUTPUT_ZERO_POINT) * TVMGEN_DEFAULT_OUTPUT_SCALE;
}

#ifdef __cplusplus
}
#endif

#endif /* TVMGEN_DEFAULT_H_ */
