/* Host memory that threads of a pool fill side by side. */
#ifndef AIRY_BASE_MEMORY_SHARED_H
#define AIRY_BASE_MEMORY_SHARED_H

#include "base/thread.h"

/*
 * Allocate as airy_memory_alloc does, and let all threads of the pool touch the huge pages of the
 * block. It is for memory that threads fill side by side: threads that meet in a new huge page
 * would each clear one, and all but one of them for nothing.
 */
airy_status airy_memory_alloc_shared(void **block, size_t size, airy_pool *pool);

#endif
