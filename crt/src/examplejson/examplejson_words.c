/* SPDX-License-Identifier: Apache-2.0 */
#include "examplejson/examplejson_graph.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void advance(mg_text *text, uint32_t nbytes)
{
    text->at += nbytes;
    text->length -= nbytes;
}

mg_text mg_words_line(mg_text *text)
{
    mg_text line = {text->at, 0U};

    while (line.length < text->length && line.at[line.length] != '\n') {
        line.length++;
    }
    advance(text, line.length < text->length ? line.length + 1U : line.length);
    return line;
}

mg_text mg_words_next(mg_text *line)
{
    mg_text word;

    while (line->length > 0U && is_space(*line->at)) {
        advance(line, 1U);
    }
    word.at = line->at;
    word.length = 0U;
    while (word.length < line->length && !is_space(word.at[word.length])) {
        word.length++;
    }
    advance(line, word.length);
    return word;
}

uint32_t mg_words_count(mg_text line)
{
    uint32_t count = 0U;

    while (mg_words_next(&line).length > 0U) {
        count++;
    }
    return count;
}

bool mg_word_is(mg_text word, const char *bytes, uint32_t length)
{
    const mg_text other = {bytes, length};

    return mg_text_same(word, other);
}

bool mg_word_has(mg_text word, const char *bytes, uint32_t length)
{
    for (; word.length >= length; advance(&word, 1U)) {
        const mg_text start = {word.at, length};
        if (mg_word_is(start, bytes, length)) {
            return true;
        }
    }
    return false;
}
