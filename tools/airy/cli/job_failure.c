/* How a command that is a job shows that its values are refused, or that its run has failed. */
#include <string.h>

#include "cli/job_command.h"

/* Wrong use, with what to do about it. Exit code. */
static int refuse(const struct job_params *p, const airy_error *error)
{
    const struct common *common = &p->common;
    const char *output = job_first_output(p);
    char hint[AIRY_HINT_TEXT];
    if (strcmp(error->name, "output") == 0 && error->status == AIRY_ERR_UNSUPPORTED &&
        error->hint != AIRY_HINT_FRAME && output && tool_has_suffix(output, ".png")) {
        tool_fail(common, "%s, and 'airy view' draws pictures", error->text);
        return AIRY_EXIT_USAGE;
    }
    const size_t used = tool_hint(hint, sizeof(hint), common, error->hint);
    return tool_usage(common, "%s%s%s", error->text, used ? "; " : "", hint);
}

int job_refused(const struct job_params *p)
{
    airy_error error;
    airy_error_get(&error);
    tool_name_options(&p->common, &error);
    return refuse(p, &error);
}

int job_failed(const struct job_params *p, const char *output, airy_status status)
{
    const struct common *common = &p->common;
    char sentence[AIRY_ERROR_TEXT];
    airy_error error;
    airy_error_get(&error);
    if (status == AIRY_ERR_CANCELLED && error.hint != AIRY_HINT_INTERRUPTED &&
        error.hint != AIRY_HINT_STATED)
        return tool_fail(common, "%s, %s; start again", error.text, tool_left(common, output));
    tool_name_options(common, &error);
    snprintf(sentence, sizeof(sentence), "%s", error.text);
    tool_name_values(common, error.text, sizeof(error.text), sentence);
    error.status = status;
    /* A value that does not suit the input, as a format that does not hold the result, is wrong use. */
    const bool wrong_use = status == AIRY_ERR_UNSUPPORTED &&
                           error.subject == AIRY_SUBJECT_PARAMETER,
               lacks = error.hint >= AIRY_HINT_GIVE_GEOMETRY &&
                       error.hint <= AIRY_HINT_GIVE_DETECTOR;
    return wrong_use || lacks ? refuse(p, &error) : tool_failed_as(common, &error);
}
