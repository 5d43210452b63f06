/* Labels of simulated and real images, all pixels and all measures: SciPy's and NumPy's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/label.h"
#include "golden.h"
#include "base/sha256.h"

/* A line of NAME.cat4.csv or NAME.cat8.csv. */
enum column {
    LABEL,
    NPIX,
    SUM,
    FLUX,
    MEAN,
    PEAK,
    PEAK_Y,
    PEAK_X,
    COM_Y,
    COM_X,
    YMIN,
    YMAX,
    XMIN,
    XMAX,
    MXX,
    MYY,
    MXY,
    COLUMNS
};

static bool read_line(FILE *file, double v[COLUMNS])
{
    char line[1024];
    if (!fgets(line, sizeof(line), file))
        return false;
    char *at = line;
    for (int i = 0; i < COLUMNS; i++) {
        char *end;
        v[i] = strtod(at, &end);
        if (end == at || *end != ',')
            return false;
        at = end + 1;
    }
    return true;
}

/*
 * Exact: pixels, boxes, places of extremes. Sums and moments of the reference are NumPy's in f64:
 * what airy/label.h promises for ours, once more for theirs.
 */
static bool is_same(const airy_region *r, const double v[COLUMNS])
{
    const double length = fmax(v[XMAX] - v[XMIN], v[YMAX] - v[YMIN]) + 1,
                 moments = 2e-9 * length * length;
    return (double)r->count == v[NPIX] && r->max == v[PEAK] && (double)r->max_at[1] == v[PEAK_Y] &&
           (double)r->max_at[2] == v[PEAK_X] && (double)r->first[1] == v[YMIN] &&
           (double)r->last[1] == v[YMAX] && (double)r->first[2] == v[XMIN] &&
           (double)r->last[2] == v[XMAX] && fabs(r->sum - v[SUM]) <= 2e-12 * fabs(v[SUM]) &&
           fabs(r->mean - v[MEAN]) <= 2e-12 * fabs(v[MEAN]) &&
           fabs(r->center[1] - v[COM_Y]) <= 2e-9 && fabs(r->center[2] - v[COM_X]) <= 2e-9 &&
           fabs(r->mxx - v[MXX]) <= moments && fabs(r->myy - v[MYY]) <= moments &&
           fabs(r->mxy - v[MXY]) <= moments;
}

static void check_catalog(struct golden *g, const char *name, int connectivity,
                          const airy_region *regions, size_t count)
{
    char path[4096], head[1024];
    double v[COLUMNS];
    snprintf(path, sizeof(path), "%s/../astro/%s.cat%d.csv", g->dir, name, connectivity);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(head, sizeof(head), file)) {
        golden_complain(g, "cannot read %s", path);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_line(file, v)) {
            golden_complain(g, "%s ends before label %zu", path, i + 1);
            break;
        }
        if (!is_same(&regions[i], v))
            golden_complain(g,
                            "label %zu, %d neighbours: %llu pixels, sum %.17g, center %.17g %.17g",
                            i + 1, connectivity, (unsigned long long)regions[i].count,
                            regions[i].sum, regions[i].center[1], regions[i].center[2]);
    }
    if (file)
        fclose(file);
}

/* The map's bytes, little-endian i32 in raster order, are known by their SHA-256. */
static void check_map(struct golden *g, const airy_array *labels, const json_t *item,
                      int connectivity)
{
    char key[32], hex[65];
    struct airy_sha256 hash;
    const size_t size = airy_array_size(labels);
    void *map = malloc(size);
    snprintf(key, sizeof(key), "sha256_label%d_i32", connectivity);
    if (map && golden_ok(g, "airy_array_pull", airy_array_pull(g->queue, map, size, labels)) &&
        golden_ok(g, "airy_queue_finish", airy_queue_finish(g->queue))) {
        airy_sha256_begin(&hash);
        airy_sha256_add(&hash, map, size);
        airy_sha256_end(&hash, hex);
        if (strcmp(hex, json_string_value(json_object_get(item, key))) != 0)
            golden_complain(g, "labels of %d neighbours differ", connectivity);
    }
    free(map);
}

void golden_labels(struct golden *g, const airy_array *src, const json_t *item, const char *name)
{
    const double above = json_number_value(json_object_get(item, "threshold_5sigma"));
    airy_array *labels = NULL;
    bool there =
        golden_ok(g, "airy_array_create",
                  airy_array_create(&labels, g->device, AIRY_DTYPE_I32, 2, airy_array_shape(src)));
    for (int connectivity = 4; there && connectivity <= 8; connectivity += 4) {
        const airy_label_params params = {
            .connectivity = connectivity, .has_above = true, .above = above};
        const json_t *want = json_object_get(item, connectivity == 4 ? "n4" : "n8");
        airy_region *regions = NULL;
        size_t count = 0;
        there = golden_ok(g, "airy_label",
                          airy_label(g->queue, labels, src, &params, &count, &regions));
        if (there && count != (size_t)json_integer_value(want))
            golden_complain(g, "%zu labels of %d neighbours", count, connectivity);
        else if (there) {
            check_map(g, labels, item, connectivity);
            check_catalog(g, name, connectivity, regions, count);
        }
        if (there &&
            golden_ok(g, "airy_measure", airy_measure(g->queue, regions, count, labels, src)))
            check_catalog(g, name, connectivity, regions, count);
        airy_regions_free(regions);
    }
    airy_array_destroy(&labels);
}
