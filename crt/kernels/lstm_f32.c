/* The out-of-line form, for any parameters. */
#include "microgen/lstm_f32.h"

void mg_lstm_f32(const mg_lstm_f32_params *p, const float *input, float *output_state,
                 float *cell_state, const float *input_weight, const float *recurrent_weight,
                 const float *bias, const float *peephole, const float *projection,
                 const float *projection_bias, float *output, uint8_t *scratch)
{
    mg_lstm_f32_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                     peephole, projection, projection_bias, output, scratch);
}
