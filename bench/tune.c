/* airy tune: measure what fits this device, and keep it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/program.h"
#include "cli/words.h"
#include "tune.h"

struct tune_params {
    struct common common;
    bool show, sweep, table;
    struct opt_list set;
    const char *detector;
    double seconds;
    bool has_seconds;
};

#define FIELD(member) .offset = offsetof(struct tune_params, member)
#define SEEN(member)  .seen = offsetof(struct tune_params, member)

static const struct opt tune_options[] = {
    {.heading = "What to do (without one of these: measure and keep the fastest)"},
    {.name = "show",
     .type = OPT_FLAG,
     FIELD(show),
     .help = "prints each size: smallest, largest, default, current, work-group"},
    {.name = "sweep",
     .type = OPT_FLAG,
     FIELD(sweep),
     .help = "prints the times, and keeps nothing"},
    {.name = "set",
     .type = OPT_LIST,
     FIELD(set),
     .argument = "KERNEL=N",
     .help = "keeps this value (SIZE=N, or KERNEL=N for blocks or items of its work-group); "
             "=default: forget it; may be given several times"},
    {.heading = "Measuring"},
    {.name = "seconds",
     .type = OPT_FLOAT,
     FIELD(seconds),
     SEEN(has_seconds),
     .lo = 0.01,
     .hi = 86400,
     .argument = "S",
     .fallback = "40",
     .help = "stops soon after this time, in s; every value is timed three times at least"},
    {.name = "detector",
     .type = OPT_STRING,
     FIELD(detector),
     .argument = "NAME",
     .fallback = "eiger_4M",
     .help = "names the detector whose frames are made, uint32"},
    {.name = "table",
     .type = OPT_FLAG,
     FIELD(table),
     .help = "prints a table to read instead of JSON"},
    {0},
};

/* The work-group of a size at a value, or null. */
static json_t *work_group(const airy_tunable *t, uint32_t value)
{
    return t->items ? json_integer((json_int_t)t->items * value) : json_null();
}

static json_t *times_json(struct tune_result *r)
{
    json_t *list = json_array();
    for (size_t v = 0; v < r->count; v++) {
        struct tune_times *t = &r->times[v];
        json_t *row = json_pack("{s:i, s:o, s:b, s:i}", "value", (int)t->value, "work_group",
                                work_group(&r->tunable, t->value), "usable", !t->failed, "runs",
                                (int)t->count);
        if (t->count) {
            json_object_set_new(row, "median_ms", json_real(tune_part(t, 0.5)));
            json_object_set_new(row, "p10_ms", json_real(tune_part(t, 0.1)));
            json_object_set_new(row, "p90_ms", json_real(tune_part(t, 0.9)));
        }
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *size_json(const airy_tunable *t)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:o, s:s, s:o}", "name", t->name,
                     "kernel", t->kernel, "unit", t->unit, "what", t->what, "smallest",
                     (int)t->smallest, "largest", (int)t->largest, "default", (int)t->standard,
                     "current", (int)t->current, "work_group", work_group(t, t->current), "source",
                     airy_tuning_source_name(t->source), "frame_pixels",
                     t->pixels ? json_integer((json_int_t)t->pixels) : json_null());
}

static json_t *gain_json(struct tune_gain *gain)
{
    const double before = tune_part(&gain->before, 0.5), after = tune_part(&gain->after, 0.5);
    return json_pack("{s:s, s:s, s:f, s:f, s:f, s:i, s:b}", "kernel", gain->kernel, "job",
                     gain->job->name, "before_ms", before, "after_ms", after, "gain",
                     before / after, "runs", (int)gain->before.count, "taken_back",
                     gain->taken_back);
}

static json_t *answer(const struct tune_params *p, const airy_device *device)
{
    char path[1024];
    airy_device_info info;
    airy_tuning_path(device, path, sizeof(path));
    if (airy_device_get_info(device, &info) != AIRY_OK)
        return NULL;
    (void)p;
    return json_pack("{s:s, s:s, s:s, s:o, s:[], s:[]}", "device", info.spec, "name", info.name,
                     "driver", info.driver, "table", *path ? tool_json_string(path) : json_null(),
                     "sizes", "kernels");
}

