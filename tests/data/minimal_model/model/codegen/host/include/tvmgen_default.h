#ifndef TVMGEN_DEFAULT_H_
#define TVMGEN_DEFAULT_H_
#include <stdint.h>

#define TVMGEN_DEFAULT_X_SIZE 24
#define TVMGEN_DEFAULT_X_COUNT 24
#define TVMGEN_DEFAULT_Y_SIZE 24
#define TVMGEN_DEFAULT_Y_COUNT 24

struct tvmgen_default_inputs {
    void *x;
};
struct tvmgen_default_outputs {
    void *y;
};

int32_t tvmgen_default_run(struct tvmgen_default_inputs *inputs,
                           struct tvmgen_default_outputs *outputs);

static inline void tvmgen_default_set_x(struct tvmgen_default_inputs *inputs, const int8_t *data)
{
    inputs->x = (void *)(uintptr_t)data;
}

static inline void tvmgen_default_set_y(struct tvmgen_default_outputs *outputs, int8_t *data)
{
    outputs->y = data;
}

#define TVMGEN_DEFAULT_WORKSPACE_SIZE 32
#endif
