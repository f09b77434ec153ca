/* The out-of-line form, for any parameters. */
#include "microgen/svdf_f32.h"

void mg_svdf_f32(const mg_svdf_f32_params *p, const float *input, float *state,
                 const float *feature_weight, const float *time_weight, const float *bias,
                 float *output)
{
    mg_svdf_f32_body(p, input, state, feature_weight, time_weight, bias, output);
}
