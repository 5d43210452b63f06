/* Times and rows of `airy bench`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

double bench_percentile(struct timing *t, double part)
{
    return tool_percentile(t->times, t->count, part);
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

/* Let the peak of resident memory begin anew; where that is not allowed, it is the highest. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file) {
        fputs("5", file);
        fclose(file);
    }
}

struct bench_ticks bench_ticks(void)
{
    struct bench_ticks ticks = {0};
    unsigned long long t[8] = {0}; /* user, nice, system, idle, iowait, irq, softirq, steal */
    FILE *file = fopen("/proc/stat", "r");
    if (file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                       &t[3], &t[4], &t[5], &t[6], &t[7]) == 8)
        ticks.stolen = (double)t[7];
    for (size_t i = 0; i < 8; i++)
        ticks.all += (double)t[i];
    if (file)
        fclose(file);
    return ticks;
}

double bench_stolen(const struct bench_ticks *since)
{
    const struct bench_ticks now = bench_ticks();
    return now.all > since->all ? (now.stolen - since->stolen) / (now.all - since->all)
                                : (double)NAN;
}

double bench_seconds(const struct bench *bench)
{
    return bench->params->has_seconds ? bench->params->seconds : 2;
}

airy_status bench_loop(const struct bench *bench, struct timing *t, const struct bench_loop *loop)
{
    enum { LONG = 20 }; /* s, after which one call is enough */
    airy_status status = AIRY_OK;
    airy_memory_info memory;
    const struct bench_ticks ticks = bench_ticks();
    reset_peak();
    t->count = 0;
    t->first = NAN;
    t->spent = 0;
    for (bool apart = loop->first; status == AIRY_OK && t->count < BENCH_MAX_REPEATS;
         apart = false) {
        if (loop->prepare)
            status = loop->prepare(loop->user);
        const double before = tool_now();
        if (status == AIRY_OK)
            status = loop->run(loop->user);
        const double seconds = tool_now() - before;
        if (apart)
            t->first = seconds;
        else
            t->times[t->count++] = seconds;
        t->spent += apart ? 0 : seconds;
        if (tool_interrupted() || (t->count >= loop->least && t->spent >= loop->seconds) ||
            t->spent >= LONG)
            break;
    }
    t->stolen = bench_stolen(&ticks);
    t->host_peak = host_peak();
    t->device_peak = airy_device_memory(bench->device, &memory) == AIRY_OK ? (double)memory.peak
                                                                           : 0;
    return tool_interrupted() && status == AIRY_OK ? AIRY_ERR_CANCELLED : status;
}

airy_status bench_repeat(const struct bench *bench, struct timing *t,
                         airy_status (*run)(void *user), void *user)
{
    const struct bench_loop loop = {
        .run = run, .user = user, .seconds = bench_seconds(bench), .least = 3, .first = true};
    return bench_loop(bench, t, &loop);
}

airy_status bench_say(struct bench *bench, airy_status status, const char *sentence)
{
    if (!tool_interrupted() && !atomic_exchange(&bench->said, true))
        tool_fail(bench->common, "%s", sentence);
    return status;
}

int bench_failed(const struct bench *bench, airy_status status)
{
    return tool_interrupted() || atomic_load(&bench->said) ? AIRY_EXIT_FAILED
                                                           : tool_failed(bench->common, status);
}

