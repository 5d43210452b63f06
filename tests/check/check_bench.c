/* Timing of cases. */
#include <stdlib.h>

#include "base/clock.h"
#include "check_state.h"

/* Warm up this long; then samples of at least this length for at least this time altogether. */
static const double warm_ms = 50, sample_ms = 2, measure_ms = 500;
enum { MIN_SAMPLES = 5 };

static double since_ms(uint64_t start_ns)
{
    return (double)(airy_clock_ns() - start_ns) * 1e-6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * The device's own copies of 256 MiB, in GB/s of reads and writes; half that size where the device
 * has little memory.
 */
static double measure_copy(struct check *c)
{
    airy_device_info info;
    if (airy_device_get_info(c->device, &info) != AIRY_OK)
        return 0;
    size_t size = (size_t)256 << 20;
    while (size > info.max_alloc / 4 || size > info.memory / 8)
        size /= 2;
    airy_array *a = NULL, *b = NULL;
    double best = 0;
    if (airy_array_create(&a, c->device, AIRY_DTYPE_U8, 1, &size) == AIRY_OK &&
        airy_array_create(&b, c->device, AIRY_DTYPE_U8, 1, &size) == AIRY_OK &&
        airy_array_fill(c->queue, a, 1) == AIRY_OK)
        for (int i = 0; i < 8; i++) {
            (void)airy_queue_finish(c->queue);
            const uint64_t start = airy_clock_ns();
            if (airy_array_copy(c->queue, b, a) != AIRY_OK ||
                airy_queue_finish(c->queue) != AIRY_OK)
                break;
            const double rate = 2e-6 * (double)size / since_ms(start);
            best = rate > best ? rate : best;
        }
    airy_array_destroy(&a);
    airy_array_destroy(&b);
    return best;
}

void check_bench_start(struct check *c, double bytes, double flops)
{
    struct check_state *s = c->state;
    if (s->copy_rate == 0) {
        s->copy_rate = measure_copy(c);
        printf("# copy on %s: %.1f GB/s\n", c->spec, s->copy_rate);
    }
    struct check_timing *t = &s->timing;
    t->bytes = bytes;
    t->flops = flops;
    t->warm = false;
    t->calls = t->samples = 0;
    t->per_sample = 1;
    (void)airy_queue_finish(c->queue);
    t->start_ns = t->sample_ns = airy_clock_ns();
}

static void report(struct check *c)
{
    struct check_state *s = c->state;
    struct check_timing *t = &s->timing;
    qsort(t->ms, t->samples, sizeof(double), compare);
    const double median = t->ms[t->samples / 2], p10 = t->ms[t->samples / 10],
                 p90 = t->ms[t->samples * 9 / 10];
    const double rate = t->bytes / median * 1e-6, flops = t->flops / median * 1e-6;
    printf("# bench %s/%s on %s: %.4f ms (p10 %.4f, p90 %.4f)", s->family, s->name, c->spec, median,
           p10, p90);
    if (t->bytes > 0)
        printf(", %.2f GB/s, %.2f of copy", rate, s->copy_rate > 0 ? rate / s->copy_rate : 0);
    if (t->flops > 0)
        printf(", %.2f GFLOP/s", flops);
    printf("\n");
    if (s->record)
        json_object_set_new(s->record, "bench",
                            json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "median_ms", median,
                                      "p10_ms", p10, "p90_ms", p90, "gb_s", rate, "gflop_s", flops,
                                      "copy_gb_s", s->copy_rate, "samples",
                                      (json_int_t)t->samples));
}

/* Called before every repetition and once after the last. */
bool check_bench_again(struct check *c)
{
    struct check_timing *t = &c->state->timing;
    if (t->calls < t->per_sample) {
        t->calls++;
        return true;
    }
    (void)airy_queue_finish(c->queue);
    const double ms = since_ms(t->sample_ns), total = since_ms(t->start_ns);
    if (!t->warm) {
        t->warm = total >= warm_ms;
        const double call = ms / (double)t->calls;
        t->per_sample = t->warm ? (size_t)ceil(sample_ms / (call > 1e-6 ? call : 1e-6))
                                : 2 * t->per_sample;
        if (t->warm)
            t->start_ns = airy_clock_ns();
    } else {
        t->ms[t->samples++] = ms / (double)t->calls;
        if (t->samples == CHECK_SAMPLES || (total >= measure_ms && t->samples >= MIN_SAMPLES)) {
            report(c);
            return false;
        }
    }
    t->calls = 1;
    t->sample_ns = airy_clock_ns();
    return true;
}
