/*
 * Arithmetic element by element: a block of each operand is brought into the class that it is
 * computed in, in the cache, and its results into the dtype of dst.
 */
#include "cpu/cpu_element.h"

#include <stdatomic.h>
#include <string.h>

#include "base/size.h"
#include "core/backend.h"
#include "cpu/cpu_copy.h"

/* Elements of one index of a parallel loop. */
enum { PIECE = 64 * AIRY_ELEMENT_BLOCK };

struct job {
    const struct airy_element_plan *plan;
    const struct airy_element_kernels *kernels;
    size_t count;
    atomic_ullong inexact;
};

/* Elements [first, first + n) of an array, into the class; nothing where there is no array. */
static void load(const struct job *job, char *to, const airy_array *array, size_t first, size_t n)
{
    const size_t size = job->plan->domain == AIRY_ELEMENT_WIDE  ? sizeof(airy_wide)
                        : job->plan->domain == AIRY_ELEMENT_F32 ? sizeof(float)
                                                                : sizeof(double);
    for (size_t done = 0; array && done < n;) {
        size_t run;
        const char *from = airy_cpu_find(array, first + done, &run);
        run = airy_min_size(run, n - done);
        job->kernels->load(to + done * size, from, array->dtype, run);
        done += run;
    }
}

static void store(const struct job *job, const char *from, size_t first, size_t n)
{
    const airy_array *dst = job->plan->dst;
    const size_t size = job->plan->domain == AIRY_ELEMENT_WIDE  ? sizeof(airy_wide)
                        : job->plan->domain == AIRY_ELEMENT_F32 ? sizeof(float)
                                                                : sizeof(double);
    for (size_t done = 0; done < n;) {
        size_t run;
        char *to = airy_cpu_find(dst, first + done, &run);
        run = airy_min_size(run, n - done);
        job->kernels->store(to, dst->dtype, from + done * size, job->plan->truncate, run);
        done += run;
    }
}

static void run_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct job *job = arg;
    const struct airy_element_plan *p = job->plan;
    _Alignas(64) char a[AIRY_ELEMENT_BYTES], b[AIRY_ELEMENT_BYTES], c[AIRY_ELEMENT_BYTES],
        result[AIRY_ELEMENT_BYTES];
    const size_t end = airy_min_size((index + 1) * PIECE, job->count);
    uint64_t inexact = 0;
    if (!p->b)
        job->kernels->fill(b, &p->number_b, AIRY_ELEMENT_BLOCK);
    if (!p->c)
        job->kernels->fill(c, &p->number_c, AIRY_ELEMENT_BLOCK);
    for (size_t first = index * PIECE; first < end; first += AIRY_ELEMENT_BLOCK) {
        const size_t n = airy_min_size(AIRY_ELEMENT_BLOCK, end - first);
        load(job, a, p->a, first, n);
        load(job, b, p->b, first, n);
        load(job, c, p->c, first, n);
        job->kernels->run(result, a, b, c, p->op, n);
        if (p->inexact)
            inexact += job->kernels->inexact(p->dst->dtype, result, n);
        store(job, result, first, n);
    }
    atomic_fetch_add(&job->inexact, inexact);
}

static airy_status run(airy_queue *queue, const struct airy_element_plan *plan)
{
    struct job job = {.plan = plan,
                      .kernels = &airy_element_kernels[plan->domain],
                      .count = airy_array_count(plan->dst)};
    const airy_array *const arrays[4] = {plan->dst, plan->a, plan->b, plan->c};
    double bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += arrays[i] ? (double)airy_array_size(arrays[i]) : 0;
    airy_profile_loop(queue->device, "element", bytes, (job.count + PIECE - 1) / PIECE, run_piece,
                      &job);
    if (plan->inexact)
        *plan->inexact += atomic_load(&job.inexact);
    return AIRY_OK;
}

const struct airy_element_fns airy_element_cpu = {
    .run = run, .move = airy_cpu_move, .project = airy_cpu_project};
