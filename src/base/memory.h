/* Host memory: aligned blocks, and malloc with the error reported. */
#ifndef AIRY_BASE_MEMORY_H
#define AIRY_BASE_MEMORY_H

#include <stddef.h>

#include "base/thread.h"

/*
 * 64-byte aligned (2 MiB, with transparent huge pages asked for, from 4 MiB on); not cleared. size
 * 0 gives one byte.
 */
airy_status airy_memory_alloc(void **block, size_t size);
/*
 * The same with its huge pages there, where the system gives any, made by all threads of the pool.
 * For what threads fill side by side: those that come first to one huge page would each clear one,
 * and all but one in vain.
 */
airy_status airy_memory_alloc_shared(void **block, size_t size, airy_pool *pool);
void airy_memory_release(void *block);
/* calloc/free with the size product checked; what: for the sentence. */
airy_status airy_memory_calloc(void **block, size_t count, size_t size, const char *what);

#endif