static void print_sizes(const json_t *sizes)
{
    size_t i;
    json_t *s;
    printf("%-30s %8s %8s %8s %8s %10s %-9s %s\n", "size", "smallest", "largest", "default",
           "current", "work-group", "source", "unit");
    json_array_foreach((json_t *)sizes, i, s)
    {
        char group[16] = "-";
        const json_t *items = json_object_get(s, "work_group");
        if (json_is_integer(items))
            snprintf(group, sizeof(group), "%d", (int)json_integer_value(items));
        char frames[48] = "";
        const json_t *pixels = json_object_get(s, "frame_pixels");
        if (json_is_integer(pixels))
            snprintf(frames, sizeof(frames), ", of %.3g megapixels",
                     (double)json_integer_value(pixels) * 1e-6);
        printf("%-30s %8d %8d %8d %8d %10s %-9s %s%s\n",
               json_string_value(json_object_get(s, "name")),
               (int)json_integer_value(json_object_get(s, "smallest")),
               (int)json_integer_value(json_object_get(s, "largest")),
               (int)json_integer_value(json_object_get(s, "default")),
               (int)json_integer_value(json_object_get(s, "current")), group,
               json_string_value(json_object_get(s, "source")),
               json_string_value(json_object_get(s, "unit")), frames);
    }
}

static void print_times(const json_t *sizes)
{
    size_t i, k;
    json_t *s, *t;
    json_array_foreach((json_t *)sizes, i, s)
    {
        const json_t *times = json_object_get(s, "times");
        if (json_array_size(times) == 0)
            continue;
        printf("\n%s (%s)\n%10s %10s %12s %12s %12s %6s\n",
               json_string_value(json_object_get(s, "name")),
               json_string_value(json_object_get(s, "unit")), "value", "work-group", "median ms",
               "p10 ms", "p90 ms", "runs");
        json_array_foreach((json_t *)times, k, t)
        {
            const json_t *group = json_object_get(t, "work_group");
            char items[16] = "-";
            if (json_is_integer(group))
                snprintf(items, sizeof(items), "%d", (int)json_integer_value(group));
            printf("%10d %10s ", (int)json_integer_value(json_object_get(t, "value")), items);
            if (json_is_true(json_object_get(t, "usable")))
                printf("%12.4f %12.4f %12.4f %6d\n",
                       json_number_value(json_object_get(t, "median_ms")),
                       json_number_value(json_object_get(t, "p10_ms")),
                       json_number_value(json_object_get(t, "p90_ms")),
                       (int)json_integer_value(json_object_get(t, "runs")));
            else
                printf("the device does not run it\n");
        }
    }
}

static void print_gains(const json_t *kernels)
{
    size_t i;
    json_t *k;
    if (json_array_size(kernels))
        printf("\n%-30s %12s %12s %8s\n", "kernel", "before ms", "after ms", "gain");
    json_array_foreach((json_t *)kernels, i, k)
    {
        const char *name = json_string_value(json_object_get(k, "kernel"));
        printf("%-30s %12.4f %12.4f %8.3f\n",
               *name ? name : json_string_value(json_object_get(k, "job")),
               json_number_value(json_object_get(k, "before_ms")),
               json_number_value(json_object_get(k, "after_ms")),
               json_number_value(json_object_get(k, "gain")));
    }
}

/* Print and release. */
static int print_answer(const struct tune_params *p, json_t *root)
{
    if (!root || !p->table)
        return tool_print_json(&p->common, root);
    const json_t *path = json_object_get(root, "table");
    printf("%s: %s\ntable: %s\n\n", json_string_value(json_object_get(root, "device")),
           json_string_value(json_object_get(root, "name")),
           json_is_string(path) ? json_string_value(path) : "none");
    print_sizes(json_object_get(root, "sizes"));
    print_times(json_object_get(root, "sizes"));
    print_gains(json_object_get(root, "kernels"));
    json_decref(root);
    return AIRY_EXIT_OK;
}

