/* For GCC's option -include, in builds without optimization: bodies of kernels stay functions.
 *
 * Without optimization a body that is forced into its callers is not simplified there. It is copied
 * whole, with the sanitizers' checks, and registers are allocated for functions of ten thousand
 * instructions: that takes twenty times as long as compiling the body once.
 */
#if !defined(__ASSEMBLER__) && __has_include("microgen/inline.h")
/* As platform_posix.c has it. inline.h includes a header of the system, after which it is too late.
 */
#define _POSIX_C_SOURCE 200809L
#include "microgen/inline.h"
#undef MG_INLINE
#define MG_INLINE static inline
#endif
