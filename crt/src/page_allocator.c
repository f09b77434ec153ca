/* SPDX-License-Identifier: Apache-2.0 */
#include "tvm/runtime/crt/page_allocator.h"

#include <string.h>

#define ALIGNMENT ((uintptr_t)16)
#define FREE 0U
#define CONTINUED 0xFFFFFFFFU /* a page after the first of its block */

typedef struct {
    MemoryManagerInterface interface; /* the first, because callers have its address */
    uint8_t *pages;
    uint32_t num_pages;
    uint32_t page_log2;
    uint32_t table[]; /* [num_pages]: FREE, CONTINUED, or the number of pages of the block */
} page_manager;

static uintptr_t aligned(uintptr_t value)
{
    return (value + (ALIGNMENT - 1U)) & ~(ALIGNMENT - 1U);
}

/* The first page of `count` free ones, or num_pages if there are none. */
static uint32_t find(const page_manager *manager, uint32_t count)
{
    uint32_t length = 0U;
    uint32_t i;

    for (i = 0U; i < manager->num_pages; i++) {
        length = manager->table[i] == FREE ? length + 1U : 0U;
        if (length == count) {
            return i + 1U - count;
        }
    }
    return manager->num_pages;
}

static tvm_crt_error_t allocate(MemoryManagerInterface *interface, size_t num_bytes, DLDevice dev,
                                void **out_ptr)
{
    page_manager *const manager = (page_manager *)(void *)interface;
    /* An empty block takes a page, too, because its address must be its own. */
    const size_t count = num_bytes == 0U ? 1U : ((num_bytes - 1U) >> manager->page_log2) + 1U;
    uint32_t first;
    uint32_t i;

    (void)dev;
    if (count > manager->num_pages) {
        return kTvmErrorPlatformNoMemory;
    }
    first = find(manager, (uint32_t)count);
    if (first == manager->num_pages) {
        return kTvmErrorPlatformNoMemory;
    }
    manager->table[first] = (uint32_t)count;
    for (i = 1U; i < (uint32_t)count; i++) {
        manager->table[first + i] = CONTINUED;
    }
    interface->vleak_size++;
    *out_ptr = manager->pages + ((size_t)first << manager->page_log2);
    return kTvmErrorNoError;
}

static tvm_crt_error_t release(MemoryManagerInterface *interface, void *ptr, DLDevice dev)
{
    page_manager *const manager = (page_manager *)(void *)interface;
    /* Compares integers, because `ptr` may point anywhere. */
    const uintptr_t offset = (uintptr_t)ptr - (uintptr_t)manager->pages;
    const uintptr_t page = offset >> manager->page_log2;
    uint32_t count;
    uint32_t i;

    (void)dev;
    if (page >= manager->num_pages || page << manager->page_log2 != offset) {
        return kTvmErrorPlatformStackAllocBadFree;
    }
    count = manager->table[page];
    if (count == FREE || count == CONTINUED) {
        return kTvmErrorPlatformStackAllocBadFree;
    }
    for (i = 0U; i < count; i++) {
        manager->table[page + i] = FREE;
    }
    interface->vleak_size--;
    return kTvmErrorNoError;
}

/* The number of pages, with their part of the table, that `nbytes` bytes from the table on hold. */
static uint32_t capacity(size_t nbytes, size_t page_log2)
{
    const size_t page_bytes = (size_t)1 << page_log2;
    const size_t most = nbytes < ALIGNMENT ? 0U : nbytes - (ALIGNMENT - 1U); /* after the table */

    return (uint32_t)(most / (page_bytes + sizeof(uint32_t)));
}

tvm_crt_error_t PageMemoryManagerCreate(MemoryManagerInterface **manager, uint8_t *memory_pool,
                                        size_t memory_pool_size_bytes, size_t page_size_bytes_log2)
{
    const size_t before = (size_t)(aligned((uintptr_t)memory_pool) - (uintptr_t)memory_pool);
    page_manager *made;
    uint32_t count;
    uintptr_t end;

    if (manager == NULL || memory_pool == NULL || page_size_bytes_log2 < 4U ||
        page_size_bytes_log2 > 30U) {
        return kTvmErrorFunctionCallInvalidArg;
    }
    if (memory_pool_size_bytes < before + sizeof(page_manager)) {
        return kTvmErrorPlatformNoMemory;
    }
    count = capacity(memory_pool_size_bytes - before - sizeof(page_manager), page_size_bytes_log2);
    if (count == 0U) {
        return kTvmErrorPlatformNoMemory;
    }
    (void)memset(memory_pool, 0, memory_pool_size_bytes);
    made = (page_manager *)(void *)(memory_pool + before);
    made->interface.Allocate = allocate;
    made->interface.Free = release;
    end = (uintptr_t)(made->table + count);
    made->pages = (uint8_t *)(made->table + count) + (aligned(end) - end);
    made->num_pages = count;
    made->page_log2 = (uint32_t)page_size_bytes_log2;
    *manager = &made->interface;
    return kTvmErrorNoError;
}
