/* Threads: a pool for loops. Thread-safety of every function here: any thread. */
#ifndef AIRY_BASE_THREAD_H
#define AIRY_BASE_THREAD_H

#include <stddef.h>

#include "airy/status.h"

/*
 * Threads this process may use: the smaller of affinity mask and cgroup (v1, v2) CPU quota rounded
 * up; at least 1.
 */
unsigned airy_thread_limit(void);

/*
 * A pool of threads; the caller of a loop works with them. Several threads may start loops at once.
 */
typedef struct airy_pool airy_pool;

/* threads: all that work on a loop, the caller included; 0: airy_thread_limit(). */
airy_status airy_pool_create(airy_pool **pool, unsigned threads);
void airy_pool_destroy(airy_pool **pool);
unsigned airy_pool_size(const airy_pool *pool);

/*
 * Call fn(arg, i, worker) for each i in [0, count), in any order, and return when all are done.
 * worker is below airy_pool_size() and distinct among the calls of this loop that run at the same
 * time, for scratch. A loop started inside a loop runs in the calling thread alone (one inside a
 * loop of a single index does not). pool NULL: so does every loop.
 */
typedef void (*airy_pool_fn)(void *arg, size_t index, unsigned worker);
void airy_pool_run(airy_pool *pool, size_t count, airy_pool_fn fn, void *arg);
/* The same by at most so many threads: worker is below `threads`. */
void airy_pool_run_few(airy_pool *pool, unsigned threads, size_t count, airy_pool_fn fn, void *arg);
/*
 * memcpy by all threads, where there are bytes enough for several. One thread copies at about 10
 * GB/s, a fifth of what the link to a GPU takes.
 */
void airy_pool_copy(airy_pool *pool, void *dst, const void *src, size_t size);

#endif
