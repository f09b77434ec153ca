/* The out-of-line form, for any parameters. */
#include "microgen/strided_copy.h"

void mg_strided_copy(const mg_strided_copy_params *p, const void *input, void *output)
{
    mg_strided_copy_body(p, input, output);
}
