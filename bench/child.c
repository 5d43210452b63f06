/* Programs that a bench starts, and the JSON that they print. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

void bench_words_add(struct bench_words *words, const char *format, ...)
{
    va_list args;
    char *word = NULL;
    va_start(args, format);
    const bool made = vasprintf(&word, format, args) >= 0;
    va_end(args);
    if (made && opt_list_add(&words->list, word))
        return;
    words->lost = true;
    free(made ? word : NULL);
}

void bench_words_add_given(struct bench_words *words, const struct common *common)
{
    for (size_t i = 0; i + 1 < common->given.count; i += 2) {
        const char *name = common->given.items[i], *argument = common->given.items[i + 1];
        if (opt_section(common->command, name))
            bench_words_add(words, "--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
    }
}

void bench_words_free(struct bench_words *words)
{
    for (size_t i = 0; i < words->list.count; i++)
        free((char *)words->list.items[i]);
    free(words->list.items);
}

int bench_child_start(struct bench_child *child, const char *program, int errors,
                      const struct bench_words *words)
{
    const size_t count = words->list.count;
    char **list = words->lost ? NULL : calloc(count + 1, sizeof(*list)); /* NULL behind the last */
    if (!list)
        return ENOMEM;
    memcpy(list, words->list.items, count * sizeof(*list));
    *child = (struct bench_child){.output = memfd_create("airy-answer", MFD_CLOEXEC),
                                  .asked = tool_now()};
    const int failed =
        child->output < 0 ? errno : tool_spawn(&child->pid, child->output, errors, program, list);
    if (failed && child->output >= 0)
        close(child->output);
    free(list);
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
    json_t *answer = *status == 0 && lseek(child->output, 0, SEEK_SET) == 0
                         ? json_loadfd(child->output, 0, NULL)
                         : NULL;
    close(child->output);
    return answer;
}
