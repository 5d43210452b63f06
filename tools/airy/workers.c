#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    READY = 'r',
    GO = 'g',
    END = 'e',
    STEP_MS = 100, /* between two looks at how far they are */
    LINE = 1024
};

/* s; batches in flight take far less, so that who needs longer hangs in a driver or file system */
static const double PATIENCE = 60;

int workers_open(struct workers *workers, const struct common *common, size_t count)
{
    *workers = (struct workers){.common = common, .count = count, .failed = count};
    for (size_t i = 0; i < count; i++)
        workers->list[i] = (struct worker){.channel = -1, .answer = -1, .talk = -1, .ended = true};
    workers->board_file = memfd_create("airy-board", MFD_CLOEXEC);
    if (workers->board_file < 0 ||
        ftruncate(workers->board_file, sizeof(struct workers_board)) != 0)
        return tool_fail(common, "no shared memory for the worker processes: %s", strerror(errno));
    void *map = mmap(NULL, sizeof(struct workers_board), PROT_READ | PROT_WRITE, MAP_SHARED,
                     workers->board_file, 0);
    if (map == MAP_FAILED)
        return tool_fail(common, "no shared memory for the worker processes: %s", strerror(errno));
    workers->board = map;
    workers->board->size = sizeof(struct workers_board);
    workers->board->count = (uint32_t)count;
    return AIRY_EXIT_OK;
}

/* "airy WORD --part=... ARGUMENTS"; malloc'ed, its third word is `part`. */
static char **make_arguments(const struct common *common, const char *word, char *part)
{
    char **list = calloc((size_t)common->argc + 4, sizeof(*list));
    if (!list)
        return NULL;
    list[0] = (char *)"airy";
    list[1] = (char *)word;
    list[2] = part;
    memcpy(list + 3, common->argv, (size_t)common->argc * sizeof(*list));
    return list;
}

