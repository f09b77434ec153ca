/* An application that has a heap, prints floats and recurses, and runs a model now and then. */
#include "host.h"

#include "tvmgen_default.h"

static unsigned depth_of(unsigned n)
{
    volatile unsigned kept = n;

    return n < 2 ? 1 : 1 + depth_of(kept / 2) + depth_of(kept / 3);
}

int main(void)
{
    struct tvmgen_default_inputs inputs;
    struct tvmgen_default_outputs outputs;
    int8_t *data = malloc(TVMGEN_DEFAULT_IMAGE_COUNT + TVMGEN_DEFAULT_OUTPUT_COUNT);
    int8_t *scores = data + TVMGEN_DEFAULT_IMAGE_COUNT;
    int32_t status;

    if (data == 0) {
        return 1;
    }
    for (unsigned i = 0; i < TVMGEN_DEFAULT_IMAGE_COUNT; i++) {
        data[i] = (int8_t)depth_of(i);
    }
    tvmgen_default_set_image(&inputs, data);
    tvmgen_default_set_output(&outputs, scores);
    status = tvmgen_default_run(&inputs, &outputs);
    printf("status %d, score %f\n", (int)status, (double)scores[0] * 0.00390625);
    free(data);
    return (int)status;
}
