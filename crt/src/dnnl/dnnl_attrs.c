/* SPDX-License-Identifier: Apache-2.0 */
#include "dnnl/dnnl_attrs.h"

#include "json/decimal_f32.h"
#include "json/json_keys.h"

/* Each name ends with a NUL, and one more NUL ends the list. */
static const char names[] =
    "shape\0dtype\0num_inputs\0num_outputs\0out_dtype\0strides\0padding\0dilation\0groups\0"
    "channels\0kernel_size\0data_layout\0kernel_layout\0out_layout\0layout\0pool_size\0"
    "ceil_mode\0count_include_pad\0units\0axis\0epsilon\0center\0scale\0a_min\0a_"
    "max\0alpha\0transpose_a\0transpose_b\0";

void mg_dnnl_find_attrs(mg_json json, mg_dnnl_attrs *attrs)
{
    uint32_t i;

    attrs->seen = 0U;
    attrs->error = kTvmErrorNoError;
    mg_json_open(&json, '{');
    for (i = 0U; mg_json_more(&json, i, '}'); i++) {
        const uint32_t key = mg_json_known_key(&json, names, &attrs->seen);
        if (key < MG_DNNL_ATTRS) {
            attrs->values[key] = json;
        }
        mg_json_skip(&json);
    }
    mg_dnnl_require(attrs, !json.failed);
}

static void note(mg_dnnl_attrs *attrs, bool condition, tvm_crt_error_t error)
{
    if (!condition && attrs->error == kTvmErrorNoError) {
        attrs->error = error;
    }
}

void mg_dnnl_require(mg_dnnl_attrs *attrs, bool condition)
{
    note(attrs, condition, kTvmErrorExecutorGraphMalformed);
}

void mg_dnnl_support(mg_dnnl_attrs *attrs, bool condition)
{
    note(attrs, condition, kTvmErrorExecutorGraphUnsupported);
}

uint32_t mg_dnnl_texts(mg_dnnl_attrs *attrs, mg_dnnl_attr key, mg_text *texts, uint32_t most)
{
    mg_json json;
    uint32_t i;

    mg_dnnl_require(attrs, (attrs->seen >> key & 1U) != 0U);
    if (attrs->error != kTvmErrorNoError) {
        return 0U;
    }
    json = attrs->values[key];
    mg_json_open(&json, '[');
    (void)mg_json_more(&json, 0U, ']');
    mg_json_open(&json, '[');
    for (i = 0U; mg_json_more(&json, i, ']'); i++) {
        mg_text text;
        mg_json_string(&json, &text);
        if (i < most) {
            texts[i] = text;
        }
    }
    mg_dnnl_require(attrs, !mg_json_more(&json, 1U, ']') && !json.failed && i > 0U && i <= most);
    return attrs->error == kTvmErrorNoError ? i : 0U;
}

/* Reads exactly one text; it is empty after an error. */
static mg_text one_text(mg_dnnl_attrs *attrs, mg_dnnl_attr key)
{
    mg_text text = {NULL, 0U};

    (void)mg_dnnl_texts(attrs, key, &text, 1U);
    return text;
}

bool mg_dnnl_has(mg_dnnl_attrs *attrs, mg_dnnl_attr key)
{
    mg_text texts[4] = {{NULL, 0U}};

    if ((attrs->seen >> key & 1U) == 0U) {
        return false;
    }
    return mg_dnnl_texts(attrs, key, texts, 4U) > 1U || texts[0].length > 0U;
}

static uint32_t number(mg_dnnl_attrs *attrs, const mg_text *text)
{
    uint32_t value = 0U;

    mg_dnnl_require(attrs, mg_text_unsigned(text, &value));
    return value;
}

void mg_dnnl_numbers(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint16_t *numbers, uint32_t count)
{
    mg_text texts[4];
    uint32_t i;

    mg_dnnl_require(attrs, mg_dnnl_texts(attrs, key, texts, 4U) == count);
    for (i = 0U; i < count && attrs->error == kTvmErrorNoError; i++) {
        const uint32_t value = number(attrs, &texts[i]);
        mg_dnnl_support(attrs, value <= UINT16_MAX);
        numbers[i] = (uint16_t)value;
    }
}

uint32_t mg_dnnl_number(mg_dnnl_attrs *attrs, mg_dnnl_attr key)
{
    const mg_text text = one_text(attrs, key);

    return number(attrs, &text);
}

uint8_t mg_dnnl_axis(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint32_t ndim)
{
    mg_text text = one_text(attrs, key);
    const bool from_end = text.length > 0U && *text.at == '-';
    uint32_t axis;

    if (from_end) {
        text.at++;
        text.length--;
    }
    axis = number(attrs, &text);
    mg_dnnl_require(attrs, from_end ? axis >= 1U && axis <= ndim : axis < ndim);
    return attrs->error == kTvmErrorNoError ? (uint8_t)(from_end ? ndim - axis : axis) : 0U;
}

uint8_t mg_dnnl_flag(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint8_t flag)
{
    const uint32_t value = mg_dnnl_number(attrs, key);

    mg_dnnl_require(attrs, value <= 1U);
    return value == 1U ? flag : 0U;
}

float mg_dnnl_real(mg_dnnl_attrs *attrs, mg_dnnl_attr key)
{
    const mg_text text = one_text(attrs, key);
    float value = 0.0F;

    mg_dnnl_require(attrs, mg_decimal_float(&text, &value));
    return value;
}

/* The position of `letter` in a text of four letters, or 4 if it is not there. */
static uint32_t place_of(const mg_text *text, char letter)
{
    uint32_t i = 0U;

    while (i < 4U && text->at[i] != letter) {
        i++;
    }
    return i;
}

uint8_t mg_dnnl_read_layout(mg_dnnl_attrs *attrs, mg_dnnl_attr key, const char *letters)
{
    const mg_text text = one_text(attrs, key);
    uint32_t layout = 0U;
    uint32_t i;

    mg_dnnl_support(attrs, text.length == 4U);
    for (i = 0U; i < 4U && attrs->error == kTvmErrorNoError; i++) {
        const uint32_t place = place_of(&text, letters[i]);
        mg_dnnl_support(attrs, place < 4U);
        layout |= place << (2U * i);
    }
    return (uint8_t)layout;
}

void mg_dnnl_require_count(mg_dnnl_attrs *attrs, mg_dnnl_attr key, uint32_t count)
{
    mg_text text;
    mg_json json;

    if ((attrs->seen >> key & 1U) != 0U) {
        json = attrs->values[key];
        mg_json_string(&json, &text);
        mg_dnnl_require(attrs, number(attrs, &text) == count);
    }
}
