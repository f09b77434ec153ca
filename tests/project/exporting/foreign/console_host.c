#include "console.h"

#include <stdio.h>

void console_print(int32_t number)
{
    printf("%d ", (int)number);
}

void console_end(int32_t status)
{
    printf("status %d\n", (int)status);
}
