/* Programs that a bench starts, and the JSON that they print. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

int bench_child_start(struct bench_child *child, const char *program, int errors,
                      char *const words[])
{
    *child = (struct bench_child){.output = memfd_create("airy-answer", MFD_CLOEXEC),
                                  .asked = tool_now()};
    const int failed =
        child->output < 0 ? errno : tool_spawn(&child->pid, child->output, errors, program, words);
    if (failed && child->output >= 0)
        close(child->output);
    return failed;
}

/* Ctrl-C reaches the child as well; a signal to this process alone is handed on. */
static int wait_for(pid_t pid)
{
    int status = 0;
    bool told = false;
    do
        if (tool_interrupted() && !told) {
            kill(pid, SIGTERM);
            told = true;
        }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR);
    return status;
}

json_t *bench_child_end(const struct bench_child *child, int *status)
{
    *status = wait_for(child->pid);
    json_t *answer = WIFEXITED(*status) && lseek(child->output, 0, SEEK_SET) == 0
                         ? json_loadfd(child->output, 0, NULL)
                         : NULL;
    close(child->output);
    return answer;
}
