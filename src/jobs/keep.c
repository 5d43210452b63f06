/* Outputs that would replace an input. */
#include <stdlib.h>

#include "io/file/format.h"
#include "jobs/job.h"

/* The path that a parameter was given, malloc'ed; NULL: none, an array or a list. */
static airy_status path_of(const airy_job *job, size_t row, char **path)
{
    const struct airy_job_row *r = job->rows[row];
    *path = NULL;
    return r->p.type != AIRY_PARAMETER_PATH || r->p.list ||
                   job->origins[row] == AIRY_ORIGIN_DEFAULT ||
                   airy_value_is_array(r, job->fields[row])
               ? AIRY_OK
               : airy_value_text(r, job->fields[row], path);
}

static airy_status keep_row(const airy_job *job, size_t row, const char *output)
{
    const airy_parameter *p = &job->rows[row]->p;
    const struct airy_job_list *list = job->fields[row];
    char *path = NULL;
    if (p->type != AIRY_PARAMETER_PATH || p->role == AIRY_ROLE_WRITTEN)
        return AIRY_OK;
    for (size_t i = 0; p->list && i < list->count; i++)
        AIRY_TRY(airy_file_keep(list->items[i], output));
    AIRY_TRY(path_of(job, row, &path));
    const airy_status status = path ? airy_file_keep(path, output) : AIRY_OK;
    free(path);
    return status;
}

airy_status airy_job_keep_inputs(const airy_job *job, const char *output)
{
    for (size_t i = 0; i < job->row_count; i++)
        AIRY_TRY(keep_row(job, i, output));
    return AIRY_OK;
}

/* An output may be FILE::DATASET. */
static airy_status keep_output(const airy_job *job, const char *output)
{
    char *file = NULL, *dataset = NULL;
    AIRY_TRY(airy_stack_split(&file, &dataset, output));
    const airy_status status = airy_job_keep_inputs(job, file);
    free(file);
    free(dataset);
    return status;
}

airy_status airy_job_keep_outputs(const airy_job *job)
{
    for (size_t i = 0; i < job->row_count; i++) {
        char *path = NULL;
        if (job->rows[i]->p.role != AIRY_ROLE_WRITTEN)
            continue;
        AIRY_TRY(path_of(job, i, &path));
        const airy_status status = path ? keep_output(job, path) : AIRY_OK;
        free(path);
        AIRY_TRY(status);
    }
    return AIRY_OK;
}
