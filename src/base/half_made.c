#include "base/half_made.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "airy/file.h"
#include "base/notice.h"

/*
 * The list is changed by a thread that no signal can meet meanwhile, so that a handler that
 * waits for it, in another thread, waits for a few instructions, or for an open.
 */
struct half_made {
    struct half_made *next;
    pid_t maker;       /* a child of fork() has the list, too, and none of its files */
    atomic_int opened; /* 0: not yet; below 0: it could not be, and is another's if there is one */
    char name[];
};
static struct half_made *half_made;
static atomic_flag half_made_busy = ATOMIC_FLAG_INIT;
static atomic_bool half_made_gone; /* and busy for good */

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void lock_half_made(void)
{
    while (atomic_flag_test_and_set(&half_made_busy))
        airy_relax();
}

static void unlock_half_made(void)
{
    atomic_flag_clear(&half_made_busy);
}

void airy_half_made_forget(const char *partial)
{
    sigset_t before;
    block_signals(&before);
    lock_half_made();
    struct half_made **link = &half_made;
    while (*link && strcmp((*link)->name, partial) != 0)
        link = &(*link)->next;
    struct half_made *dead = *link;
    if (dead)
        *link = dead->next;
    unlock_half_made();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(dead);
}

/* 0, or an errno. */
static int open_new(int *fd, const char *partial, mode_t mode)
{
    sigset_t before;
    const size_t size = strlen(partial) + 1;
    struct half_made *made = calloc(1, sizeof(*made) + size);
    if (!made)
        return ENOMEM;
    memcpy(made->name, partial, size);
    made->maker = getpid();
    block_signals(&before);
    lock_half_made();
    made->next = half_made;
    half_made = made;
    unlock_half_made();
    *fd = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const int why = *fd < 0 ? errno : 0;
    atomic_store(&made->opened, why ? -1 : 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why)
        airy_half_made_forget(partial);
    return why;
}

/* A name for it: 0, or an errno. */
static int name_new(char **partial, const char *path)
{
    enum { MARK = sizeof(".XXXXXXXX.partial") - 1 };
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    size_t length = strlen(path);
    uint32_t number = 0;
    /* A name that is too long itself is left to the system, which refuses it before all the work. */
    if (length - folder <= NAME_MAX && length - folder + MARK > NAME_MAX) {
        length = folder + NAME_MAX - MARK;
        for (int i = 0; i < 3 && ((unsigned char)path[length] & 0xc0) == 0x80; i++)
            length--; /* no part of a character in UTF-8 */
    }
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return errno;
    return asprintf(partial, "%.*s.%08x.partial", (int)length, path, number) < 0 ? ENOMEM : 0;
}

int airy_half_made_create(int *fd, char **partial, const char *path, mode_t mode)
{
    enum { TRIES = 4 };
    int why = EEXIST;
    for (int i = 0; i < TRIES && why == EEXIST; i++) {
        char *name;
        why = name_new(&name, path);
        if (why)
            return why;
        why = open_new(fd, name, mode);
        if (why)
            free(name);
        else
            *partial = name;
    }
    return why;
}

void airy_file_remove_half_made(void)
{
    sigset_t before;
    const pid_t self = getpid();
    block_signals(&before);
    /* For good: nothing begins after this. A second signal, to whichever thread, waits for no more. */
    while (atomic_flag_test_and_set(&half_made_busy) && !atomic_load(&half_made_gone))
        airy_relax();
    for (struct half_made *made = half_made; made; made = made->next) {
        while (made->maker == self && atomic_load(&made->opened) == 0)
            airy_relax();
        if (made->maker == self && atomic_load(&made->opened) > 0)
            unlink(made->name);
    }
    atomic_store(&half_made_gone, true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
