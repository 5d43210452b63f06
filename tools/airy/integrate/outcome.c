/* What all ways of an integration share: the output's place and memory, and how it fails or stops. */
#include <string.h>

#include "airy/result.h"
#include "integrate/integrate.h"

bool integrate_is_hdf5_name(const char *path)
{
    return tool_has_suffix(path, ".h5") || tool_has_suffix(path, ".hdf5") ||
           tool_has_suffix(path, ".nxs");
}

int integrate_check_place(const struct integrate_params *p, const char *output)
{
    const struct common *common = &p->geometry.common;
    char partial[4200];
    snprintf(partial, sizeof(partial), "%s.partial", output);
    if (!common->force && tool_exists(output))
        return tool_exists_already(common, output);
    if (p->resume || !tool_exists(partial))
        return AIRY_EXIT_OK;
    if (airy_result_is_written(partial))
        return tool_fail(common,
                         "'%s' is being written by another process; wait until that has "
                         "ended, or end it",
                         partial);
    airy_result *result = NULL;
    airy_result_info info;
    const bool ours = airy_result_open(&result, partial) == AIRY_OK &&
                      airy_result_get_info(result, &info) == AIRY_OK &&
                      (info.kind == AIRY_RESULT_PATTERNS || info.kind == AIRY_RESULT_SPARSE);
    airy_result_close(&result);
    if (!ours)
        return tool_fail(common,
                         "'%s' is there and is no partial result; move it, or name another output",
                         partial);
    if (!common->force)
        return tool_fail(
            common,
            "'%s' is there from an interrupted run; --resume continues it, --force starts anew",
            partial);
    return AIRY_EXIT_OK;
}

int integrate_check_memory(const struct integration *job)
{
    airy_run_info plan;
    const airy_status status =
        airy_integrate_plan(&plan, job->stack, job->team.integrators, job->team.count, &job->run);
    if (status != AIRY_OK)
        return tool_failed(job->common, status);
    const uint64_t limit = job->common->memory_limit;
    if (limit && plan.host_bytes > limit)
        return tool_fail(job->common,
                         "--memory-limit %llu bytes: %zu slots of %zu frames need %llu bytes of "
                         "the host; lower --batch or raise "
                         "the limit",
                         (unsigned long long)limit, plan.slots, plan.batch,
                         (unsigned long long)plan.host_bytes);
    return AIRY_EXIT_OK;
}

int integrate_stopped(const struct integration *job, size_t done)
{
    if (done == 0 && !job->run.resume)
        return tool_fail(job->common, "stopped before the first frame");
    return tool_fail(
        job->common,
        "stopped after %zu of %zu frames; the same command with --resume continues %s.partial",
        done, job->frames, job->params->output);
}
