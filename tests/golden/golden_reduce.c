/* Clips step by step: bounds, counts and moments of every pass. */
#include <math.h>
#include <stdlib.h>

#include "golden.h"

/* 1e-10 of max(|x|, std), the demand of the reference; counts and medians exactly. */
static void compare_number(struct golden *g, const char *what, double got, const json_t *entry,
                           const char *key, double scale)
{
    const double want = json_number_value(json_object_get(entry, key));
    if (!(fabs(got - want) <= 1e-10 * fmax(fabs(want), scale)))
        golden_complain(g, "%s %s: got %.17g, want %.17g", what, key, got, want);
}

void golden_statistics(struct golden *g, const char *what, const airy_statistics *got,
                       const json_t *want)
{
    const double std = json_number_value(json_object_get(want, "std"));
    if (got->count != (uint64_t)json_integer_value(json_object_get(want, "n")))
        golden_complain(g, "%s: %llu elements", what, (unsigned long long)got->count);
    if (got->count == 0)
        return;
    compare_number(g, what, got->min, want, "min", 0);
    compare_number(g, what, got->max, want, "max", 0);
    compare_number(g, what, got->median, want, "median", 0);
    compare_number(g, what, got->mean, want, "mean", std);
    compare_number(g, what, got->std, want, "std", std);
}

static void check_pass(struct golden *g, const airy_array *src, size_t pass, const json_t *entry)
{
    char what[32];
    airy_clip_result r;
    const airy_clip_params params = {.iterations = pass + 1};
    snprintf(what, sizeof(what), "pass %zu", pass + 1);
    if (!golden_ok(g, "airy_clip", airy_clip(g->queue, &r, src, NULL, &params)))
        return;
    const double std = json_number_value(json_object_get(entry, "std"));
    compare_number(g, what, r.low, entry, "lo", std);
    compare_number(g, what, r.high, entry, "hi", std);
    if (r.kept.count != (uint64_t)json_integer_value(json_object_get(entry, "n_out")))
        golden_complain(g, "%s: %llu elements are left", what, (unsigned long long)r.kept.count);
}

void golden_clip_passes(struct golden *g, const airy_array *src, const json_t *item)
{
    const json_t *passes = json_object_get(item, "iterations"), *pass;
    size_t i;
    json_array_foreach(passes, i, pass) check_pass(g, src, i, pass);
    airy_clip_result r;
    if (!golden_ok(g, "airy_clip", airy_clip(g->queue, &r, src, NULL, NULL)))
        return;
    if (r.iterations != json_array_size(passes))
        golden_complain(g, "%llu passes", (unsigned long long)r.iterations);
    golden_statistics(g, "end", &r.kept, json_object_get(item, "clipped"));
}

void golden_reduce(struct golden *g)
{
    char path[4096], name[96];
    json_error_t error;
    snprintf(path, sizeof(path), "%s/../astro/ks_cases.json", g->dir);
    json_t *cases = json_load_file(path, 0, &error);
    const hid_t file = golden_open(g, "../astro/ks_cases.h5");
    const char *key;
    json_t *item;
    json_object_foreach(cases, key, item)
    {
        snprintf(name, sizeof(name), "clip_%s", key);
        if (!golden_begin(g, name))
            continue;
        size_t shape[2];
        double *x = golden_doubles(g, file, key, shape);
        airy_array *src = NULL;
        if (x && golden_ok(g, "airy_array_create_from",
                           airy_array_create_from(&src, g->queue, AIRY_DTYPE_F64, 1, &shape[1], x)))
            golden_clip_passes(g, src, item);
        airy_array_destroy(&src);
        free(x);
        golden_end(g);
    }
    if (!cases && golden_begin(g, "clip")) {
        golden_complain(g, "%s: %s", path, error.text);
        golden_end(g);
    }
    json_decref(cases);
    H5Fclose(file);
}
