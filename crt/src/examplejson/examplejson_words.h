/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text, and their words: what stands between spaces, tabs and carriage returns. */
#ifndef MICROGEN_EXAMPLEJSON_WORDS_H
#define MICROGEN_EXAMPLEJSON_WORDS_H

#include "modules/module_stream.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The next line, which is removed from `text` with the line feed after it. */
mg_text mg_words_line(mg_text *text);

/* The next word, which moves from `line`; empty at its end. */
mg_text mg_words_next(mg_text *line);

uint32_t mg_words_count(mg_text line);

/* Whether a word is, or has inside, a string literal. */
#define MG_WORD_IS(word, literal) mg_word_is((word), (literal), sizeof(literal) - 1U)
#define MG_WORD_HAS(word, literal) mg_word_has((word), (literal), sizeof(literal) - 1U)

bool mg_word_is(mg_text word, const char *bytes, uint32_t length);
bool mg_word_has(mg_text word, const char *bytes, uint32_t length);

#ifdef __cplusplus
}
#endif

#endif
