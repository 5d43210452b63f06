#include "base/thread.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"

enum { MAX_THREADS = 1024 };

/* A running loop; lives on its caller's stack while it is in the pool's list. */
struct loop {
    airy_pool_fn fn;
    void *arg;
    size_t count;
    unsigned most;       /* threads that may take part */
    atomic_size_t next;  /* index to be taken */
    unsigned joined;     /* threads that ever took part: their numbers; under the pool's lock */
    unsigned active;     /* of them still at work; under the pool's lock */
    struct loop *behind; /* in the pool's list */
};

struct airy_pool {
    unsigned size;
    unsigned started; /* of the size - 1 threads */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct loop *loops;
    /*
     * Callers and threads of the pool that are at work in loops. Several callers and all threads are
     * more than there are cores: the system takes one of them off in the middle of an index, and the
     * end of its loop waits for it. So a thread of the pool rests meanwhile.
     */
    atomic_uint busy;
    unsigned resting; /* threads inside a loop; under the lock */
    bool stop;
    pthread_t threads[];
};

/* Loops started in here run serially. */
static _Thread_local bool inside_loop;

static unsigned count_affinity(void)
{
    unsigned found = 0;
    for (size_t cpus = 1024; cpus <= 1u << 20 && !found; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0)
            found = (unsigned)CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set);
        CPU_FREE(set);
    }
    return found;
}

