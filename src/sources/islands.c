/* Runs of each island, from the label plane. Rows go to threads. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "core/profile.h"
#include "sources/sources_parts.h"

struct labelled_run {
    uint32_t label;
    struct airy_source_run run;
};

struct job {
    const struct airy_source_planes *planes;
    uint32_t *row_first;      /* [height + 1] */
    struct labelled_run *run; /* NULL: count them */
};

/* Runs of one row, to `run` where it is there. */
static uint32_t walk_row(struct labelled_run *run, const uint32_t *label, uint32_t row,
                         size_t width)
{
    uint32_t n = 0;
    for (size_t x = 0; x < width;) {
        const uint32_t value = label[x];
        const size_t begin = x;
        while (x < width && label[x] == value)
            x++;
        if (value == 0)
            continue;
        if (run)
            run[n] = (struct labelled_run){value, {row, (uint32_t)begin, (uint32_t)x}};
        n++;
    }
    return n;
}

static void row_job(void *arg, size_t row, unsigned worker)
{
    (void)worker;
    const struct job *job = arg;
    const size_t width = job->planes->width;
    const uint32_t *label = job->planes->label + row * width;
    if (job->run)
        (void)walk_row(job->run + job->row_first[row], label, (uint32_t)row, width);
    else
        job->row_first[row + 1] = walk_row(NULL, label, (uint32_t)row, width);
}

/* Sort the runs by label: those of a label stay in raster order. */
static void sort_runs(struct airy_islands *islands, const struct labelled_run *run, size_t n)
{
    uint32_t *first = islands->first, sum = 0;
    for (size_t i = 0; i < n; i++) {
        first[run[i].label - 1]++;
        islands->pixels[run[i].label - 1] += run[i].run.end - run[i].run.begin;
    }
    for (size_t i = 0; i <= islands->count; i++) {
        const uint32_t here = first[i];
        first[i] = sum;
        sum += here;
    }
    /* Each start moves on to the next one while its runs are put down. */
    for (size_t i = 0; i < n; i++)
        islands->run[first[run[i].label - 1]++] = run[i].run;
    for (size_t i = islands->count; i > 0; i--)
        first[i] = first[i - 1];
    first[0] = 0;
}

static int compare_keys(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

static airy_status sort_sizes(struct airy_islands *islands)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, islands->count, sizeof(uint64_t), "sizes of islands"));
    uint64_t *key = block;
    for (size_t i = 0; i < islands->count; i++)
        key[i] = (uint64_t)islands->pixels[i] << 32 | (UINT32_MAX - (uint32_t)i);
    qsort(key, islands->count, sizeof(*key), compare_keys);
    for (size_t i = 0; i < islands->count; i++)
        islands->by_size[i] = UINT32_MAX - (uint32_t)key[i];
    free(key);
    return AIRY_OK;
}

static airy_status make(struct airy_islands *islands, struct job *job, airy_device *device)
{
    const size_t height = job->planes->height;
    const double bytes = (double)(height * job->planes->width) * sizeof(uint32_t);
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, height + 1, sizeof(uint32_t), "rows of islands"));
    job->row_first = block;
    airy_profile_loop(device, "sources_count", bytes, height, row_job, job);
    for (size_t row = 0; row < height; row++)
        job->row_first[row + 1] += job->row_first[row];
    const size_t n = job->row_first[height];
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(*job->run), "runs of islands"));
    job->run = block;
    airy_profile_loop(device, "sources_runs", bytes, height, row_job, job);
    AIRY_TRY(airy_memory_calloc(&block, n, sizeof(*islands->run), "runs of islands"));
    islands->run = block;
    AIRY_TRY(airy_memory_calloc(&block, islands->count + 1, sizeof(uint32_t), "islands"));
    islands->first = block;
    AIRY_TRY(airy_memory_calloc(&block, islands->count, sizeof(uint32_t), "islands"));
    islands->pixels = block;
    AIRY_TRY(airy_memory_calloc(&block, islands->count, sizeof(uint32_t), "islands"));
    islands->by_size = block;
    sort_runs(islands, job->run, n);
    return sort_sizes(islands);
}

airy_status airy_islands_make(struct airy_islands *islands, airy_device *device,
                              const struct airy_source_planes *planes, size_t count)
{
    struct job job = {.planes = planes};
    *islands = (struct airy_islands){.count = count};
    const airy_status status = make(islands, &job, device);
    free(job.row_first);
    free(job.run);
    if (status != AIRY_OK)
        airy_islands_free(islands);
    return status;
}

void airy_islands_free(struct airy_islands *islands)
{
    free(islands->run);
    free(islands->first);
    free(islands->pixels);
    free(islands->by_size);
    *islands = (struct airy_islands){.count = 0};
}
