#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/size.h"

/* No object is larger: pointer differences would overflow. */
static const size_t most = PTRDIFF_MAX;

/* Bytes from which on the memory that is left is looked at, which takes 0.1 ms. */
static const size_t large = (size_t)64 << 20;

size_t airy_memory_alignment(size_t size)
{
    return size >= 2 * AIRY_HUGE_PAGE ? AIRY_HUGE_PAGE : 64;
}

airy_status airy_memory_alloc(void **block, size_t size)
{
    const size_t alignment = airy_memory_alignment(size);
    AIRY_FAIL_IF(size > most - alignment, AIRY_ERR_MEMORY,
                 "cannot allocate %zu bytes of host memory", size);
    void *p = aligned_alloc(alignment, airy_align_up(size ? size : 1, alignment));
    AIRY_FAIL_IF(!p, AIRY_ERR_MEMORY, "cannot allocate %zu bytes of host memory", size);
    if (alignment == AIRY_HUGE_PAGE)
        (void)madvise(p, airy_align_up(size, AIRY_HUGE_PAGE), MADV_HUGEPAGE);
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
    /* A header may have named the count, and what is granted now but not there ends the process. */
    AIRY_FAIL_IF(!too_large && bytes >= large && bytes > airy_memory_available(), AIRY_ERR_MEMORY,
                 "%zu x %zu bytes for %s are more than the memory that is left", count, size, what);
    void *p = too_large ? NULL : calloc(count ? count : 1, size ? size : 1);
    AIRY_FAIL_IF(!p, AIRY_ERR_MEMORY, "cannot allocate %zu x %zu bytes for %s", count, size, what);
    *block = p;
    return AIRY_OK;
}
