#include "cli/tool.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "airy/file.h"
#include "airy/tune.h"

extern char **environ;

int tool_check_list(const struct common *common)
{
    return common->inputs.count || common->given.count > 2
               ? tool_usage(common, "--list prints the list and stops: leave out all else")
               : AIRY_EXIT_OK;
}

airy_status tool_device(const struct common *common, airy_device **device)
{
    const airy_device_params params = {.threads = (uint32_t)common->threads,
                                       .profile = common->profile,
                                       .memory_limit = common->memory_limit,
                                       .background = true};
    return airy_device_create(device, common->device, &params);
}

/* A child of vfork() has its parent's memory: no handler may run in it. */
static void drop_handlers(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(signals[i], SIG_DFL);
}

int tool_spawn(pid_t *pid, int output, int errors, const char *program, char *const words[])
{
    const pid_t parent = getpid();
    /* The parent waits until the child has exec'ed, so that nothing is copied and errno is its. */
    volatile int failed = 0;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const pid_t child = vfork();
    if (child == 0) {
        drop_handlers();
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || dup2(output, STDOUT_FILENO) < 0 ||
            dup2(errors, STDERR_FILENO) < 0)
            failed = errno;
        else if (getppid() != parent)
            failed = ECHILD; /* it ended before the signal was asked for */
        if (!failed) {
            execvpe(program ? program : "/proc/self/exe", words, environ);
            failed = errno;
        }
        _exit(127);
    }
    const int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (child < 0)
        return why;
    if (failed) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        return failed;
    }
    *pid = child;
    return 0;
}

void tool_say_device(const struct common *common, const airy_device *device)
{
    airy_device_info info;
    const char *wish = getenv("AIRY_DEVICE");
    if (common->device || (wish && *wish) || airy_device_get_info(device, &info) != AIRY_OK)
        return;
    tool_say(common, "on device %s (%s, %u %s%s) by default; --device chooses another", info.spec,
             info.name, info.units, strcmp(info.backend, "cpu") == 0 ? "thread" : "unit",
             tool_s(info.units));
}

bool tool_beside(char path[TOOL_PATH], const char *name)
{
    char own[TOOL_PATH];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof(own));
    const char *slash =
        length > 0 && (size_t)length < sizeof(own) ? memrchr(own, '/', (size_t)length) : NULL;
    const int folder = slash ? (int)(slash + 1 - own) : 0;
    if (slash && snprintf(path, TOOL_PATH, "%.*s%s", folder, own, name) < TOOL_PATH)
        return true;
    errno = length < 0 ? errno : ENAMETOOLONG;
    return false;
}

void tool_say_tuning(const struct common *common, const airy_device *device)
{
    airy_tunable *list = NULL;
    size_t count = 0, used = 0;
    char text[1024] = "";
    if (airy_tuning_list(device, &list, &count) != AIRY_OK)
        return;
    for (size_t i = 0; i < count && used < sizeof(text); i++)
        if (list[i].source != AIRY_TUNING_DEFAULT)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s = %u (%s)",
                                     used ? "," : "", list[i].name, list[i].current,
                                     airy_tuning_source_name(list[i].source));
    airy_tuning_list_free(list);
    if (used)
        tool_say(common, "tuning of %s:%s", airy_device_spec(device), text);
}

