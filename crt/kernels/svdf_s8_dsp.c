/* The out-of-line form, for any parameters. */
#include "microgen/svdf_s8_dsp.h"

void mg_svdf_s8_dsp(const mg_svdf_s8_dsp_params *p, const int8_t *input, int16_t *state,
                    const int8_t *feature_weight, const int16_t *time_weight, const int32_t *bias,
                    int8_t *output)
{
    mg_svdf_s8_dsp_body(p, input, state, feature_weight, time_weight, bias, output);
}
