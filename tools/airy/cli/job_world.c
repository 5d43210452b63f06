/* A command that is a job, by several processes (world.h). */
#include <stdlib.h>

#include "cli/job_command.h"

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
    struct world *world = calloc(1, sizeof(*world));
    if (!world)
        return tool_fail(&p->common, "out of memory");
    int code = world_join(world, &p->common, wish);
    snprintf(stopped, sizeof(stopped), "airy %s: stopped before the first frame\n",
             p->common.command->name);
    if (world_alone(world)) /* ranks: the launcher ends them, and says so */
        tool_end_at_interrupt(stopped);
    else
        tool_clean_at_interrupt();
    p->ranks = world_ranks(world);
    p->world = world_alone(world) ? NULL : world;
    if (code == AIRY_EXIT_OK && !world->idle)
        code = p->world ? run_joined(p) : job_run(p);
    code = world_leave(world, code);
    p->ranks = (airy_job_ranks){.size = 0};
    p->world = NULL;
    free(world);
    return code;
}
