/* The out-of-line form, for any parameters. */
#include "microgen/write_slice.h"

void mg_write_slice(const mg_write_slice_params *p, const void *input, void *output)
{
    mg_write_slice_body(p, input, output);
}
