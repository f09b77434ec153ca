#ifndef DEFAULT_PARAMS_H_
#define DEFAULT_PARAMS_H_
#include <stdint.h>
extern const int8_t tvmgen_default_p0[24];
#endif
