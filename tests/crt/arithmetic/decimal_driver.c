/* Reads one text per line, and prints its bits as float32, or "-" if it is not a number. */
#include "json/decimal_f32.h"
#include "microgen/arithmetic/float_math.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[256];

    while (fgets(line, (int)sizeof(line), stdin) != NULL) {
        const mg_text text = {line, (uint32_t)strcspn(line, "\n")};
        float value = 0.0F;
        if (mg_decimal_float(&text, &value)) {
            printf("%" PRIu32 "\n", mg_bits_of_f32(value));
        } else {
            printf("-\n");
        }
    }
    return 0;
}