static int show(const struct tune_params *p, const airy_device *device)
{
    airy_tunable *list = NULL;
    size_t count = 0;
    const airy_status status = airy_tuning_list(device, &list, &count);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    json_t *root = answer(p, device);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(json_object_get(root, "sizes"), size_json(&list[i]));
    airy_tuning_list_free(list);
    return print_answer(p, root);
}

/* No such size: what is near. Exit code. */
static int refuse_name(const struct tune_params *p, const char *option, const char *name,
                       const airy_tunable *list, size_t count)
{
    const char *names[TUNE_SIZES];
    for (size_t i = 0; i < count && i < TUNE_SIZES; i++)
        names[i] = list[i].name;
    const char *near = tool_suggest(name, names, count < TUNE_SIZES ? count : TUNE_SIZES);
    return near ? tool_usage(&p->common, "%s'%s': the device has no such size, did you mean '%s'?",
                             option, name, near)
                : tool_usage(&p->common,
                             "%s'%s': the device has no such size; 'airy tune --show' lists them",
                             option, name);
}

/* The size, or the work-group of the kernel, of this name. */
static const airy_tunable *find_size(const char *name, const airy_tunable *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    for (size_t i = 0; i < count; i++)
        if (list[i].items && strcmp(list[i].kernel, name) == 0)
            return &list[i];
    return NULL;
}

static int set_one(const struct tune_params *p, airy_device *device, const char *text,
                   const airy_tunable *list, size_t count)
{
    char name[64];
    const char *equals = strchr(text, '=');
    uint64_t value = 0;
    const bool fits = equals && (size_t)(equals - text) < sizeof(name);
    const bool forget = fits && strcmp(equals + 1, "default") == 0;
    if (!fits || (!forget && (!opt_whole(equals + 1, &value) || value == 0 || value > UINT32_MAX)))
        return tool_usage(&p->common,
                          "--set %s: expected KERNEL=N with N of at least 1, or "
                          "KERNEL=default",
                          text);
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    if (!find_size(name, list, count))
        return refuse_name(p, "--set ", name, list, count);
    const airy_status status = airy_tuning_set(device, name, (uint32_t)value, AIRY_TUNING_SET);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_usage(&p->common, "--set %s", airy_last_error());
}

static int set(const struct tune_params *p, airy_device *device)
{
    airy_tunable *list = NULL;
    size_t count = 0;
    airy_status status = airy_tuning_list(device, &list, &count);
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    for (size_t i = 0; i < p->set.count && code == AIRY_EXIT_OK; i++)
        code = set_one(p, device, p->set.items[i], list, count);
    airy_tuning_list_free(list);
    if (code == AIRY_EXIT_OK && (status = airy_tuning_save(device)) != AIRY_OK)
        code = tool_failed(&p->common, status);
    return code == AIRY_EXIT_OK ? show(p, device) : code;
}

/* Mark what the command line names, or all. Exit code. */
static int want_sizes(struct tune *tune, const struct tune_params *p)
{
    airy_tunable *list = NULL;
    size_t count = 0;
    const airy_status status = airy_tuning_list(tune->data.device, &list, &count);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    int code = AIRY_EXIT_OK;
    const struct opt_list *names = &p->common.inputs;
    for (size_t k = 0; k < names->count && code == AIRY_EXIT_OK; k++)
        if (!find_size(names->items[k], list, count))
            code = refuse_name(p, "", names->items[k], list, count);
    tune->count = count < TUNE_SIZES ? count : TUNE_SIZES;
    for (size_t i = 0; i < tune->count; i++) {
        struct tune_result *r = &tune->results[i];
        r->tunable = list[i];
        r->wanted = names->count == 0 && list[i].source != AIRY_TUNING_SET;
        if (names->count == 0 && !r->wanted)
            tool_say(&p->common, "%s = %u was set by hand and stays; 'airy tune %s' measures it",
                     list[i].name, list[i].current, list[i].name);
        for (size_t k = 0; k < names->count; k++)
            r->wanted |= find_size(names->items[k], list, count) == &list[i];
    }
    airy_tuning_list_free(list);
    return code;
}

