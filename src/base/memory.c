#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/size.h"

/* No object is larger: pointer differences would overflow. */
static const size_t most = PTRDIFF_MAX;

airy_status airy_memory_alloc(void **block, size_t size)
{
    const size_t huge = (size_t)2 << 20;
    const size_t alignment = size >= 2 * huge ? huge : 64;
    AIRY_FAIL_IF(size > most - alignment, AIRY_ERR_MEMORY,
                 "cannot allocate %zu bytes of host memory", size);
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
    size_t bytes = 0;
    const bool too_large = airy_mul_size(&bytes, count, size) || bytes > most;
    void *p = too_large ? NULL : calloc(count ? count : 1, size ? size : 1);
    AIRY_FAIL_IF(!p, AIRY_ERR_MEMORY, "cannot allocate %zu x %zu bytes for %s", count, size, what);
    *block = p;
    return AIRY_OK;
}
