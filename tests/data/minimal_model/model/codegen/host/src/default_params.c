#include "default_params.h"

__attribute__((section(".rodata.tvm"), aligned(16))) const int8_t tvmgen_default_p0[24] = {
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
};
