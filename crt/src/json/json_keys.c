/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json_keys.h"

void mg_json_require(mg_json *json, bool condition)
{
    if (!condition) {
        mg_json_fail(json);
    }
}

uint32_t mg_json_known_key(mg_json *json, const char *names, uint32_t *seen)
{
    mg_text text;
    uint32_t key;

    mg_json_key(json, &text);
    key = mg_text_place(&text, names);
    mg_json_require(json, key == MG_TEXT_UNKNOWN || (*seen >> key & 1U) == 0U);
    *seen |= 1U << key;
    return key;
}

bool mg_json_has_all(uint32_t seen, uint32_t count)
{
    return (~seen & ((1U << count) - 1U)) == 0U;
}

mg_json_reference mg_json_read_reference(mg_json *json)
{
    mg_json_reference reference = {0U, 0U};
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        const uint32_t value = mg_json_unsigned(json);
        if (i == 0U) {
            reference.node = value;
        } else if (i == 1U) {
            reference.index = value;
        }
    }
    mg_json_require(json, i == 2U || i == 3U);
    return reference;
}

uint32_t mg_json_count_references(mg_json *json)
{
    uint32_t i;

    mg_json_open(json, '[');
    for (i = 0U; mg_json_more(json, i, ']'); i++) {
        (void)mg_json_read_reference(json);
    }
    return i;
}
