/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_pool.h"

#include <string.h>

void *mg_pool_take(mg_pool *pool, size_t count, size_t size)
{
    const size_t left = (size_t)(pool->end - pool->at);
    void *const block = pool->at;

    if (count == 0U || size == 0U) {
        return block;
    }
    if (count > left / size || MG_POOL_ALIGNED(count * size) > left) {
        return NULL;
    }
    (void)memset(block, 0, count * size);
    pool->at += MG_POOL_ALIGNED(count * size);
    return block;
}
