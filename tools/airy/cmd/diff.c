/* airy diff: two results or images, element by element. */
#include <string.h>

#include "cli/job_command.h"

enum { DIFFERS = 1, TROUBLE = 2 }; /* exit codes, as diff(1) has them */

static int run_diff(void *params)
{
    const struct job_params *p = params;
    const char *equal = "";
    int code = job_run(params);
    if (code == AIRY_EXIT_OK)
        code = tool_flush("diff");
    if (code != AIRY_EXIT_OK || airy_job_get_text(p->job, "equal", &equal) != AIRY_OK)
        return TROUBLE;
    return strcmp(equal, "true") == 0 ? AIRY_EXIT_OK : DIFFERS;
}

const struct command cmd_diff = {
    .name = "diff",
    .usage = "A B [options]",
    .details = "The exit code is 0 when all is equal within the tolerance, 1 when not, and 2 when "
               "that cannot be found out: a file or a dataset is missing or cannot be read.",
    .examples = "  airy diff cpu.h5 gpu.h5 --rtol 1e-5\n"
                "  airy diff a.npy b.npy\n",
    .job = "diff",
    .prints_messages = true,
    .params_size = sizeof(struct job_params),
    .check = job_check,
    .run = run_diff,
    .min_inputs = 2,
    .max_inputs = 2,
};
