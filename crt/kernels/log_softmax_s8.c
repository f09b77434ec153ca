/* The out-of-line form, for any parameters. */
#include "microgen/log_softmax_s8.h"

void mg_log_softmax_s8(const mg_log_softmax_s8_params *p, const int8_t *input, int8_t *output)
{
    mg_log_softmax_s8_body(p, input, output);
}
