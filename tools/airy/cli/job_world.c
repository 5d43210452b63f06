/* A command that is a job, by several processes (world.h). */
#include <stdlib.h>
#include <string.h>

#include "airy/result.h"
#include "cli/job_command.h"

/*
 * The file of --config must be none of those that an earlier result shows, which go with it. Those that
 * parameters name are looked at by the job.
 */
static int keep_config(const struct job_params *p)
{
    const char *output = job_output(p, "output"), *slash = output ? strrchr(output, '/') : NULL;
    const int folder = slash ? (int)(slash - output) + 1 : 0;
    airy_result *result = NULL;
    char *text = NULL, *rest = NULL, name[4096];
    int code = AIRY_EXIT_OK;
    if (!p->common.config || !p->common.force || !output ||
        airy_result_open(&result, output) != AIRY_OK)
        return code;
    if (airy_result_get_text(result, "files", &text) != AIRY_OK)
        text = NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line && code == AIRY_EXIT_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        snprintf(name, sizeof(name), "%.*s%s", folder, output, line);
        code = tool_keep_inputs(&p->common, name);
    }
    free(text);
    airy_result_close(&result);
    return code;
}

/* What several ranks cannot do was not known before. */
static int run_joined(struct job_params *p)
{
    char line[TOOL_SHOWN + 128], shown[TOOL_SHOWN];
    const char *output = job_output(p, "output");
    if (airy_job_check(p->job) != AIRY_OK)
        return job_refused(p);
    /* A launcher kills its ranks a second after the signal, which may come amid a long batch. */
    snprintf(line, sizeof(line),
             "airy %s: stopping; the same command with --resume continues %s.partial\n",
             p->common.command->name, tool_shown(shown, output ? output : ""));
    p->at_interrupt = p->ranks.rank == 0 ? line : NULL;
    const int code = job_run(p);
    tool_at_interrupt(NULL);
    p->at_interrupt = NULL;
    return code;
}

int job_run_ranks(void *params, enum world_wish wish)
{
    static char stopped[128];
    struct job_params *p = params;
    struct world world;
    int code = world_join(&world, &p->common, wish);
    snprintf(stopped, sizeof(stopped), "airy %s: cancelled before the first frame\n",
             p->common.command->name);
    if (world_alone(&world)) /* ranks: the launcher ends them, and says so */
        tool_end_at_interrupt(stopped);
    else
        tool_clean_at_interrupt();
    p->world_is_asked = true;
    p->ranks = world_ranks(&world);
    p->world = world_alone(&world) ? NULL : &world;
    if (code == AIRY_EXIT_OK && !world.idle)
        code = keep_config(p);
    if (code == AIRY_EXIT_OK && !world.idle)
        code = p->world ? run_joined(p) : job_run(p);
    code = world_leave(&world, code);
    p->ranks = (airy_job_ranks){.size = 0};
    p->world = NULL;
    return code;
}
