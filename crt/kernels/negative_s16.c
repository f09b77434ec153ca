/* The out-of-line form, for any parameters. */
#include "microgen/negative_s16.h"

MG_UNARY_SHARED(mg_negative_s16, int16_t)
