/* SPDX-License-Identifier: Apache-2.0 */
/* How kernel bodies are inlined into their callers, how kernels are declared and defined out of
 * line, and what they tell the compiler about pointers. Every header of kernels includes this one,
 * directly or by another header of kernels, so each of them has the types of <stdint.h>. */
#ifndef MICROGEN_INLINE_H
#define MICROGEN_INLINE_H

#include <stdint.h>

/* The body is never left as a call. So a caller that passes a `static const` params struct gets a
 * body specialised for it at every optimisation level. */
#if defined(__GNUC__)
#define MG_INLINE static inline __attribute__((always_inline))
#else
#define MG_INLINE static inline
#endif

/* Begins the declaration of a kernel: a C function, for callers in C++ too. */
#if defined(__cplusplus)
#define MG_EXTERN extern "C"
#else
#define MG_EXTERN extern
#endif

/* MG_IF_WANTED(symbol)(definition) is the definition if the kernel is wanted. A header defines all
 * its kernels, which linkers without --gc-sections would keep. So with `#define MG_ONLY ,` only
 * those are wanted that have a `#define MG_ONLY_mg_x ,`: a comma moves the second choice to the
 * third place. They are looked up where a kernel is defined, so this file may come before them. */
#define MG_KEEP(...) __VA_ARGS__
#define MG_DROP(...)
#define MG_THIRD(first, second, third, ...) third
#define MG_CHOICE(...) MG_THIRD(__VA_ARGS__)
#define MG_IF_WANTED(symbol)                                                                       \
    MG_CHOICE(MG_ONLY_##symbol, MG_KEEP, MG_CHOICE(MG_ONLY, MG_DROP, MG_KEEP, ), )

/* Defines the out-of-line form of the kernel `symbol`, which calls `symbol`_body. `arguments` are
 * the names of the parameters, in parentheses; the parameters themselves follow. */
#define MG_OUT_OF_LINE(symbol, arguments, ...)                                                     \
    MG_IF_WANTED(symbol)(void symbol(__VA_ARGS__) { symbol##_body arguments; })

/* The same for kernels that return a status. */
#define MG_OUT_OF_LINE_STATUS(symbol, arguments, ...)                                              \
    MG_IF_WANTED(symbol)(int32_t symbol(__VA_ARGS__) { return symbol##_body arguments; })

/* The same as MG_OUT_OF_LINE for the most usual parameters: one input, or two. `in` and `out` are
 * the types of elements, or void. */
#define MG_DECLARE_UNARY(symbol, in, out)                                                          \
    MG_EXTERN void symbol(const symbol##_params *p, const in *input, out *output)
#define MG_DEFINE_UNARY(symbol, in, out)                                                           \
    MG_OUT_OF_LINE(symbol, (p, input, output), const symbol##_params *p, const in *input,          \
                   out *output)
#define MG_DECLARE_BINARY(symbol, in, out)                                                         \
    MG_EXTERN void symbol(const symbol##_params *p, const in *lhs, const in *rhs, out *output)
#define MG_DEFINE_BINARY(symbol, in, out)                                                          \
    MG_OUT_OF_LINE(symbol, (p, lhs, rhs, output), const symbol##_params *p, const in *lhs,         \
                   const in *rhs, out *output)

/* Whether a value is known while the code is compiled: code that only pays off with it is left out
 * of out-of-line forms. The results must be the same without it. */
#if defined(__GNUC__)
#define MG_IS_KNOWN(value) __builtin_constant_p(value)
#else
#define MG_IS_KNOWN(value) 0
#endif

/* One copy in each file that uses the function, whatever its callers are specialised for. GCC would
 * otherwise change its arguments to suit them. */
#if defined(__clang__)
#define MG_ONCE static __attribute__((noinline, unused))
#elif defined(__GNUC__)
#define MG_ONCE static __attribute__((noipa, unused))
#else
#define MG_ONCE static
#endif

/* A function, not to be inlined, whose assembly needs all registers, whether or not the user's
 * flags keep one for a frame pointer. */
#if defined(__GNUC__) && !defined(__clang__)
#define MG_NO_FRAME_POINTER __attribute__((noipa, unused, optimize("omit-frame-pointer")))
#endif

/* C++ has no restrict, but its compilers have it as an extension. */
#if defined(__cplusplus)
#define MG_RESTRICT __restrict
#else
#define MG_RESTRICT restrict
#endif

#endif
