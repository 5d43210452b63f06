/* Host memory: aligned blocks, and malloc with the error reported. */
#ifndef AIRY_BASE_MEMORY_H
#define AIRY_BASE_MEMORY_H

#include <stddef.h>

#include "airy/status.h"

/* Bytes of the huge pages that large blocks ask for. */
enum { AIRY_HUGE_PAGE = 2 << 20 };

/*
 * 64-byte aligned (2 MiB, with transparent huge pages asked for, from 4 MiB on); not cleared. size
 * 0 gives one byte.
 */
airy_status airy_memory_alloc(void **block, size_t size);
/* Return the alignment of blocks of this size: a huge page for those of at least two, else 64. */
size_t airy_memory_alignment(size_t size);
void airy_memory_release(void *block);
/* calloc/free with the size product checked; what: for the sentence. */
airy_status airy_memory_calloc(void **block, size_t count, size_t size, const char *what);

#endif