/* The worker's ends of channel and board keep their numbers; dup2 to itself lets them through. */
static int spawn(struct workers *workers, struct worker *worker, int channel, char **arguments)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, worker->answer, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, worker->talk, STDERR_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, channel, channel);
    if (!failed)
        failed =
            posix_spawn_file_actions_adddup2(&actions, workers->board_file, workers->board_file);
    if (!failed)
        failed = posix_spawn(&worker->pid, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static int start_one(struct workers *workers, size_t number, const char *word)
{
    struct worker *worker = &workers->list[number];
    int ends[2] = {-1, -1};
    char part[64];
    worker->answer = memfd_create("airy-answer", MFD_CLOEXEC);
    worker->talk = memfd_create("airy-talk", MFD_CLOEXEC);
    if (worker->answer < 0 || worker->talk < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return tool_fail(workers->common, "worker %zu of %zu cannot be started: %s", number + 1,
                         workers->count, strerror(errno));
    worker->channel = ends[0];
    snprintf(part, sizeof(part), "--part=%d:%d:%zu", ends[1], workers->board_file, number);
    char **arguments = make_arguments(workers->common, word, part);
    const int failed = arguments ? spawn(workers, worker, ends[1], arguments) : ENOMEM;
    free(arguments);
    close(ends[1]);
    if (failed)
        return tool_fail(workers->common, "worker %zu of %zu cannot be started: %s", number + 1,
                         workers->count, strerror(failed));
    worker->ended = false;
    return AIRY_EXIT_OK;
}

int workers_start(struct workers *workers, const char *word)
{
    int code = AIRY_EXIT_OK;
    (void)signal(SIGCHLD, SIG_DFL); /* where it is ignored, waitpid does not say how they ended */
    for (size_t i = 0; i < workers->count && code == AIRY_EXIT_OK; i++)
        code = start_one(workers, i, word);
    return code;
}

static void stop(struct workers *workers)
{
    atomic_store(&workers->board->stop, true);
    if (workers->stop_time == 0)
        workers->stop_time = tool_now();
}

static bool has_failed(const struct workers *workers, size_t number)
{
    const int status = workers->list[number].status;
    if (!WIFEXITED(status))
        return true;
    const int code = WEXITSTATUS(status);
    return code != AIRY_EXIT_OK && code != AIRY_EXIT_PARTLY &&
           !atomic_load(&workers->board->seats[number].stopped);
}

/* What made it fail is a frame. */
static bool met_bad_frame(const struct workers *workers, size_t number)
{
    return workers->board->seats[number].info.first_error[0] != 0;
}

/* The one to name, of those that have failed. */
static bool comes_first(const struct workers *workers, size_t number)
{
    const size_t failed = workers->failed;
    return failed == workers->count ||
           (met_bad_frame(workers, failed) && met_bad_frame(workers, number) &&
            workers->board->seats[number].info.first_bad <
                workers->board->seats[failed].info.first_bad);
}

/* Its end of the channel is closed: it has ended, or is about to. */
static void reap(struct workers *workers, size_t number)
{
    struct worker *worker = &workers->list[number];
    while (waitpid(worker->pid, &worker->status, 0) < 0 && errno == EINTR)
        continue;
    worker->ended = true;
    close(worker->channel);
    worker->channel = -1;
    if (has_failed(workers, number) && !workers->killed) {
        if (comes_first(workers, number))
            workers->failed = number;
        if (met_bad_frame(workers, number))
            atomic_store(&workers->board->next, workers->board->rows); /* nothing more to claim */
        else
            stop(workers);
    } else if (atomic_load(&workers->board->seats[number].stopped)) {
        stop(workers); /* by a signal of its own: without its part the rest is no result */
    }
}

/* The one that did not stop is the one to name. */
static void kill_all(struct workers *workers)
{
    for (size_t i = 0; i < workers->count; i++)
        if (!workers->list[i].ended)
            kill(workers->list[i].pid, SIGKILL);
    workers->killed = true;
}

/* Wait a moment for news; false when all have ended. */
static bool look(struct workers *workers)
{
    struct pollfd polled[WORKERS_MAX];
    size_t numbers[WORKERS_MAX], count = 0;
    for (size_t i = 0; i < workers->count; i++)
        if (!workers->list[i].ended) {
            polled[count] = (struct pollfd){.fd = workers->list[i].channel, .events = POLLIN};
            numbers[count++] = i;
        }
    if (!count)
        return false;
    const int news = poll(polled, (nfds_t)count, STEP_MS);
    for (size_t k = 0; news > 0 && k < count; k++) {
        char word;
        if (!polled[k].revents)
            continue;
        const ssize_t got = recv(polled[k].fd, &word, 1, MSG_DONTWAIT);
        if (got == 1 && word == READY)
            workers->list[numbers[k]].ready = true;
        else if (got == 1 && word == END)
            workers->last_end = tool_now();
        else if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            reap(workers, numbers[k]);
    }
    if (tool_interrupted())
        stop(workers);
    if (workers->stop_time > 0 && !workers->killed && tool_now() - workers->stop_time > PATIENCE)
        kill_all(workers);
    return true;
}

/* Closed channels tell those that wait for theirs. */
static void dismiss(struct workers *workers)
{
    for (size_t i = 0; i < workers->count; i++)
        if (!workers->list[i].ended)
            shutdown(workers->list[i].channel, SHUT_WR);
}

bool workers_ready(struct workers *workers)
{
    for (;;) {
        size_t ready = 0;
        for (size_t i = 0; i < workers->count; i++)
            ready += workers->list[i].ready && !workers->list[i].ended;
        if (workers->stop_time > 0)
            break;
        if (ready == workers->count)
            return true;
        if (!look(workers))
            break;
    }
    stop(workers);
    dismiss(workers);
    while (look(workers))
        continue;
    return false;
}

static size_t sum_done(const struct workers *workers)
{
    size_t sum = 0;
    for (size_t i = 0; i < workers->count; i++)
        sum += atomic_load(&workers->board->seats[i].done);
    return sum;
}

void workers_run(struct workers *workers, airy_progress_fn step, void *user, size_t first,
                 size_t total)
{
    const char go = GO;
    for (size_t i = 0; i < workers->count; i++) /* one that is gone is found by look() */
        (void)!send(workers->list[i].channel, &go, 1, MSG_NOSIGNAL);
    while (look(workers))
        if (!step(user, first + sum_done(workers), total))
            stop(workers);
}

static char *read_all(int file, size_t *size)
{
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        return NULL;
    char *text = malloc((size_t)status.st_size + 1);
    if (!text)
        return NULL;
    const ssize_t got = pread(file, text, (size_t)status.st_size, 0);
    *size = got > 0 ? (size_t)got : 0;
    text[*size] = 0;
    return text;
}

/* The last line that says something, without "airy COMMAND: ". */
static void last_line(char line[LINE], const char *text)
{
    const char *best = text;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strspn(at, " \t\r") < strcspn(at, "\n"))
            best = at;
    const size_t length = strcspn(best, "\n");
    if (strncmp(best, "airy ", 5) == 0) {
        const char *colon = memchr(best, ':', length);
        if (colon && colon[1] == ' ') {
            snprintf(line, LINE, "%.*s", (int)(length - (size_t)(colon + 2 - best)), colon + 2);
            return;
        }
    }
    snprintf(line, LINE, "%.*s", (int)length, best);
}

int workers_report(const struct workers *workers, const char *advice)
{
    if (workers->failed == workers->count)
        return AIRY_EXIT_OK;
    const struct worker *worker = &workers->list[workers->failed];
    const size_t number = workers->failed + 1;
    const char *gap = *advice ? "; " : "";
    if (WIFSIGNALED(worker->status)) {
        const int signal_number = WTERMSIG(worker->status);
        return tool_fail(workers->common,
                         "worker %zu of %zu (process %ld) was killed by signal %d (%s)%s%s", number,
                         workers->count, (long)worker->pid, signal_number, strsignal(signal_number),
                         gap, advice);
    }
    char line[LINE] = "";
    size_t size = 0;
    char *text = read_all(worker->talk, &size);
    if (text)
        last_line(line, text);
    free(text);
    if (!*line)
        return tool_fail(workers->common,
                         "worker %zu of %zu (process %ld) ended with exit code %d and said "
                         "nothing%s%s",
                         number, workers->count, (long)worker->pid, WEXITSTATUS(worker->status),
                         gap, advice);
    return tool_fail(workers->common, "%s", line);
}

char *workers_answer(const struct workers *workers, size_t number)
{
    size_t size = 0;
    return read_all(workers->list[number].answer, &size);
}

void workers_repeat_talk(const struct workers *workers)
{
    for (size_t i = 0; i < workers->count; i++) {
        size_t size = 0;
        char *text = read_all(workers->list[i].talk, &size);
        for (char *at = text; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
            fprintf(stderr, "worker %zu: %.*s\n", i + 1, (int)strcspn(at, "\n"), at);
        free(text);
    }
}

void workers_close(struct workers *workers)
{
    bool running = false;
    for (size_t i = 0; i < workers->count; i++)
        running |= !workers->list[i].ended;
    if (running)
        kill_all(workers);
    while (look(workers))
        continue;
    for (size_t i = 0; i < workers->count; i++) {
        struct worker *worker = &workers->list[i];
        const int files[] = {worker->channel, worker->answer, worker->talk};
        for (size_t k = 0; k < 3; k++)
            if (files[k] >= 0)
                close(files[k]);
    }
    if (workers->board)
        munmap(workers->board, sizeof(struct workers_board));
    if (workers->board_file >= 0)
        close(workers->board_file);
    workers->count = 0;
    workers->board = NULL;
}

int worker_attach(struct worker_link *link, const struct common *common, const char *text)
{
    int channel = -1, board = -1;
    unsigned number = 0;
    char rest;
    struct stat status;
    *link = (struct worker_link){.channel = -1};
    if (sscanf(text, "%d:%d:%u%c", &channel, &board, &number, &rest) != 3 || channel < 3 ||
        board < 3 || fstat(board, &status) != 0 ||
        (size_t)status.st_size != sizeof(struct workers_board))
        return tool_usage(common, "--part is how 'airy integrate --layout processes' starts its "
                                  "workers, not for use by hand");
    void *map =
        mmap(NULL, sizeof(struct workers_board), PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
    close(board);
    if (map == MAP_FAILED)
        return tool_fail(common, "no shared memory with the parent: %s", strerror(errno));
    link->board = map;
    if (link->board->size != sizeof(struct workers_board) || number >= link->board->count)
        return tool_fail(common, "the parent is another build of this program");
    fcntl(channel, F_SETFD, FD_CLOEXEC); /* not for a compiler that a driver starts */
    link->channel = channel;
    link->number = number;
    link->seat = &link->board->seats[number];
    return AIRY_EXIT_OK;
}

size_t worker_claim(size_t least, size_t total, size_t taken, size_t workers)
{
    enum { PIECES = 4, MOST = 32 }; /* of what is left, for each; batches */
    const size_t left = total > taken ? total - taken : 0, share = left / (PIECES * workers);
    return share < least ? least : share < MOST * least ? share : MOST * least;
}

bool worker_begin(struct worker_link *link)
{
    char word = READY;
    if (send(link->channel, &word, 1, MSG_NOSIGNAL) != 1)
        return false;
    ssize_t got;
    do
        got = recv(link->channel, &word, 1, 0);
    while (got < 0 && errno == EINTR && !tool_interrupted());
    return got == 1 && word == GO && !atomic_load(&link->board->stop);
}

void worker_end(struct worker_link *link)
{
    const char word = END;
    (void)!send(link->channel, &word, 1, MSG_NOSIGNAL);
}

bool worker_wanted(const struct worker_link *link)
{
    struct pollfd polled = {.fd = link->channel, .events = POLLIN};
    if (atomic_load(&link->board->stop))
        return false;
    /* The parent says no more, so that news can only be its end. */
    return poll(&polled, 1, 0) <= 0;
}

void worker_detach(struct worker_link *link)
{
    if (link->channel >= 0)
        close(link->channel);
    if (link->board)
        munmap(link->board, sizeof(struct workers_board));
    *link = (struct worker_link){.channel = -1};
}
