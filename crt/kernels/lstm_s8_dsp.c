/* The out-of-line form, for any parameters. */
#include "microgen/lstm_s8_dsp.h"

void mg_lstm_s8_dsp(const mg_lstm_s8_dsp_params *p, const int8_t *input, int8_t *output_state,
                    int16_t *cell_state, const int8_t *input_weight, const int8_t *recurrent_weight,
                    const int32_t *bias, const int16_t *peephole, const int8_t *projection,
                    const int32_t *projection_bias, int8_t *output, uint8_t *scratch)
{
    mg_lstm_s8_dsp_body(p, input, output_state, cell_state, input_weight, recurrent_weight, bias,
                        peephole, projection, projection_bias, output, scratch);
}
