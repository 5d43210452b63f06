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

/* Elements of one index of a parallel loop: a multiple of any class's block. */
enum { PIECE = 32768 };

/* own: the dtype of the class; AIRY_DTYPE_COUNT: none. size: of its values. */
struct class
{
    const struct airy_element_kernels *kernels;
    airy_dtype own;
    size_t size;
};

struct job {
    const struct airy_element_plan *plan;
    struct class operands, results; /* the same, but of tests, whose results are U8 */
    size_t count, block;            /* elements; at a time */
    bool in_place;                  /* dst is one of the operands */
    bool test;
    atomic_ullong inexact;
};

/* An array that is walked in raster order, in runs without a gap. */
struct walk {
    const airy_array *array;
    size_t next, left; /* element; of its run */
    char *at;
};

/* Where the next elements lie; *n: at most so many of them without a gap. */
static char *step(struct walk *w, size_t *n)
{
    if (w->left == 0)
        w->at = airy_cpu_find(w->array, w->next, &w->left);
    *n = airy_min_size(*n, w->left);
    char *at = w->at;
    w->at += *n * airy_dtype_size(w->array->dtype);
    w->next += *n;
    w->left -= *n;
    return at;
}

/* All of n elements lie as the class has them, one behind the other: no copy is needed. */
static char *find_own(const struct class *class, struct walk *w, size_t n)
{
    if (w->array->dtype != class->own)
        return NULL;
    if (w->left == 0)
        w->at = airy_cpu_find(w->array, w->next, &w->left);
    return w->left >= n ? step(w, &n) : NULL;
}

/* The next n elements in the class: where they lie, or brought to the buffer. */
static const char *load(const struct class *class, struct walk *w, char *buffer, size_t n)
{
    const char *own = w->array ? find_own(class, w, n) : buffer;
    if (own)
        return own;
    for (size_t done = 0, run; done < n; done += run) {
        run = n - done;
        const char *from = step(w, &run);
        class->kernels->load(buffer + done * class->size, from, w->array->dtype, run);
    }
    return buffer;
}

static void store(const struct job *job, struct walk *w, const char *from, size_t n)
{
    for (size_t done = 0, run; done < n; done += run) {
        run = n - done;
        char *to = step(w, &run);
        job->results.kernels->store(to, w->array->dtype, from + done * job->results.size,
                                    job->plan->truncate, run);
    }
}

/* Where the results are: a copy, in a class whose dtype dst does not have, is what was loaded. */
static const char *compute(const struct job *job, char *to, const char *a, const char *b,
                           const char *c, size_t n)
{
    const unsigned op = job->plan->op;
    const struct airy_element_kernels *kernels = job->operands.kernels;
    if (op == AIRY_ELEMENT_COPY && !job->in_place && job->plan->dst->dtype != job->results.own)
        return a;
    if (job->test)
        kernels->test((uint8_t *)to, a, b, op, n);
    else
        kernels->run(to, a, b, c, op, n);
    return to;
}

static void run_piece(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct job *job = arg;
    const struct airy_element_plan *p = job->plan;
    _Alignas(64) char a[AIRY_ELEMENT_BYTES], b[AIRY_ELEMENT_BYTES], c[AIRY_ELEMENT_BYTES],
        buffer[AIRY_ELEMENT_BYTES];
    const size_t begin = index * PIECE, end = airy_min_size(begin + PIECE, job->count);
    struct walk of_dst = {.array = p->dst, .next = begin}, of_a = {.array = p->a, .next = begin},
                of_b = {.array = p->b, .next = begin}, of_c = {.array = p->c, .next = begin};
    uint64_t inexact = 0;
    if (!p->b)
        job->operands.kernels->fill(b, &p->number_b, job->block);
    if (!p->c)
        job->operands.kernels->fill(c, &p->number_c, job->block);
    for (size_t first = begin; first < end; first += job->block) {
        const size_t n = airy_min_size(job->block, end - first);
        const char *with_a = load(&job->operands, &of_a, a, n),
                   *with_b = load(&job->operands, &of_b, b, n),
                   *with_c = load(&job->operands, &of_c, c, n);
        char *own = job->in_place ? NULL : find_own(&job->results, &of_dst, n);
        const char *result = compute(job, own ? own : buffer, with_a, with_b, with_c, n);
        if (p->inexact)
            inexact += job->operands.kernels->inexact(p->dst->dtype, result, n);
        if (!own)
            store(job, &of_dst, result, n);
    }
    atomic_fetch_add(&job->inexact, inexact);
}

/* Bits of the whole numbers that an operand may have, without the sign. */
static int bits_of(const airy_array *array, const struct airy_element_number *number)
{
    if (array)
        return 8 * (int)airy_dtype_size(array->dtype) - airy_dtype_is_signed(array->dtype);
    return number->wide.size ? 64 - __builtin_clzll(number->wide.size) : 0;
}