unsigned tool_threads(const struct common *common)
{
    if (common->threads)
        return (unsigned)common->threads;
    airy_device *device = NULL;
    airy_device_info info;
    unsigned threads = 1;
    if (airy_device_create(&device, "cpu", NULL) == AIRY_OK &&
        airy_device_get_info(device, &info) == AIRY_OK)
        threads = info.units ? info.units : 1;
    airy_device_destroy(&device);
    return threads;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void tool_sort(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
}

double tool_percentile(double *values, size_t count, double part)
{
    tool_sort(values, count);
    return count ? values[(size_t)(part * (double)(count - 1) + 0.5)] : (double)NAN;
}

void tool_work(size_t threads, void *(*work)(void *), void *user)
{
    enum { MAX_THREADS = 64 };
    pthread_t others[MAX_THREADS];
    size_t started = 0;
    while (started + 1 < threads && started < MAX_THREADS &&
           pthread_create(&others[started], NULL, work, user) == 0)
        started++;
    work(user);
    for (size_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

/* Any thread may be the one that a signal interrupts, and others read these. */
static atomic_bool interrupted;
static const char *_Atomic farewell;
static const char *_Atomic last_word; /* of a process that a signal ends; NULL: none */

static void say_last_word(void)
{
    const char *line = last_word;
    if (line)
        (void)!write(STDERR_FILENO, line, strlen(line));
}

/* End the process as the signal does by itself, without the temporary files. */
static void die_of(int number)
{
    airy_file_clean_up();
    say_last_word();
    signal(number, SIG_DFL);
    raise(number);
}

/*
 * A signal soon after the first is the same request: timeout(1) sends it to the process and to its
 * group. A later one takes the default action, which kills.
 */
static void on_interrupt(int number)
{
    static _Atomic double first; /* s; 0: there was none */
    const double grace = 0.5, now = tool_now();
    double before = 0;
    if (!atomic_compare_exchange_strong(&first, &before, now)) {
        if (now - before > grace)
            die_of(number);
        return;
    }
    const char *line = farewell;
    const int kept = errno;
    interrupted = true;
    if (line && write(STDERR_FILENO, line, strlen(line)) < 0)
        errno = kept; /* nobody reads it */
}

static void end_at_interrupt(int number)
{
    (void)number;
    airy_file_clean_up();
    say_last_word();
    _exit(AIRY_EXIT_FAILED);
}

static void on_interrupts_call(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGHUP);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before; /* under nohup the end of a session is not for us */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

void tool_end_at_interrupt(const char *line)
{
    last_word = line;
    on_interrupts_call(end_at_interrupt);
}

void tool_catch_interrupts(void)
{
    on_interrupts_call(on_interrupt);
}

void tool_at_interrupt(const char *line)
{
    farewell = line;
}

void tool_say_at_interrupt(const char *line)
{
    last_word = line;
}

void tool_clean_at_interrupt(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before, action = {.sa_handler = die_of, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < 3; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < 3; i++) /* others are ignored, or caught for good */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

bool tool_interrupted(void)
{
    return interrupted;
}

bool tool_is_terminal(int fd)
{
    const char *kind = getenv("TERM");
    return isatty(fd) && !(kind && strcmp(kind, "dumb") == 0);
}

double tool_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(struct progress *progress, const struct common *common, const char *what)
{
    *progress = (struct progress){.common = common, .what = what, .start = tool_now()};
    progress->active = !common->quiet;
    progress->lines = !tool_is_terminal(STDERR_FILENO);
}

/* "1:02:03", "2:05" */
static void format_duration(char text[32], double seconds)
{
    if (!(seconds >= 0) || seconds > 3.6e6)
        snprintf(text, 32, "-");
    else if (seconds >= 3600)
        snprintf(text, 32, "%d:%02d:%02d", (int)seconds / 3600, (int)seconds / 60 % 60,
                 (int)seconds % 60);
    else
        snprintf(text, 32, "%d:%02d", (int)seconds / 60, (int)seconds % 60);
}

/* ", nothing new for 4 s" of a run that waits, such as for its input. */
static void format_wait(char text[48], const struct progress *p, double now)
{
    enum { LEAST = 2 };
    text[0] = 0;
    if (now - p->changed >= LEAST)
        snprintf(text, 48, ", nothing new for %.0f s", floor(now - p->changed));
}

/* Nobody knows how many come. */
static void show_count(const struct progress *p, size_t done, const char *wait, double now)
{
    const double elapsed = now - p->start,
                 rate = elapsed > 0 ? (double)(done - p->first) / elapsed : 0;
    if (p->lines)
        tool_say(p->common, "%zu %s, %.4g/s%s", done, p->what, rate, wait);
    else
        fprintf(stderr, "\r%zu %s  %.4g/s%s \033[K", done, p->what, rate, wait);
    fflush(stderr);
}

static void show_part(const struct progress *p, size_t done, size_t total, const char *wait,
                      double now)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 1], left[32];
    const size_t filled = (size_t)((double)WIDTH * (double)done / (double)total);
    for (size_t i = 0; i < WIDTH; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[WIDTH] = 0;
    const double elapsed = now - p->start,
                 rate = elapsed > 0 ? (double)(done - p->first) / elapsed : 0;
    format_duration(left, rate > 0 ? (double)(total - done) / rate : -1);
    if (p->lines) {
        tool_say(p->common, "%.0f %%, %zu of %zu %s, %.4g/s, %s left%s",
                 100.0 * (double)done / (double)total, done, total, p->what, rate, left, wait);
        return;
    }
    fprintf(stderr, "\r[%s] %3.0f %%  %zu/%zu %s  %.4g/s  %s left%s \033[K", bar,
            100.0 * (double)done / (double)total, done, total, p->what, rate, left, wait);
    fflush(stderr);
}

bool progress_step(void *user, size_t done, size_t total)
{
    struct progress *p = user;
    if (!p->active)
        return !tool_interrupted();
    const double now = tool_now();
    if (!p->begun) {
        p->begun = true;
        p->first = done; /* what a resumed run found done does not count for the rate */
        p->start = p->changed = now;
    }
    if (done != p->done)
        p->changed = now;
    p->done = done;
    /* Into a file: a line every ten seconds, none for what takes less. */
    if (p->lines && p->shown == 0)
        p->shown = now;
    const bool end = total && done >= total;
    if (now - p->shown < (p->lines ? 10 : 0.1) && (!end || p->lines))
        return !tool_interrupted();
    p->shown = now;
    char wait[48];
    format_wait(wait, p, now);
    if (total == 0) {
        show_count(p, done, wait, now);
        return !tool_interrupted();
    }
    show_part(p, done, total, wait, now);
    return !tool_interrupted();
}

void progress_clear(const struct progress *progress)
{
    if (progress->active && progress->begun && !progress->lines)
        fputs("\r\033[K", stderr);
}

void progress_end(struct progress *progress)
{
    progress_clear(progress);
    progress->active = false;
}

const char *tool_bytes(char text[32], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, 32, unit ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

bool tool_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

const char *tool_left(const struct common *common, const char *output)
{
    return common->force && output && tool_exists(output) ? "what was there before stays"
                                                          : "nothing was kept";
}

int tool_flush(const char *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return AIRY_EXIT_OK;
    tool_line(command, "standard output: %s", strerror(errno));
    return AIRY_EXIT_FAILED;
}

size_t tool_count(const size_t *shape, int ndim)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(count, shape[i], &count))
            return 0;
    return count;
}
