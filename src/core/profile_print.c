/* The profile of a device as a table. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/print_text.h"
#include "core/objects.h"

static void print_part(FILE *file, const airy_profile_row *rows, size_t count, bool transfer,
                       double total)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const airy_profile_row *r = &rows[i];
        if (r->transfer != transfer)
            continue;
        if (!any)
            fprintf(file, "%-32s %8s %10s %10s %10s %10s %10s %8s %7s\n",
                    transfer ? "copy" : "kernel", "count", "min ms", "median ms", "max ms",
                    "mean ms", "std ms", "GB/s", "share");
        any = true;
        char rate[32] = "-";
        if (r->bytes > 0 && r->total > 0)
            snprintf(rate, sizeof(rate), "%.2f", r->bytes / r->total * 1e-6);
        fprintf(file, "%-32s %8llu %10.4f %10.4f %10.4f %10.4f %10.4f %8s %6.1f%%\n", r->name,
                (unsigned long long)r->count, r->min, r->median, r->max, r->mean, r->std, rate,
                total > 0 ? 100 * r->total / total : 0.0);
    }
}

struct table {
    const airy_device *device;
    airy_profile_row *rows;
    size_t count;
};

static void print_table(FILE *file, const void *user)
{
    const struct table *table = user;
    const airy_device *device = table->device;
    const airy_profile_row *rows = table->rows;
    const size_t count = table->count;
    double kernels = 0, copies = 0;
    for (size_t i = 0; i < count; i++)
        *(rows[i].transfer ? &copies : &kernels) += rows[i].total;
    print_part(file, rows, count, false, kernels + copies);
    print_part(file, rows, count, true, kernels + copies);
    fprintf(file, "total on %s: kernels %.3f ms, copies %.3f ms, together %.3f ms\n",
            device->info.spec, kernels, copies, kernels + copies);
    airy_start_info start;
    if (airy_device_start(device, &start) != AIRY_OK)
        start = (airy_start_info){0};
    if (start.context_seconds > 0)
        fprintf(file, "start: context %.1f ms, %u programs in %.1f ms, %u of them compiled\n",
                1e3 * start.context_seconds, start.programs, 1e3 * start.programs_seconds,
                start.compiled);
    const uint64_t lost = airy_profile_lost(device->profile);
    if (lost)
        fprintf(file, "%llu samples are missing: there was no memory for them\n",
                (unsigned long long)lost);
}

airy_status airy_profile_format(const airy_device *device, char **text)
{
    struct table table = {.device = device};
    AIRY_FAIL_IF(!device || !text, AIRY_ERR_PARAM, "airy_profile_format: argument is NULL");
    AIRY_TRY(airy_profile_get(device, &table.rows, &table.count));
    const airy_status status = airy_print_text(text, print_table, &table);
    free(table.rows);
    return status;
}
