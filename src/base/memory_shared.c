#include "base/memory_shared.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

static void touch_page(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    ((volatile unsigned char *)arg)[index * AIRY_HUGE_PAGE] = 0;
}

airy_status airy_memory_alloc_shared(void **block, size_t size, airy_pool *pool)
{
    AIRY_TRY(airy_memory_alloc(block, size));
    if (airy_memory_alignment(size) == AIRY_HUGE_PAGE)
        airy_pool_run(pool, airy_align_up(size, AIRY_HUGE_PAGE) / AIRY_HUGE_PAGE, touch_page,
                      *block);
    return AIRY_OK;
}