static bool wants(const struct tune *tune, bool whole)
{
    for (size_t i = 0; i < tune->count; i++)
        if (tune->results[i].wanted && (tune->results[i].tunable.kernel[0] == 0) == whole)
            return true;
    return false;
}

/* What the kernels' device was given, on the one for whole runs. */
static airy_status carry_over(struct tune *tune)
{
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < tune->count && status == AIRY_OK; i++) {
        const struct tune_result *r = &tune->results[i];
        if (r->count)
            status = airy_tuning_set(tune->data.device, r->tunable.name, r->chosen,
                                     AIRY_TUNING_MEASURED);
    }
    return status;
}

/* Kernels on a device with a profile, or whole runs on one without. */
static airy_status measure_part(struct tune *tune, bool whole)
{
    /* Each side, and the comparison of each, of about the same length. */
    enum { RUN_PART = 150, COMPARE_PART = 8 };
    const double seconds = tune->end - tool_now();
    airy_status status = tune_data_open(&tune->data, whole);
    if (status == AIRY_OK)
        status = carry_over(tune);
    if (status == AIRY_OK && whole)
        status = tune_data_repeat(&tune->data, seconds / RUN_PART);
    if (status == AIRY_OK)
        status = tune_measure(tune, whole);
    if (status == AIRY_OK && !tool_interrupted())
        status = tune_compare(tune, whole, seconds / COMPARE_PART);
    return status;
}

static json_t *report(const struct tune_params *p, struct tune *tune)
{
    json_t *root = answer(p, tune->data.device);
    airy_tunable *list = NULL;
    size_t count = 0;
    const airy_status status = airy_tuning_list(tune->data.device, &list, &count);
    for (size_t i = 0; status == AIRY_OK && i < tune->count && i < count; i++) {
        /* A sweep keeps nothing: what held before holds on. */
        json_t *size = size_json(p->sweep ? &tune->results[i].tunable : &list[i]);
        json_object_set_new(size, "times", times_json(&tune->results[i]));
        json_array_append_new(json_object_get(root, "sizes"), size);
    }
    airy_tuning_list_free(list);
    for (size_t i = 0; i < tune->gain_count; i++)
        json_array_append_new(json_object_get(root, "kernels"), gain_json(&tune->gains[i]));
    return root;
}

static void say_unmeasured(const struct tune *tune, const struct common *common)
{
    for (size_t i = 0; i < tune->count; i++) {
        const struct tune_result *r = &tune->results[i];
        if (r->wanted && !r->job)
            tool_say(common, "%s is not measured: with this data the device does not run %s",
                     r->tunable.name, r->tunable.kernel);
    }
}

/* Everything is measured: keep it, say it. */
static int keep(struct tune *tune, const struct tune_params *p)
{
    airy_status status = AIRY_OK;
    const uint64_t pixels = (uint64_t)tune->data.geometry.detector.height *
                            tune->data.geometry.detector.width;
    for (size_t i = 0; i < tune->count && status == AIRY_OK; i++)
        if (tune->results[i].count && !tune->results[i].tunable.kernel[0])
            status =
                airy_tuning_set_frame(tune->data.device, tune->results[i].tunable.name, pixels);
    if (status == AIRY_OK && !p->sweep)
        status = airy_tuning_save(tune->data.device);
    const int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    say_unmeasured(tune, &p->common);
    const int printed = print_answer(p, report(p, tune));
    return code == AIRY_EXIT_OK ? printed : code;
}

