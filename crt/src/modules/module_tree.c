/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_tree.h"

/* Reads where each module's imports begin and end. The last row must end at `num_children`, so none
 * is greater. */
static void read_rows(mg_stream *rows, mg_modules *modules, uint32_t num_children)
{
    uint32_t first = mg_stream_unsigned(rows);
    uint32_t i;

    if (first != 0U) {
        mg_stream_fail(rows);
    }
    for (i = 0U; i < modules->num_modules && !rows->failed; i++) {
        const uint32_t next = mg_stream_unsigned(rows);
        if (next < first) {
            mg_stream_fail(rows);
            return;
        }
        modules->modules[i].first_child = first;
        modules->modules[i].num_children = next - first;
        first = next;
    }
    if (first != num_children) {
        mg_stream_fail(rows);
    }
}

/* Reads the imports. Each module after the first must have an importer, and no module may import
 * another twice. */
static void read_children(mg_stream *stream, const mg_modules *modules)
{
    uint32_t n = 0U;
    uint32_t i;

    for (i = 0U; i < modules->num_modules; i++) {
        const uint32_t end = n + modules->modules[i].num_children;
        if (i > 0U && modules->modules[i].importer == 0U) {
            mg_stream_fail(stream);
        }
        for (; n < end; n++) {
            const uint32_t child = mg_stream_unsigned(stream);
            if (child <= i || child >= modules->num_modules ||
                modules->modules[child].importer == i + 1U) {
                mg_stream_fail(stream);
                return;
            }
            modules->modules[child].importer = i + 1U;
            modules->children[n] = child;
        }
    }
}

tvm_crt_error_t mg_module_tree_read(mg_stream *stream, mg_pool *pool, mg_modules *modules)
{
    mg_stream rows;
    uint32_t num_rows = mg_stream_count(stream, 8U);
    uint32_t num_children;

    rows = *stream;
    mg_stream_skip(stream, (size_t)num_rows * 8U);
    num_children = mg_stream_count(stream, 8U);
    if (stream->failed || modules->num_modules == 0U || num_rows != modules->num_modules + 1U) {
        return kTvmErrorExecutorGraphMalformed;
    }
    read_rows(&rows, modules, num_children);
    if (rows.failed) {
        return kTvmErrorExecutorGraphMalformed;
    }
    modules->children = mg_pool_take(pool, num_children, sizeof(uint32_t));
    if (modules->children == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    read_children(stream, modules);
    return stream->failed ? kTvmErrorExecutorGraphMalformed : kTvmErrorNoError;
}

tvm_crt_error_t mg_module_tree_default(mg_pool *pool, mg_modules *modules)
{
    const uint32_t num_children = modules->num_modules - 1U;
    uint32_t i;

    modules->children = mg_pool_take(pool, num_children, sizeof(uint32_t));
    if (modules->children == NULL) {
        return kTvmErrorPlatformNoMemory;
    }
    for (i = 0U; i < num_children; i++) {
        modules->children[i] = i + 1U;
    }
    modules->modules[0].loader = kMgModuleLibrary;
    modules->modules[0].num_children = num_children;
    return kTvmErrorNoError;
}
