/* --profile of several ranks: the sum of what their devices have done. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/world.h"

/* Standard deviation of both together, from count, mean and standard deviation of each. */
static double join_std(const airy_profile_row *a, const airy_profile_row *b)
{
    const double n = (double)a->count, m = (double)b->count, all = n + m, apart = b->mean - a->mean;
    return sqrt((n * a->std * a->std + m * b->std * b->std + n * m / all * apart * apart) / all);
}

/* Into the row of the same name, or a new one; the median is lost. */
static void add_row(airy_profile_row *rows, size_t *count, const airy_profile_row *one)
{
    size_t i = 0;
    while (i < *count &&
           (strcmp(rows[i].name, one->name) != 0 || rows[i].transfer != one->transfer))
        i++;
    if (i == *count) {
        rows[(*count)++] = *one;
        return;
    }
    airy_profile_row *row = &rows[i];
    row->std = join_std(row, one);
    row->count += one->count;
    row->total += one->total;
    row->bytes += one->bytes;
    row->min = fmin(row->min, one->min);
    row->max = fmax(row->max, one->max);
    row->mean = row->count ? row->total / (double)row->count : 0;
}

static int print_rows(const struct common *common, const airy_profile_row *rows, size_t count,
                      int ranks)
{
    if (!common->profile_file) {
        fprintf(stderr, "sum of %d ranks\n%-32s %8s %10s %10s %10s %10s %12s %8s\n", ranks,
                "kernel or copy", "count", "min ms", "max ms", "mean ms", "std ms", "total ms",
                "GB/s");
        for (size_t i = 0; i < count; i++) {
            const airy_profile_row *r = &rows[i];
            fprintf(stderr, "%-32s %8llu %10.4f %10.4f %10.4f %10.4f %12.2f %8.2f\n", r->name,
                    (unsigned long long)r->count, r->min, r->max, r->mean, r->std, r->total,
                    r->total > 0 ? r->bytes / r->total * 1e-6 : 0.0);
        }
        return AIRY_EXIT_OK;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const airy_profile_row *r = &rows[i];
        json_array_append_new(
            list,
            json_pack("{s:s, s:b, s:I, s:o, s:n, s:o, s:o, s:o, s:o, s:o, s:i}", "name", r->name,
                      "transfer", r->transfer, "count", (json_int_t)r->count, "min_ms",
                      tool_json_number(r->min), "median_ms", "max_ms", tool_json_number(r->max),
                      "mean_ms", tool_json_number(r->mean), "std_ms", tool_json_number(r->std),
                      "total_ms", tool_json_number(r->total), "bytes",
                      r->bytes > 0 ? tool_json_number(r->bytes) : json_null(), "ranks", ranks));
    }
    const int code = tool_write_profile(common, list);
    json_decref(list);
    return code;
}

/* What a device of this rank has done. Exit code. */
static int add_device(airy_profile_row *rows, size_t *count, size_t most,
                      const struct common *common, const airy_device *device)
{
    airy_profile_row *own = NULL;
    size_t own_count = 0;
    const airy_status status = airy_profile_get(device, &own, &own_count);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    for (size_t i = 0; i < own_count && *count < most; i++)
        add_row(rows, count, &own[i]);
    airy_profile_free(own);
    return AIRY_EXIT_OK;
}

int world_profile(struct world *world, const airy_device *const *devices, size_t devices_count)
{
    enum { MOST = 256 }; /* rows of a rank: kernels and copies have far fewer names */
    const struct common *common = world->common;
    const size_t ranks = (size_t)world->place.size;
    struct rows {
        size_t count;
        airy_profile_row list[MOST];
    } *mine = calloc(1, sizeof(*mine)), *all = calloc(ranks, sizeof(*all));
    airy_profile_row *sum = calloc(ranks * MOST, sizeof(*sum));
    size_t count = 0;
    int code = mine && all && sum ? AIRY_EXIT_OK : tool_fail(common, "out of memory");
    for (size_t i = 0; code == AIRY_EXIT_OK && i < devices_count; i++)
        code = add_device(mine->list, &mine->count, MOST, common, devices[i]);
    if (code == AIRY_EXIT_OK)
        code = world_gather(world, mine, sizeof(*mine), all);
    count = 0;
    for (size_t r = 0; code == AIRY_EXIT_OK && r < ranks; r++)
        for (size_t i = 0; i < all[r].count; i++)
            add_row(sum, &count, &all[r].list[i]);
    if (code == AIRY_EXIT_OK && world_first(world))
        code = print_rows(common, sum, count, world->place.size);
    free(mine);
    free(all);
    free(sum);
    return code;
}