unsigned airy_thread_limit(void)
{
    struct airy_cgroup_limits limits;
    airy_cgroup_read(&limits, "");
    unsigned n = count_affinity();
    if (limits.cpus > 0 && ceil(limits.cpus) < n)
        n = (unsigned)ceil(limits.cpus);
    return n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

static bool has_work(const struct loop *loop)
{
    return atomic_load_explicit(&loop->next, memory_order_relaxed) < loop->count;
}

/*
 * The loop with work that was started first. All threads in one loop after the other: loops that
 * start together end one after the other, and the threads are in the second while the caller of
 * the first goes on to its next.
 */
static struct loop *choose_loop(const struct airy_pool *pool)
{
    struct loop *first = NULL;
    for (struct loop *l = pool->loops; l; l = l->behind)
        if (has_work(l) && l->joined < l->most)
            first = l;
    return first;
}

static bool is_full(const struct airy_pool *pool, unsigned most)
{
    return atomic_load_explicit(&pool->busy, memory_order_relaxed) > most;
}

/* Until fewer are at work, or the loop has no index left. */
static void rest(struct airy_pool *pool, const struct loop *loop)
{
    pthread_mutex_lock(&pool->lock);
    if (is_full(pool, pool->size)) { /* not another one has just gone */
        pool->resting++;
        atomic_fetch_sub(&pool->busy, 1);
        while (is_full(pool, pool->size - 1) && has_work(loop))
            pthread_cond_wait(&pool->work, &pool->lock);
        atomic_fetch_add(&pool->busy, 1);
        pool->resting--;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* pool: where the thread may rest; NULL: it may not. */
static void take_part(struct loop *loop, unsigned worker, struct airy_pool *pool)
{
    inside_loop = true;
    for (;;) {
        const size_t i = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed);
        if (i >= loop->count)
            break;
        loop->fn(loop->arg, i, worker);
        if (pool && is_full(pool, pool->size))
            rest(pool, loop);
    }
    inside_loop = false;
}

static void *work(void *arg)
{
    struct airy_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        struct loop *loop = is_full(pool, pool->size - 1) ? NULL : choose_loop(pool);
        if (!loop) {
            pthread_cond_wait(&pool->work, &pool->lock);
            continue;
        }
        const unsigned worker = loop->joined++;
        loop->active++;
        atomic_fetch_add(&pool->busy, 1);
        pthread_mutex_unlock(&pool->lock);
        take_part(loop, worker, pool);
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_sub(&pool->busy, 1);
        if (--loop->active == 0)
            pthread_cond_broadcast(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals stay with the threads of the program that handles them. */
static int start_threads(struct airy_pool *pool)
{
    sigset_t all, before;
    int failed = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (!failed && pool->started < pool->size - 1) {
        failed = pthread_create(&pool->threads[pool->started], NULL, work, pool);
        if (!failed)
            pool->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

airy_status airy_pool_create(airy_pool **pool, unsigned threads)
{
    AIRY_FAIL_ON_IF(threads > MAX_THREADS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %u, expected at most %d", "threads", threads, MAX_THREADS);
    const unsigned size = threads ? threads : airy_thread_limit();
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(struct airy_pool) + size * sizeof(pthread_t),
                                "a thread pool"));
    airy_pool *p = block;
    p->size = size;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    const int failed = start_threads(p);
    if (failed) {
        const unsigned started = p->started;
        airy_pool_destroy(&p);
        return airy_fail(AIRY_ERR_MEMORY, "cannot start %u threads: the system gave %u", size,
                         started + 1);
    }
    *pool = p;
    return AIRY_OK;
}

void airy_pool_destroy(airy_pool **pool)
{
    airy_pool *p = *pool;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
    *pool = NULL;
}

unsigned airy_pool_size(const airy_pool *pool)
{
    return pool ? pool->size : 1;
}

/* Not counted as inside a loop: what a loop of one index starts may use the pool. */
static void run_serially(size_t count, airy_pool_fn fn, void *arg)
{
    for (size_t i = 0; i < count; i++)
        fn(arg, i, 0);
}

/* One less is at work: another may go on. The lock is held. */
static void make_room(struct airy_pool *pool)
{
    atomic_fetch_sub(&pool->busy, 1);
    if (pool->resting)
        pthread_cond_broadcast(&pool->work);
    else if (pool->loops)
        pthread_cond_signal(&pool->work);
}

/* The last threads may still be inside their last index when the caller finds no more to take. */
static void leave_loop(airy_pool *pool, struct loop *loop)
{
    pthread_mutex_lock(&pool->lock);
    struct loop **at = &pool->loops;
    while (*at != loop)
        at = &(*at)->behind;
    *at = loop->behind;
    loop->active--;
    make_room(pool);
    while (loop->active > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void airy_pool_run_few(airy_pool *pool, unsigned threads, size_t count, airy_pool_fn fn, void *arg)
{
    if (count < 2 || threads < 2 || airy_pool_size(pool) == 1 || inside_loop) {
        run_serially(count, fn, arg);
        return;
    }
    struct loop loop = {
        .fn = fn, .arg = arg, .count = count, .most = threads, .joined = 1, .active = 1};
    atomic_init(&loop.next, 0);
    pthread_mutex_lock(&pool->lock);
    loop.behind = pool->loops;
    pool->loops = &loop;
    atomic_fetch_add(&pool->busy, 1);
    const size_t wanted = count < threads ? count : threads;
    if (wanted > pool->size / 2)
        pthread_cond_broadcast(&pool->work);
    else
        for (size_t i = 1; i < wanted; i++)
            pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    take_part(&loop, 0, NULL);
    leave_loop(pool, &loop);
}

void airy_pool_run(airy_pool *pool, size_t count, airy_pool_fn fn, void *arg)
{
    airy_pool_run_few(pool, airy_pool_size(pool), count, fn, arg);
}

struct copy {
    unsigned char *dst;
    const unsigned char *src;
    size_t size;
};

enum { COPY_PART = 256 << 10 };

static void copy_part(void *arg, size_t index, unsigned worker)
{
    const struct copy *copy = arg;
    (void)worker;
    const size_t begin = index * COPY_PART;
    memcpy(copy->dst + begin, copy->src + begin, airy_min_size(COPY_PART, copy->size - begin));
}

void airy_pool_copy(airy_pool *pool, void *dst, const void *src, size_t size)
{
    struct copy copy = {dst, src, size};
    airy_pool_run(pool, (size + COPY_PART - 1) / COPY_PART, copy_part, &copy);
}
