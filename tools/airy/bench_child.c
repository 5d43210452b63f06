/* A program that a bench starts, and the JSON that it prints. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* Ctrl-C reaches the child as well; a signal to this process alone is handed on. */
static int wait_for(pid_t pid)
{
    int status = 0;
    bool told = false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        if (tool_interrupted() && !told) {
            kill(pid, SIGTERM);
            told = true;
        }
    return status;
}

json_t *bench_child(const char *program, int errors, char *const words[], struct bench_ended *ended)
{
    const int output = memfd_create("airy-answer", MFD_CLOEXEC);
    pid_t pid = 0;
    *ended = (struct bench_ended){.asked = tool_now()};
    ended->failed = output < 0 ? errno : tool_spawn(&pid, output, errors, program, words);
    if (!ended->failed)
        ended->status = wait_for(pid);
    ended->wall = tool_now() - ended->asked;
    json_t *answer = NULL;
    if (!ended->failed && WIFEXITED(ended->status) && lseek(output, 0, SEEK_SET) == 0)
        answer = json_loadfd(output, 0, NULL);
    if (output >= 0)
        close(output);
    return answer;
}
