/* Times and rows of `airy bench`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_percentile(struct timing *t, double part)
{
    qsort(t->times, t->count, sizeof(double), compare);
    return t->count ? t->times[(size_t)(part * (double)(t->count - 1) + 0.5)] : (double)NAN;
}

airy_status bench_repeat(const struct bench *bench, struct timing *t,
                         airy_status (*run)(void *user), void *user)
{
    const double wanted = bench->params->has_seconds ? bench->params->seconds : 2;
    t->count = 0;
    const double begin = tool_now();
    airy_status status = run(user);
    t->first = tool_now() - begin;
    const double start = tool_now();
    while (status == AIRY_OK && t->count < BENCH_MAX_REPEATS &&
           (t->count < 3 || tool_now() - start < wanted) && !tool_interrupted()) {
        const double before = tool_now();
        status = run(user);
        t->times[t->count++] = tool_now() - before;
    }
    return status;
}

/* The largest resident size so far, bytes; 0 where the system does not say. */
static double host_peak(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return 1024.0 * (double)kib;
}

static json_t *number_or_null(double value, bool there)
{
    return there && isfinite(value) ? json_real(value) : json_null();
}

/* low and high: p10 and p90 of the figure. */
static void add(struct bench *bench, const struct bench_row *row, const double figure[3],
                double ratio, double first)
{
    airy_memory_info memory = {0};
    if (airy_device_memory(bench->device, &memory) != AIRY_OK)
        memory.peak = 0;
    json_array_append_new(
        bench->rows,
        json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:f, s:f, s:f}", "name",
                  row->name, "case", bench->sample, "device", airy_device_spec(bench->device),
                  "value", number_or_null(figure[0], true), "unit", row->unit, "p10",
                  number_or_null(figure[1], true), "p90", number_or_null(figure[2], true), "limit",
                  number_or_null(row->limit, row->limit > 0), "limit_name",
                  row->limit_name && row->limit > 0 ? row->limit_name : "", "ratio",
                  number_or_null(ratio, row->limit > 0), "first_call", first, "host_peak_bytes",
                  host_peak(), "device_peak_bytes", (double)memory.peak));
}

void bench_add_rate(struct bench *bench, struct timing *t, const struct bench_row *row)
{
    const double figure[3] = {row->amount / bench_percentile(t, 0.5),
                              row->amount / bench_percentile(t, 0.9),
                              row->amount / bench_percentile(t, 0.1)};
    add(bench, row, figure, figure[0] / row->limit, t->first);
}

void bench_add_latency(struct bench *bench, struct timing *t, const struct bench_row *row)
{
    const double figure[3] = {row->amount * bench_percentile(t, 0.5),
                              row->amount * bench_percentile(t, 0.1),
                              row->amount * bench_percentile(t, 0.9)};
    add(bench, row, figure, row->limit / figure[0], t->first);
}

void bench_add_fact(struct bench *bench, const char *name, const char *unit, double value)
{
    const struct bench_row row = {.name = name, .unit = unit};
    add(bench, &row, (const double[3]){value, value, value}, 0, value);
}

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value ? value : "";
}

void bench_print_table(const json_t *rows)
{
    size_t i;
    json_t *row;
    printf("%-30s %-14s %-8s %10s %-9s %10s %10s %10s %7s\n", "job", "case", "device", "median",
           "unit", "p10", "p90", "limit", "share");
    json_array_foreach((json_t *)rows, i, row)
    {
        const char *sample = text(row, "case"), *slash = strrchr(sample, '/');
        printf("%-30s %-14.14s %-8s %10.4g %-9s %10.4g %10.4g", text(row, "name"),
               slash ? slash + 1 : sample, text(row, "device"), number(row, "value"),
               text(row, "unit"), number(row, "p10"), number(row, "p90"));
        if (isfinite(number(row, "limit")))
            printf(" %10.4g %6.1f%%  %s\n", number(row, "limit"), 100 * number(row, "ratio"),
                   text(row, "limit_name"));
        else
            printf(" %10s %7s\n", "-", "-");
    }
}
