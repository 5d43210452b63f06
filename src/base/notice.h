/*
 * A notice board between threads or processes: whoever changes something posts, whoever waits for a
 * change sleeps until the next post. Posting never blocks, and calls the system only where somebody
 * sleeps. In shared memory it may hold anything: waits end early or late then, nothing else.
 *
 *     for (;;) {
 *         const unsigned seen = airy_notice_seen(&notice);
 *         if (it_is_there() || !airy_notice_wait(&notice, seen, deadline))
 *             break;
 *     }
 */
#ifndef AIRY_BASE_NOTICE_H
#define AIRY_BASE_NOTICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct airy_notice {
    atomic_uint posts, sleepers;
};

static inline unsigned airy_notice_seen(struct airy_notice *notice)
{
    return atomic_load(&notice->posts);
}

/* What was written before is seen by whoever sees the post. */
void airy_notice_post(struct airy_notice *notice);
/*
 * Sleep until the next post after `seen`, which may have been already, or airy_clock_ns() reaches
 * the deadline: false then. It may also return true without a post.
 */
bool airy_notice_wait(struct airy_notice *notice, unsigned seen, uint64_t deadline_ns);
/*
 * Sleep as airy_notice_wait does, but touch no memory of the notice in this process: it may have gone
 * (a mapped file that was cut). The caller keeps `sleepers` itself.
 */
void airy_notice_sleep(struct airy_notice *notice, unsigned seen, uint64_t deadline_ns);
/* The deadline of a wait that begins now; not before the end of time where that is too late. */
uint64_t airy_notice_deadline(uint64_t timeout_ns);

/* Between two looks at something that is about to happen. */
static inline void airy_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
