/* The out-of-line forms, for any parameters. */
#include "microgen/logical.h"

MG_ELEMENTWISE_SHARED(mg_logical_and_bool, uint8_t, uint8_t)
MG_ELEMENTWISE_SHARED(mg_logical_or_bool, uint8_t, uint8_t)
