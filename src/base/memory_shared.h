/* Host memory that threads of a pool fill side by side. */
#ifndef AIRY_BASE_MEMORY_SHARED_H
#define AIRY_BASE_MEMORY_SHARED_H

#include "base/thread.h"

/*
 * airy_memory_alloc with its huge pages there, where the system gives any, made by all threads of the pool.
 * For what threads fill side by side: those that come first to one huge page would each clear one,
 * and all but one in vain.
 */
airy_status airy_memory_alloc_shared(void **block, size_t size, airy_pool *pool);

#endif
