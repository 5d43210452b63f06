#include "base/notice.h"

#include <limits.h>
#include <time.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/clock.h"

#ifdef __linux__
/* The word is a futex of every process that maps it. */
static void sleep_on(struct airy_notice *notice, unsigned seen, const struct timespec *time)
{
    (void)syscall(SYS_futex, &notice->posts, FUTEX_WAIT, seen, time, NULL, 0);
}

static void wake(struct airy_notice *notice)
{
    (void)syscall(SYS_futex, &notice->posts, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

enum { LONGEST_NS = 1000000000 };
#else
static void sleep_on(struct airy_notice *notice, unsigned seen, const struct timespec *time)
{
    if (airy_notice_seen(notice) == seen)
        (void)nanosleep(time, NULL);
}

static void wake(struct airy_notice *notice)
{
    (void)notice;
}

enum { LONGEST_NS = 50000 }; /* without futexes: looked at this often */
#endif

void airy_notice_post(struct airy_notice *notice)
{
    /*
     * One order of all four operations: a sleeper that this does not see has yet to look at posts,
     * in the system, and does not fall asleep.
     */
    atomic_fetch_add(&notice->posts, 1);
    if (atomic_load(&notice->sleepers) > 0)
        wake(notice);
}

bool airy_notice_wait(struct airy_notice *notice, unsigned seen, uint64_t deadline_ns)
{
    if (airy_notice_seen(notice) != seen)
        return true;
    const uint64_t now = airy_clock_ns();
    if (now >= deadline_ns)
        return false;
    const uint64_t left = deadline_ns - now < LONGEST_NS ? deadline_ns - now : LONGEST_NS;
    const struct timespec time = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    atomic_fetch_add(&notice->sleepers, 1);
    sleep_on(notice, seen, &time);
    atomic_fetch_sub(&notice->sleepers, 1);
    return true;
}

void airy_notice_sleep(struct airy_notice *notice, unsigned seen, uint64_t deadline_ns)
{
    const uint64_t now = airy_clock_ns();
    if (now >= deadline_ns)
        return;
    const uint64_t left = deadline_ns - now < LONGEST_NS ? deadline_ns - now : LONGEST_NS;
    const struct timespec time = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
#ifdef __linux__
    sleep_on(notice, seen, &time);
#else
    (void)notice;
    (void)seen;
    (void)nanosleep(&time, NULL);
#endif
}

uint64_t airy_notice_deadline(uint64_t timeout_ns)
{
    const uint64_t now = airy_clock_ns();
    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}
