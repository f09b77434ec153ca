/* The out-of-line form, for any parameters. */
#include "microgen/argmax_s32.h"

void mg_argmax_s32(const mg_argmax_s32_params *p, const int32_t *input, void *output)
{
    mg_argmax_s32_body(p, input, output);
}
