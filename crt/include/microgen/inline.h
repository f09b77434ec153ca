/* SPDX-License-Identifier: Apache-2.0 */
/* How kernel bodies are inlined into their callers. */
#ifndef MICROGEN_INLINE_H
#define MICROGEN_INLINE_H

/* The body is never left as a call. So a caller that passes a `static const` params struct gets a
 * body specialised for it at every optimisation level. */
#if defined(__GNUC__)
#define MG_INLINE static inline __attribute__((always_inline))
#else
#define MG_INLINE static inline
#endif

#endif
