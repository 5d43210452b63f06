#include "cpu/cpu_copy.h"

#include <string.h>

#include "base/size.h"

enum { OUTER = AIRY_MAX_DIMS - 1 };

/* Work of one index of a parallel loop: bytes of long runs, or as many short runs. */
static const size_t piece = (size_t)512 << 10;

void airy_strided_make(struct airy_strided *s, const airy_array *dst, const airy_array *src)
{
    const airy_array *any = dst ? dst : src;
    const size_t elem = airy_dtype_size(any->dtype);
    memset(s, 0, sizeof(*s));
    s->dst = dst ? airy_array_address(dst) : NULL;
    s->src = src ? airy_array_address(src) : NULL;
    s->run = elem;
    for (int i = 0; i < OUTER; i++)
        s->shape[i] = 1;
    /*
     * Axes from the fastest on: one that continues both runs without a gap makes the run longer,
     * others stay loops.
     */
    size_t tight = elem;
    int used = 0;
    bool joined = true;
    for (int i = any->ndim - 1; i >= 0; i--) {
        const size_t n = any->shape[i];
        const size_t dst_step = dst ? dst->pitch[i] * elem : tight;
        const size_t src_step = src ? src->pitch[i] * elem : tight;
        tight *= n;
        if (n == 1)
            continue;
        joined = joined && dst_step == s->run && src_step == s->run;
        if (joined) {
            s->run *= n;
            continue;
        }
        used++;
        s->shape[OUTER - used] = n;
        s->dst_step[OUTER - used] = dst_step;
        s->src_step[OUTER - used] = src_step;
    }
}

static size_t count_runs(const struct airy_strided *s)
{
    size_t n = 1;
    for (int i = 0; i < OUTER; i++)
        n *= s->shape[i];
    return n;
}

size_t airy_strided_size(const struct airy_strided *s)
{
    return count_runs(s) * s->run;
}

static void fill_run(char *dst, size_t size, const struct airy_strided *s)
{
    const size_t n = s->pattern_size;
    bool same = true;
    for (size_t i = 1; i < n; i++)
        same = same && s->pattern[i] == s->pattern[0];
    if (same) {
        memset(dst, s->pattern[0], size);
        return;
    }
    /* Doubling: each copy reads what the ones before have written. */
    memcpy(dst, s->pattern, n);
    for (size_t done = n; done < size;) {
        const size_t more = airy_min_size(airy_min_size(done, 4096), size - done);
        memcpy(dst + done, dst, more);
        done += more;
    }
}

/* Part [from, from + size) of run number `run`. */
static void copy_run(const struct airy_strided *s, size_t run, size_t from, size_t size)
{
    size_t d = from, e = from;
    for (int i = OUTER - 1; i >= 0; i--) {
        d += run % s->shape[i] * s->dst_step[i];
        e += run % s->shape[i] * s->src_step[i];
        run /= s->shape[i];
    }
    if (s->src)
        memcpy(s->dst + d, s->src + e, size);
    else
        fill_run(s->dst + d, size, s);
}

struct job {
    const struct airy_strided *s;
    size_t runs;
    size_t per_run;   /* pieces of a run */
    size_t per_piece; /* runs of a piece, where runs are short */
};

static void copy_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    if (job->per_run > 1) {
        const size_t from = index % job->per_run * piece;
        copy_run(job->s, index / job->per_run, from, airy_min_size(piece, job->s->run - from));
        return;
    }
    const size_t first = index * job->per_piece,
                 last = airy_min_size(first + job->per_piece, job->runs);
    for (size_t i = first; i < last; i++)
        copy_run(job->s, i, 0, job->s->run);
}

void airy_strided_copy(airy_pool *pool, const struct airy_strided *s)
{
    struct job job = {
        .s = s, .runs = count_runs(s), .per_run = (s->run + piece - 1) / piece, .per_piece = 1};
    if (job.per_run <= 1) {
        job.per_run = 1;
        job.per_piece = airy_max_size(piece / s->run, 1);
    }
    const size_t pieces = job.per_run > 1 ? job.runs * job.per_run
                                          : (job.runs + job.per_piece - 1) / job.per_piece;
    airy_pool_run(pool, pieces, copy_piece, &job);
}

char *airy_cpu_find(const airy_array *a, size_t index, size_t *run)
{
    const size_t elem = airy_dtype_size(a->dtype);
    char *at = airy_array_address(a);
    size_t tight = 1, left = 0;
    bool joined = true;
    for (int i = a->ndim - 1; i >= 0; i--) {
        const size_t k = index % a->shape[i];
        at += k * a->pitch[i] * elem;
        index /= a->shape[i];
        joined = joined && (a->pitch[i] == tight || a->shape[i] == 1);
        if (joined)
            left += (a->shape[i] - 1 - k) * tight;
        tight *= a->shape[i];
    }
    *run = left + 1;
    return at;
}
