/* Which files of the command line a job reads and writes. */
#include <string.h>

#include "cli/job_command.h"

const airy_parameter *job_parameter(const struct job_params *p, const char *name)
{
    const airy_parameter *parameter;
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->common.command->job, i)); i++)
        if (strcmp(parameter->name, name) == 0)
            return parameter;
    return NULL;
}

const airy_parameter *job_role(const struct job_params *p, airy_parameter_role role)
{
    const airy_parameter *parameter;
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->common.command->job, i)); i++)
        if (parameter->role == role)
            return parameter;
    return NULL;
}

const airy_parameter *job_argument(const struct job_params *p, size_t place)
{
    const airy_parameter *parameter, *input = NULL;
    if (job_is_written(&p->common, place))
        return job_role(p, AIRY_ROLE_WRITTEN);
    for (size_t i = 0; (parameter = airy_job_parameter_at(p->common.command->job, i)); i++)
        if (parameter->role == AIRY_ROLE_INPUT) {
            input = parameter;
            if (place-- == 0 || parameter->list)
                break;
        }
    return input;
}

bool job_is_written(const struct common *c, size_t place)
{
    return c->command->writes && place + 1 >= c->command->writes;
}

/* An argument goes to the first of the outputs. */
const char *job_output(const struct job_params *p, const char *parameter)
{
    const struct common *c = &p->common;
    const airy_parameter *first = job_role(p, AIRY_ROLE_WRITTEN);
    const size_t last = c->inputs.count;
    const bool is_first = first && strcmp(first->name, parameter) == 0;
    const char *argument =
        is_first && last && job_is_written(c, last - 1) ? c->inputs.items[last - 1] : NULL;
    return opt_given(c, parameter, argument);
}

const char *job_first_output(const struct job_params *p)
{
    const airy_parameter *written = job_role(p, AIRY_ROLE_WRITTEN);
    return written ? job_output(p, written->name) : NULL;
}
