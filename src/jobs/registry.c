/* The jobs of this build, in the order in which they are listed. */
#include <string.h>

#include "base/word.h"
#include "jobs/job.h"

#define JOBS(JOB)                                                                                  \
    JOB(simulate_kernel)                                                                           \
    JOB(simulate_diracs)                                                                           \
    JOB(simulate_oct)                                                                              \
    JOB(simulate_sky)                                                                              \
    JOB(simulate_diffraction)                                                                      \
    JOB(reduce)                                                                                    \
    JOB(convert)                                                                                   \
    JOB(compress)                                                                                  \
    JOB(decompress)                                                                                \
    JOB(densify)                                                                                   \
    JOB(integrate)                                                                                 \
    JOB(calibrate)                                                                                 \
    JOB(peaks)                                                                                     \
    JOB(merge)                                                                                     \
    JOB(diff)                                                                                      \
    JOB(stats)                                                                                     \
    JOB(clip)                                                                                      \
    JOB(threshold)                                                                                 \
    JOB(label)                                                                                     \
    JOB(sources)                                                                                   \
    JOB(sky)                                                                                       \
    JOB(convolve)                                                                                  \
    JOB(blur)                                                                                      \
    JOB(filter)                                                                                    \
    JOB(oct)                                                                                       \
    JOB(oct_calibrate)                                                                             \
    JOB(stream)
#define DECLARE(name) extern const struct airy_job_kind airy_job_##name;
#define LIST(name)    &airy_job_##name,
JOBS(DECLARE)

static const struct airy_job_kind *const kinds[] = {JOBS(LIST)};
enum { COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* NULL after AIRY_ERR_NOT_FOUND was reported. */
static const struct airy_job_kind *find_kind(const char *name)
{
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = kinds[i]->name;
        if (strcmp(names[i], name) == 0)
            return kinds[i];
    }
    (void)airy_unknown_word("job", name, names, COUNT);
    (void)airy_fail_as(AIRY_ERR_NOT_FOUND);
    return NULL;
}

static airy_status check_ranks(const airy_job_ranks *ranks)
{
    if (!ranks || ranks->size <= 1)
        return AIRY_OK;
    AIRY_FAIL_IF(ranks->rank < 0 || ranks->rank >= ranks->size, AIRY_ERR_PARAM,
                 "airy_job_create: rank %d of %d, expected 0 to %d", ranks->rank, ranks->size,
                 ranks->size - 1);
    AIRY_FAIL_IF(ranks->local_rank < 0 || ranks->local_rank >= ranks->local_size, AIRY_ERR_PARAM,
                 "airy_job_create: local rank %d of %d on this machine, numbered from 0",
                 ranks->local_rank, ranks->local_size);
    AIRY_FAIL_IF(!ranks->add || !ranks->gather, AIRY_ERR_PARAM,
                 "airy_job_create: add or gather of the ranks is NULL");
    AIRY_FAIL_IF(ranks->counters < AIRY_JOB_RANKS_COUNTERS, AIRY_ERR_PARAM,
                 "airy_job_create: ranks with %zu counters, expected at least %d", ranks->counters,
                 AIRY_JOB_RANKS_COUNTERS);
    return AIRY_OK;
}

airy_status airy_job_create(airy_job **job, const char *name, airy_context *context,
                            const airy_job_hooks *hooks)
{
    AIRY_FAIL_IF(!job || !name, AIRY_ERR_PARAM, "airy_job_create: job or name is NULL");
    const struct airy_job_kind *kind = find_kind(name);
    if (!kind)
        return AIRY_ERR_NOT_FOUND;
    AIRY_TRY(check_ranks(hooks ? hooks->ranks : NULL));
    return airy_job_make(job, kind, context, hooks);
}

size_t airy_job_count(void)
{
    return COUNT;
}

static void describe(airy_job_info *info, const struct airy_job_kind *kind)
{
    *info = (airy_job_info){.name = kind->name, .summary = kind->summary, .details = kind->details};
    const struct airy_job_group *group;
    while (airy_job_row_at(kind, info->parameters, &group))
        info->parameters++;
    while (kind->results[info->results].name)
        info->results++;
}

airy_status airy_job_at(airy_job_info *info, size_t index)
{
    AIRY_FAIL_IF(!info, AIRY_ERR_PARAM, "airy_job_at: info is NULL");
    AIRY_FAIL_IF(index >= (size_t)COUNT, AIRY_ERR_PARAM, "job %zu, there are %zu", index,
                 (size_t)COUNT);
    describe(info, kinds[index]);
    return AIRY_OK;
}

airy_status airy_job_describe(airy_job_info *info, const char *job)
{
    AIRY_FAIL_IF(!info || !job, AIRY_ERR_PARAM, "airy_job_describe: info or job is NULL");
    const struct airy_job_kind *kind = find_kind(job);
    if (!kind)
        return AIRY_ERR_NOT_FOUND;
    describe(info, kind);
    return AIRY_OK;
}

const airy_parameter *airy_job_parameter_at(const char *job, size_t index)
{
    const struct airy_job_kind *kind = job ? find_kind(job) : NULL;
    const struct airy_job_group *group;
    const struct airy_job_row *row = kind ? airy_job_row_at(kind, index, &group) : NULL;
    return row ? &row->p : NULL;
}

const airy_job_result *airy_job_result_at(const char *job, size_t index)
{
    const struct airy_job_kind *kind = job ? find_kind(job) : NULL;
    for (size_t i = 0; kind && kind->results[i].name; i++)
        if (i == index)
            return &kind->results[i];
    return NULL;
}
