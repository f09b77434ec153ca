/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a text into lines, and lines into words, which are separated by spaces, tabs and carriage
 * returns. */
#ifndef MICROGEN_EXAMPLEJSON_WORDS_H
#define MICROGEN_EXAMPLEJSON_WORDS_H

#include "modules/module_stream.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Removes the next line and the line feed after it from `text`. Returns the line. */
mg_text mg_words_line(mg_text *text);

/* Removes the next word from `line`. Returns the word, which is empty at the end of the line. */
mg_text mg_words_next(mg_text *line);

uint32_t mg_words_count(mg_text line);

/* Whether a word equals or contains a string literal. */
#define MG_WORD_IS(word, literal) mg_word_is((word), (literal), sizeof(literal) - 1U)
#define MG_WORD_HAS(word, literal) mg_word_has((word), (literal), sizeof(literal) - 1U)

bool mg_word_is(mg_text word, const char *bytes, uint32_t length);
bool mg_word_has(mg_text word, const char *bytes, uint32_t length);

#ifdef __cplusplus
}
#endif

#endif
