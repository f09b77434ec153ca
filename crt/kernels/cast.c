/* The out-of-line form, for any parameters. */
#include "microgen/cast.h"

void mg_cast(const mg_cast_params *p, const void *input, void *output)
{
    mg_cast_body(p, input, output);
}
