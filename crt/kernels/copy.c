/* The out-of-line form, for any parameters. */
#include "microgen/copy.h"

void mg_copy(const mg_copy_params *p, const void *input, void *output)
{
    mg_copy_body(p, input, output);
}