static bool is_predicate(unsigned op)
{
    return op < AIRY_ELEMENT_FUNCTION ? op >= AIRY_LESS
                                      : op >= AIRY_ELEMENT_FUNCTION + AIRY_NOT &&
                                            op < AIRY_ELEMENT_FUNCTION + AIRY_FUNCTION_COUNT;
}

static bool is_held(const airy_array *array, const struct airy_element_number *number, size_t size)
{
    if (!array)
        return !number->wide.negative && number->wide.size >> 8 * size == 0;
    return !airy_dtype_is_float(array->dtype) && !airy_dtype_is_signed(array->dtype) &&
           airy_dtype_size(array->dtype) <= size;
}

/*
 * No operand is negative and none has more than `size` bytes, nor has dst, unless 0 or 1 is
 * written: results that stay at the limits of so many bytes are at the limits of dst what exact
 * ones are.
 */
static bool is_unsigned(const struct airy_element_plan *p, size_t size)
{
    return (is_predicate(p->op) || is_held(p->dst, NULL, size)) && is_held(p->a, NULL, size) &&
           is_held(p->b, &p->number_b, size) && is_held(p->c, &p->number_c, size);
}

/* As many bits as the results of an operation on so many at most; of others as the operands. */
static int bits_of_result(unsigned op, int a, int b, int most)
{
    switch (op) {
    case AIRY_ADD:
    case AIRY_SUBTRACT:
    case AIRY_ELEMENT_FUNCTION + AIRY_NEGATE:
    case AIRY_ELEMENT_FUNCTION + AIRY_ABS:
        return most + 1;
    case AIRY_MULTIPLY:
        return a + b;
    case AIRY_ELEMENT_FUNCTION + AIRY_SQUARE:
        return a + a;
    default:
        return most;
    }
}

/*
 * U8, U16 or I32 where the operands have no more bits, nor the results or dst, at whose limits the
 * class's are: fewer bytes, more lanes.
 */
static int pick_class(const struct airy_element_plan *p)
{
    if (p->domain != AIRY_ELEMENT_I64)
        return p->domain;
    if (is_unsigned(p, sizeof(uint16_t)))
        return is_unsigned(p, sizeof(uint8_t)) ? AIRY_ELEMENT_U8 : AIRY_ELEMENT_U16;
    const int a = bits_of(p->a, NULL), b = bits_of(p->b, &p->number_b),
              c = bits_of(p->c, &p->number_c), most = a > b ? (a > c ? a : c) : (b > c ? b : c),
              result = bits_of_result(p->op, a, b, most), dst = bits_of(p->dst, NULL);
    return most <= 31 && (result < dst ? result : dst) <= 31 ? AIRY_ELEMENT_I32 : AIRY_ELEMENT_I64;
}

static struct class class_of(int which)
{
    static const airy_dtype own[AIRY_ELEMENT_CLASSES] = {
        [AIRY_ELEMENT_F32] = AIRY_DTYPE_F32,   [AIRY_ELEMENT_F64] = AIRY_DTYPE_F64,
        [AIRY_ELEMENT_I64] = AIRY_DTYPE_I64,   [AIRY_ELEMENT_I32] = AIRY_DTYPE_I32,
        [AIRY_ELEMENT_U8] = AIRY_DTYPE_U8,     [AIRY_ELEMENT_U16] = AIRY_DTYPE_U16,
        [AIRY_ELEMENT_WIDE] = AIRY_DTYPE_COUNT};
    return (struct class){.kernels = airy_element_kernels(which),
                          .own = own[which],
                          .size = which == AIRY_ELEMENT_WIDE ? sizeof(airy_wide)
                                                             : airy_dtype_size(own[which])};
}

static airy_status run(airy_queue *queue, const struct airy_element_plan *plan)
{
    const bool test = is_predicate(plan->op);
    const struct class operands = class_of(pick_class(plan));
    struct job job = {.plan = plan,
                      .operands = operands,
                      .results = test ? class_of(AIRY_ELEMENT_U8) : operands,
                      .count = airy_array_count(plan->dst),
                      .block = AIRY_ELEMENT_BYTES / operands.size,
                      .test = test};
    const airy_array *const arrays[4] = {plan->dst, plan->a, plan->b, plan->c};
    double bytes = 0;
    for (int i = 0; i < 4; i++) {
        bytes += arrays[i] ? (double)airy_array_size(arrays[i]) : 0;
        job.in_place =
            job.in_place ||
            (i > 0 && arrays[i] && airy_array_address(arrays[i]) == airy_array_address(plan->dst));
    }
    airy_profile_loop(queue->device, "element", bytes, (job.count + PIECE - 1) / PIECE, run_piece,
                      &job);
    if (plan->inexact)
        *plan->inexact += atomic_load(&job.inexact);
    return AIRY_OK;
}

const struct airy_element_fns airy_element_cpu = {
    .run = run, .move = airy_cpu_move, .project = airy_cpu_project};
