#include "core/profile.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "core/backend.h"

/* All samples of one name. */
struct record {
    char name[48];
    bool transfer;
    double bytes;
    double *ms;
    size_t count, capacity;
};

struct airy_profile {
    pthread_mutex_t lock;
    struct record *records;
    size_t count, capacity;
    uint64_t lost; /* samples for which there was no memory */
};

static _Thread_local unsigned paused; /* warm-ups that run in this thread, one inside another */

void airy_profile_pause(void)
{
    paused++;
}

void airy_profile_resume(void)
{
    paused--;
}

airy_profile *airy_profile_of(const airy_device *device)
{
    return paused ? NULL : device->profile;
}

airy_status airy_profile_create(airy_profile **profile)
{
    void *block;
    AIRY_TRY(airy_memory_calloc(&block, 1, sizeof(airy_profile), "the profile"));
    *profile = block;
    pthread_mutex_init(&(*profile)->lock, NULL);
    return AIRY_OK;
}

void airy_profile_destroy(airy_profile **profile)
{
    airy_profile *p = *profile;
    if (!p)
        return;
    for (size_t i = 0; i < p->count; i++)
        free(p->records[i].ms);
    free(p->records);
    pthread_mutex_destroy(&p->lock);
    free(p);
    *profile = NULL;
}

/* Room for one more element; false without memory. */
static bool grow(void **data, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    const size_t more = *capacity ? 2 * *capacity : 16;
    void *p = realloc(*data, more * size);
    if (!p)
        return false;
    *data = p;
    *capacity = more;
    return true;
}

static struct record *find_record(airy_profile *p, const char *name, bool transfer)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->records[i].transfer == transfer &&
            strncmp(p->records[i].name, name, sizeof(p->records[i].name) - 1) == 0)
            return &p->records[i];
    void *data = p->records;
    if (!grow(&data, &p->capacity, p->count, sizeof(*p->records)))
        return NULL;
    p->records = data;
    struct record *r = &p->records[p->count++];
    memset(r, 0, sizeof(*r));
    memcpy(r->name, name, strnlen(name, sizeof(r->name) - 1));
    r->transfer = transfer;
    return r;
}

void airy_profile_add(airy_profile *profile, const char *name, bool transfer, double ms,
                      double bytes)
{
    if (!profile)
        return;
    pthread_mutex_lock(&profile->lock);
    struct record *r = find_record(profile, name, transfer);
    void *data = r ? r->ms : NULL;
    const bool ok = r && grow(&data, &r->capacity, r->count, sizeof(double));
    if (ok) {
        r->ms = data;
        r->ms[r->count++] = ms;
        r->bytes += bytes;
    } else {
        profile->lost++;
    }
    pthread_mutex_unlock(&profile->lock);
    if (!ok)
        airy_log(AIRY_LOG_WARN, "no memory for the profile's sample of %s", name);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the samples, which have no order of their own. */
static void summarize(airy_profile_row *row, const struct record *r)
{
    memset(row, 0, sizeof(*row));
    memcpy(row->name, r->name, sizeof(row->name));
    row->transfer = r->transfer;
    row->count = r->count;
    row->bytes = r->bytes;
    if (r->count == 0)
        return;
    qsort(r->ms, r->count, sizeof(double), compare_doubles);
    const size_t n = r->count;
    for (size_t i = 0; i < n; i++)
        row->total += r->ms[i];
    row->min = r->ms[0];
    row->max = r->ms[n - 1];
    row->median = 0.5 * (r->ms[(n - 1) / 2] + r->ms[n / 2]);
    row->mean = row->total / (double)n;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (r->ms[i] - row->mean) * (r->ms[i] - row->mean);
    row->std = sqrt(sum / (double)n);
}

static int compare_rows(const void *a, const void *b)
{
    const airy_profile_row *x = a, *y = b;
    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

airy_status airy_profile_rows(const airy_profile *profile, airy_profile_row **rows, size_t *count)
{
    airy_profile *p = (airy_profile *)profile; /* the lock and the order of samples are not part
                                                  of its value */
    void *block;
    if (p)
        pthread_mutex_lock(&p->lock);
    const size_t n = p ? p->count : 0;
    const airy_status status =
        airy_memory_calloc(&block, n, sizeof(airy_profile_row), "the profile's rows");
    if (status == AIRY_OK) {
        airy_profile_row *out = block;
        for (size_t i = 0; i < n; i++)
            summarize(&out[i], &p->records[i]);
        qsort(out, n, sizeof(*out), compare_rows);
        *rows = out;
        *count = n;
    }
    if (p)
        pthread_mutex_unlock(&p->lock);
    return status;
}

uint64_t airy_profile_lost(airy_profile *profile)
{
    if (!profile)
        return 0;
    pthread_mutex_lock(&profile->lock);
    const uint64_t lost = profile->lost;
    pthread_mutex_unlock(&profile->lock);
    return lost;
}

airy_status airy_profile_get(const airy_device *device, airy_profile_row **rows, size_t *count)
{
    AIRY_FAIL_IF(!device || !rows || !count, AIRY_ERR_PARAM, "airy_profile_get: argument is NULL");
    if (device->profile && device->backend->profile_settle)
        device->backend->profile_settle(device);
    return airy_profile_rows(device->profile, rows, count);
}

void airy_profile_free(airy_profile_row *rows)
{
    free(rows);
}

void airy_profile_loop_few(airy_device *device, const char *name, double bytes, unsigned threads,
                           size_t count, airy_pool_fn fn, void *arg)
{
    airy_profile *profile = airy_profile_of(device);
    const uint64_t start = profile ? airy_clock_ns() : 0;
    airy_pool_run_few(device->pool, threads, count, fn, arg);
    if (profile)
        airy_profile_add(profile, name, false, (double)(airy_clock_ns() - start) * 1e-6, bytes);
}

void airy_profile_loop(airy_device *device, const char *name, double bytes, size_t count,
                       airy_pool_fn fn, void *arg)
{
    airy_profile_loop_few(device, name, bytes, airy_pool_size(device->pool), count, fn, arg);
}
