#include "golden.h"

#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "airy/integrate.h"

enum { MAX_COMPLAINTS = 8, MAX_SPECS = 64 };

static void end_case(struct golden *g, const char *skipped)
{
    const bool failed = g->complaints > 0;
    g->number++;
    printf("%s %zu - %s %s", failed ? "not ok" : "ok", g->number, g->spec, g->name);
    printf(skipped && !failed ? " # SKIP %s\n" : "\n", skipped);
    fflush(stdout);
    g->failed += failed;
    g->skipped += !failed && skipped;
    g->passed += !failed && !skipped;
}

bool golden_begin(struct golden *g, const char *name)
{
    bool wanted = g->filter_count == 0;
    for (int k = 0; k < g->filter_count && !wanted; k++)
        wanted = fnmatch(g->filters[k], name, 0) == 0;
    g->name = name;
    g->complaints = 0;
    return wanted;
}

void golden_complain(struct golden *g, const char *format, ...)
{
    if (++g->complaints > MAX_COMPLAINTS)
        return;
    va_list args;
    va_start(args, format);
    printf("# %s: ", g->name ? g->name : "golden");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

void golden_end(struct golden *g)
{
    end_case(g, NULL);
}

void golden_skip(struct golden *g, const char *why)
{
    end_case(g, why);
}

bool golden_ok(struct golden *g, const char *call, airy_status status)
{
    if (status == AIRY_OK)
        return true;
    golden_complain(g, "%s: %s: %s", call, airy_status_name(status), airy_last_error());
    return false;
}

void golden_compare(struct golden *g, const char *what, const double *got, const double *want,
                    size_t n, struct golden_tol tol, const double *count)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, isfinite(want[i]) ? fabs(want[i]) : 0);
    size_t wrong = 0, worst = 0;
    double worst_excess = 0;
    for (size_t i = 0; i < n; i++) {
        if (got[i] == want[i] || (isnan(got[i]) && isnan(want[i])))
            continue;
        const double thin = count && count[i] < 0.5 ? tol.thin : 0;
        const double allowed = (tol.rel + thin) * fabs(want[i]) + tol.of_max * max;
        const double excess = fabs(got[i] - want[i]) - allowed;
        if (excess <= 0)
            continue;
        wrong++;
        if (!(excess <= worst_excess)) {
            worst = i;
            worst_excess = excess;
        }
    }
    if (wrong > tol.spare)
        golden_complain(g, "%s: %zu of %zu are wrong; worst [%zu]: got %.9g, want %.9g (max %.3g)",
                        what, wrong, n, worst, got[worst], want[worst], max);
}

/* A back end without integration is one skipped line, not hundreds of failures. */
static bool lacks_integrate(struct golden *g)
{
    const airy_geometry geometry = {
        .detector = {.name = "Detector", .height = 8, .width = 8, .pixel1 = 1e-3, .pixel2 = 1e-3},
        .dist = 0.1};
    const airy_integrator_params params = {.bins = 1, .unit = AIRY_UNIT_R_MM};
    airy_integrator *it = NULL;
    const airy_status status = airy_integrator_create(&it, g->device, &geometry, &params);
    airy_integrator_destroy(&it);
    if (status != AIRY_ERR_UNSUPPORTED)
        return false;
    g->name = "integrate";
    end_case(g, airy_last_error());
    return true;
}

static void run_device(struct golden *g, const json_t *index, const char *spec)
{
    g->spec = spec;
    g->name = "open";
    g->complaints = 0;
    g->device = NULL;
    g->queue = NULL;
    if (!golden_ok(g, "airy_device_create", airy_device_create(&g->device, spec, NULL)) ||
        !golden_ok(g, "airy_queue_create", airy_queue_create(&g->queue, g->device))) {
        golden_end(g);
    } else if (!lacks_integrate(g)) {
        golden_integrate(g, index);
        golden_real_frames(g);
        golden_exact(g, index);
    }
    if (g->queue) {
        golden_reduce(g);
        golden_sky(g);
    }
    airy_queue_destroy(&g->queue);
    airy_device_destroy(&g->device);
}

static size_t usable_devices(char specs[MAX_SPECS][64])
{
    airy_device_info *list = NULL;
    size_t count = 0, n = 0;
    if (airy_device_list(&list, &count) != AIRY_OK)
        return 0;
    for (size_t k = 0; k < count && n < MAX_SPECS; k++)
        if (list[k].usable)
            snprintf(specs[n++], 64, "%s", list[k].spec);
    airy_device_list_free(list);
    return n;
}

static json_t *load_index(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/index.json", dir);
    json_error_t error;
    json_t *index = json_load_file(path, 0, &error);
    if (!index)
        fprintf(stderr, "airy-golden: %s: %s\n", path, error.text);
    return index;
}

static const char usage[] =
    "usage: airy-golden [--device SPEC]... [--all-devices] [--dir FOLDER] [PATTERN...]\n";

int main(int argc, char **argv)
{
    static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                            {"all-devices", no_argument, NULL, 'a'},
                                            {"dir", required_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    static char specs[MAX_SPECS][64];
    char named[4096];
    const char *folder = getenv("AIRY_GOLDEN"); /* as airy-check: the folder above */
    snprintf(named, sizeof(named), "%s/diffraction", folder ? folder : "");
    struct golden g = {.dir = folder && *folder ? named : GOLDEN_DIR};
    size_t n = 0;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'd' && n < MAX_SPECS)
            snprintf(specs[n++], 64, "%s", optarg);
        else if (c == 'a')
            n = usable_devices(specs);
        else if (c == 'p')
            g.dir = optarg;
        else {
            fputs(usage, c == 'h' ? stdout : stderr);
            return c == 'h' ? 0 : 2;
        }
    }
    if (n == 0)
        snprintf(specs[n++], 64, "cpu");
    g.filters = argv + optind;
    g.filter_count = argc - optind;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    json_t *index = load_index(g.dir);
    if (!index)
        return 1;
    g.spec = "host";
    golden_positions(&g, index);
    golden_patterns(&g, index);
    for (size_t k = 0; k < n; k++)
        run_device(&g, index, specs[k]);
    printf("1..%zu\n", g.number);
    printf("# %zu passed, %zu failed, %zu skipped\n", g.passed, g.failed, g.skipped);
    json_decref(index);
    return g.failed ? 1 : 0;
}
