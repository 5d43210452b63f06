#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/size.h"

airy_status airy_memory_alloc(void **block, size_t size)
{
    const size_t huge = (size_t)2 << 20;
    const size_t alignment = size >= 2 * huge ? huge : 64;
    AIRY_FAIL_IF(size > SIZE_MAX - alignment, AIRY_ERR_MEMORY, "cannot allocate %zu bytes of host memory", size);
    void *p = aligned_alloc(alignment, airy_align_up(size ? size : 1, alignment));
    AIRY_FAIL_IF(!p, AIRY_ERR_MEMORY, "cannot allocate %zu bytes of host memory", size);
    if (alignment == huge)
        (void)madvise(p, airy_align_up(size, huge), MADV_HUGEPAGE);
    *block = p;
    return AIRY_OK;
}

void airy_memory_release(void *block)
{
    free(block);
}

airy_status airy_memory_calloc(void **block, size_t count, size_t size, const char *what)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    AIRY_FAIL_IF(!p, AIRY_ERR_MEMORY, "cannot allocate %zu x %zu bytes for %s", count, size, what);
    *block = p;
    return AIRY_OK;
}