static int measure(struct tune *tune, const struct tune_params *p)
{
    const int code =
        tune_data_make(&tune->data, &p->common, p->detector ? p->detector : "eiger_4M");
    if (code != AIRY_EXIT_OK && !tool_interrupted())
        return code;
    airy_status status = AIRY_OK;
    progress_begin(&tune->progress, &p->common, "sizes");
    for (int whole = 0; whole < 2 && status == AIRY_OK && !tool_interrupted(); whole++)
        if (wants(tune, whole)) {
            tune_data_close(&tune->data);
            status = measure_part(tune, whole);
        }
    progress_end(&tune->progress);
    if (tool_interrupted())
        return tool_fail(&p->common, "cancelled; the table is as it was");
    return status == AIRY_OK ? keep(tune, p) : tool_failed(&p->common, status);
}

/* The device of the command line, as it is used. */
static airy_status open_plain(struct tune *tune, const struct common *common)
{
    return tool_device(common, &tune->data.device);
}

static int run_tune(void *user)
{
    const struct tune_params *p = user;
    if (p->table && p->common.json)
        return tool_usage(&p->common, "--table and --json exclude each other");
    if (p->show + p->sweep + (p->set.count > 0) > 1)
        return tool_usage(&p->common, "--show, --sweep and --set exclude each other");
    if ((p->show || p->set.count) && p->common.inputs.count)
        return tool_usage(&p->common, "'%s': --show and --set take no sizes to measure",
                          p->common.inputs.items[0]);
    struct tune *tune = calloc(1, sizeof(*tune));
    if (!tune)
        return tool_fail(&p->common, "out of memory");
    char path[1024];
    tune->end = tool_now() + (p->has_seconds ? p->seconds : 40);
    const airy_status status = open_plain(tune, &p->common);
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    if (code == AIRY_EXIT_OK)
        tool_say_device(&p->common, tune->data.device);
    airy_tuning_path(tune->data.device, path, sizeof(path));
    if (code == AIRY_EXIT_OK && p->show) {
        code = show(p, tune->data.device);
    } else if (code == AIRY_EXIT_OK && p->set.count) {
        code = set(p, tune->data.device);
    } else if (code == AIRY_EXIT_OK && !p->sweep && !*path) {
        code = tool_fail(&p->common, "there is no cache folder to keep the table in: set "
                                     "AIRY_CACHE_DIR, not to none, or HOME, or measure by "
                                     "--sweep");
    } else if (code == AIRY_EXIT_OK) {
        tool_catch_interrupts();
        code = want_sizes(tune, p);
        if (code == AIRY_EXIT_OK)
            code = measure(tune, p);
    }
    tune_data_close(&tune->data);
    tune_data_remove(&tune->data);
    free(tune);
    return code;
}

const struct command cmd_tune = {
    .name = "tune",
    .usage = "[--show | --sweep [SIZE...] | --set KERNEL=N | SIZE...] [options]",
    .summary = TUNE_SUMMARY,
    .details =
        "Sizes change how fast a device works, never what it gives. Without an option all "
        "(or those named) are timed on frames that are made in TMPDIR, and what is faster "
        "than the default by 2 % and more than the noise is kept in the user's cache "
        "folder, for this device, driver and version; every command uses it from then on. What "
        "was given by --set stays, and what is measured of a whole run (pipeline.*) holds "
        "for frames of half to twice the detector's pixels. "
        "Prints {device, name, driver, table, sizes: [{name, kernel, unit, what, smallest, "
        "largest, default, current, work_group, source, frame_pixels, times: [{value, work_group, "
        "usable, "
        "runs, median_ms, p10_ms, p90_ms}]}], kernels: [{kernel, job, before_ms, after_ms, "
        "gain, runs, taken_back}]}.",
    .examples = "  airy tune --device gpu --table\n"
                "  airy tune --show --table\n"
                "  airy tune --sweep decode_blocks --seconds 5 --table\n"
                "  airy tune --set pipeline.readers=8 --set decode_blocks=default\n",
    .tables = {tune_options},
    .takes = TAKES_DEVICE | TAKES_MEMORY | TAKES_THREADS,
    .params_size = sizeof(struct tune_params),
    .min_inputs = 0,
    .max_inputs = TUNE_SIZES,
    .run = run_tune,
};