static json_t *number_or_null(double value, bool there)
{
    return there ? tool_json_number(value) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* figure: median, p10 and p90. t: NULL for what was not timed. */
static void add(struct bench *bench, const struct bench_row *row, const double figure[3],
                double ratio, const struct timing *t)
{
    json_t *out = json_object();
    const bool limited = row->limit > 0;
    set(out, "name", json_string(row->name));
    set(out, "case", tool_json_string(bench->sample));
    char *specs = bench->team.count > 1 ? team_specs(&bench->team) : NULL;
    set(out, "device", json_string(specs ? specs : airy_device_spec(bench->device)));
    free(specs);
    set(out, "value", number_or_null(figure[0], true));
    set(out, "unit", json_string(row->unit));
    const bool spread = !t || t->count > 1; /* one call has none */
    set(out, "p10", number_or_null(figure[1], spread));
    set(out, "p90", number_or_null(figure[2], spread));
    set(out, "limit", number_or_null(row->limit, limited));
    set(out, "limit_name", json_string(limited && row->limit_name ? row->limit_name : ""));
    set(out, "ratio", number_or_null(ratio, limited));
    set(out, "first_call",
        number_or_null(t ? t->first : figure[0], t || strcmp(row->unit, "s") == 0));
    if (row->bound > 0) {
        set(out, "bound", number_or_null(row->bound, true));
        set(out, "bound_name", json_string(row->bound_name));
        set(out, "bound_ratio", number_or_null(figure[0] / row->bound, true));
    }
    if (t) {
        set(out, "calls", json_integer((json_int_t)t->count));
        set(out, "host_peak_bytes", number_or_null(t->host_peak, t->host_peak > 0));
        set(out, "device_peak_bytes", number_or_null(t->device_peak, true));
        set(out, "stolen", number_or_null(t->stolen, true));
    }
    if (row->frames)
        set(out, "frames", json_integer((json_int_t)row->frames));
    if (row->note)
        set(out, "note", json_string(row->note));
    else if (limited && ratio > 1 && bench->cpu && row->limit_name &&
             strstr(row->limit_name, "copy"))
        set(out, "note", json_string("above the limit: what stays in the caches passes memory"));
    json_array_append_new(bench->rows, out);
}

void bench_add_rate(struct bench *bench, struct timing *t, const struct bench_row *row)
{
    const double figure[3] = {row->amount / bench_percentile(t, 0.5),
                              row->amount / bench_percentile(t, 0.9),
                              row->amount / bench_percentile(t, 0.1)};
    add(bench, row, figure, figure[0] / row->limit, t);
}

void bench_add_latency(struct bench *bench, struct timing *t, const struct bench_row *row)
{
    const double figure[3] = {row->amount * bench_percentile(t, 0.5),
                              row->amount * bench_percentile(t, 0.1),
                              row->amount * bench_percentile(t, 0.9)};
    add(bench, row, figure, row->limit / figure[0], t);
    set(json_array_get(bench->rows, json_array_size(bench->rows) - 1), "p99",
        number_or_null(row->amount * bench_percentile(t, 0.99), true));
}

void bench_add_fact(struct bench *bench, const char *name, const char *unit, double value)
{
    const struct bench_row row = {.name = name, .unit = unit};
    add(bench, &row, (const double[3]){value, value, value}, 0, NULL);
}

void bench_add_missing(struct bench *bench, const char *name, const char *unit, const char *why)
{
    const struct bench_row row = {.name = name, .unit = unit, .note = why};
    add(bench, &row, (const double[3]){NAN, NAN, NAN}, 0, NULL);
}

static double number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text(const json_t *row, const char *key)
{
    return tool_json_shown(row, key);
}

/* Four digits, without an exponent where that is short. */
static void format_number(char word[32], double value)
{
    const double size = fabs(value);
    if (!isfinite(value))
        snprintf(word, 32, "-");
    else if (size >= 1e7 || (size > 0 && size < 1e-6))
        snprintf(word, 32, "%.4g", value);
    else if (size >= 1e4) { /* rounded to what was measured */
        const double step = pow(10, floor(log10(size)) - 3);
        snprintf(word, 32, "%.0f", round(value / step) * step);
    } else {
        const int whole = size > 0 ? (int)floor(log10(size)) : 0;
        snprintf(word, 32, "%.*f", whole < 3 ? 3 - whole : 0, value);
    }
}

void bench_print_number(const json_t *row, const char *key, int width)
{
    char word[32];
    format_number(word, number(row, key));
    printf(" %*s", width, word);
}

const char *bench_shown_case(const json_t *row)
{
    const char *sample = text(row, "case"), *slash = strrchr(sample, '/');
    return slash ? slash + 1 : sample;
}

/* Widths of the columns of words. */
struct widths {
    int name, sample, device, unit;
};

static void widen(int *width, const char *word)
{
    const int length = (int)strlen(word);
    *width = length > *width ? length : *width;
}

/* What is said of a row, on a line of its own so that numbers stay in their columns. */
static void show_remarks(const json_t *row)
{
    const double TOLD = 0.02; /* what is stolen is told from here on */
    const char *limit = text(row, "limit_name"), *note = text(row, "note");
    const char *between = "    ";
    if (*limit) {
        printf("%slimit: %s", between, limit);
        between = "; ";
    }
    if (json_is_number(json_object_get(row, "speed_up"))) {
        const json_t *identical = json_object_get(row, "identical");
        printf("%sspeed-up %.3g", between, number(row, "speed_up"));
        if (json_is_number(json_object_get(row, "speed_up_serial")))
            printf(", against serial %.3g", number(row, "speed_up_serial"));
        printf("%s", !identical ? "" : json_is_true(identical) ? ", identical" : ", DIFFERENT");
        between = "; ";
    }
    if (*note) {
        printf("%s%s", between, note);
        between = "; ";
    }
    if (number(row, "stolen") >= TOLD) {
        printf("%sthe machine's host took %.0f %% of the processors' time", between,
               100 * number(row, "stolen"));
        between = "; ";
    }
    if (between[0] == ';')
        putchar('\n');
}

static void show_row(const json_t *row, const struct widths *w)
{
    printf("%-*s %-*s %-*s", w->name, text(row, "name"), w->sample, bench_shown_case(row),
           w->device, text(row, "device"));
    bench_print_number(row, "value", 9);
    printf(" %-*s", w->unit, text(row, "unit"));
    bench_print_number(row, "p10", 9);
    bench_print_number(row, "p90", 9);
    bench_print_number(row, "limit", 9);
    if (isfinite(number(row, "ratio")))
        printf(" %6.1f%%", 100 * number(row, "ratio"));
    else
        printf(" %7s", "-");
    if (isfinite(number(row, "host_peak_bytes")))
        printf(" %7.0f\n", 1e-6 * number(row, "host_peak_bytes"));
    else
        printf(" %7s\n", "-");
    show_remarks(row);
    if (number(row, "bound") < number(row, "limit")) {
        char bound[32];
        format_number(bound, number(row, "bound"));
        printf("    bound: %s %s, %s; it is %.1f%% of that\n", bound, text(row, "unit"),
               text(row, "bound_name"), 100 * number(row, "bound_ratio"));
    }
}

void bench_show(struct bench *bench)
{
    struct widths w = {3, 4, 6, 4};
    const size_t count = json_array_size(bench->rows);
    for (size_t i = bench->shown; i < count; i++) {
        const json_t *row = json_array_get(bench->rows, i);
        widen(&w.name, text(row, "name"));
        widen(&w.sample, bench_shown_case(row));
        widen(&w.device, text(row, "device"));
        widen(&w.unit, text(row, "unit"));
    }
    if (bench->shown < count)
        printf("%s%-*s %-*s %-*s %9s %-*s %9s %9s %9s %7s %7s\n", bench->shown ? "\n" : "", w.name,
               "job", w.sample, "case", w.device, "device", "median", w.unit, "unit", "p10", "p90",
               "limit", "share", "peak MB");
    for (; bench->shown < count; bench->shown++)
        show_row(json_array_get(bench->rows, bench->shown), &w);
    fflush(stdout);
}

airy_status bench_profile(double ms[2], const airy_device *device)
{
    airy_profile_row *rows = NULL;
    size_t count = 0;
    const airy_status status = airy_profile_get(device, &rows, &count);
    ms[0] = ms[1] = 0;
    for (size_t i = 0; i < count; i++)
        ms[rows[i].transfer] += rows[i].total;
    airy_profile_free(rows);
    return status;
}
