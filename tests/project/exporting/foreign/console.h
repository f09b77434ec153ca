/* What the application prints with. */
#ifndef CONSOLE_H_
#define CONSOLE_H_
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void console_print(int32_t number);
void console_end(int32_t status);
#ifdef __cplusplus
}
#endif
#endif
