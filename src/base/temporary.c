#include "base/temporary.h"

#include <dirent.h>
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
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "airy/file.h"
#include "base/hash.h"
#include "base/notice.h"

/*
 * A thread blocks all signals while it changes the list, so that a handler in another thread waits
 * for the list for a few instructions, or for an open.
 */
struct temporary {
    struct temporary *next;
    pid_t maker;       /* a child of fork() has a copy of the list, but no file of it is its own */
    int lock;          /* a descriptor that keeps the file's lock, or -1 */
    atomic_int opened; /* 0: not yet; below 0: it could not be, and is another's if there is one */
    char name[];
};
static struct temporary *files;
static atomic_flag files_busy = ATOMIC_FLAG_INIT;
static atomic_bool files_gone; /* the list was cleaned up, and stays locked */

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void lock_files(void)
{
    while (atomic_flag_test_and_set(&files_busy))
        airy_relax();
}

static void unlock_files(void)
{
    atomic_flag_clear(&files_busy);
}

/*
 * Take the oldest file of this name and this value of `opened` off the list. The list may have
 * several of one name: another thread may have created one after this one was renamed, or may have
 * failed to create one while this one exists.
 */
static void forget(const char *partial, int opened)
{
    sigset_t before;
    block_signals(&before);
    lock_files();
    struct temporary **found = NULL;
    for (struct temporary **link = &files; *link; link = &(*link)->next)
        if (strcmp((*link)->name, partial) == 0 && atomic_load(&(*link)->opened) == opened)
            found = link;
    struct temporary *dead = found ? *found : NULL;
    if (dead)
        *found = dead->next;
    unlock_files();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (dead && dead->lock >= 0)
        close(dead->lock);
    free(dead);
}

void airy_temporary_forget(const char *partial)
{
    forget(partial, 1);
}

/*
 * Lock the new file for as long as it has this name, so that no other run takes it for what a killed
 * one left. flock() is apart from the record locks that keep writers of OUT.partial from each other.
 * A file system without such locks does without. 0, or an errno: EEXIST where another run has just
 * removed it.
 */
static int keep_lock(struct temporary *made, int fd)
{
    struct stat about;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? EEXIST : 0;
    if (fstat(fd, &about) != 0)
        return errno;
    if (about.st_nlink == 0)
        return EEXIST;
    made->lock = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return 0;
}

/* A lock that this machine gets says that nobody writes the file; elsewhere only its age does. */
static bool has_sure_locks(int fd)
{
    static const long local[] = {0xef53,     0x58465342, 0x9123683e, 0x01021994,
                                 0x794c7630, 0x2fc12fc1}; /* ext, XFS, Btrfs, tmpfs, overlay, ZFS */
    struct statfs system;
    bool sure = false;
    if (fstatfs(fd, &system) == 0)
        for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
            sure = sure || (long)system.f_type == local[i];
    return sure;
}

/* Remove a file that a killed run left: of this user, regular, and written by nobody. */
static void remove_left(int folder, const char *name)
{
    enum { DAY = 24 * 60 * 60 };
    struct stat about, named;
    const int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        about.st_nlink == 1 && (has_sure_locks(fd) || time(NULL) - about.st_mtime > DAY) &&
        flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == about.st_dev &&
        named.st_ino == about.st_ino)
        (void)unlinkat(folder, name, 0);
    close(fd);
}

/* 0, or an errno. */
static int open_new(int *fd, const char *partial, mode_t mode)
{
    sigset_t before;
    const size_t size = strlen(partial) + 1;
    struct temporary *made = calloc(1, sizeof(*made) + size);
    if (!made)
        return ENOMEM;
    memcpy(made->name, partial, size);
    made->maker = getpid();
    made->lock = -1;
    block_signals(&before);
    lock_files();
    made->next = files;
    files = made;
    unlock_files();
    *fd = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const bool created = *fd >= 0;
    const int why = created ? keep_lock(made, *fd) : errno;
    if (created && why) {
        close(*fd);
        if (why != EEXIST)
            remove_left(AT_FDCWD, partial);
    }
    atomic_store(&made->opened, why ? -1 : 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (why)
        forget(partial, -1);
    return why;
}

enum { MARK = sizeof(".XXXXXXXX.partial") - 1, DIGITS = 8 };

/* How much of path a temporary name keeps. */
static size_t kept_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    size_t length = strlen(path);
    /* A name that is too long itself is left to the system, which refuses it before all the work. */
    if (length - folder <= NAME_MAX && length - folder + MARK > NAME_MAX) {
        length = folder + NAME_MAX - MARK;
        for (int i = 0; i < 3 && ((unsigned char)path[length] & 0xc0) == 0x80; i++)
            length--; /* no part of a character in UTF-8 */
    }
    return length;
}

/*
 * Digits of the first names that are tried for an output: always the same, so that the next run of it
 * finds what a killed one left without reading the folder.
 */
enum { OWN_NAMES = 8 };

/* Name number `attempt` for it, by chance behind the first: 0, or an errno. */
static int make_name(char **partial, const char *path, unsigned attempt)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    uint32_t number = (uint32_t)airy_hash_bytes(AIRY_HASH_START + attempt, name, strlen(name));
    if (attempt >= OWN_NAMES && getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
        return errno;
    return asprintf(partial, "%.*s.%08x.partial", (int)kept_length(path), path, number) < 0 ? ENOMEM
                                                                                            : 0;
}

static bool is_temporary(const char *name, const char *base, size_t length)
{
    if (strncmp(name, base, length) != 0 || strlen(name) != length + MARK || name[length] != '.')
        return false;
    const char *digits = name + length + 1;
    return strspn(digits, "0123456789abcdef") == DIGITS && strcmp(digits + DIGITS, ".partial") == 0;
}

void airy_file_remove_left(const char *path)
{
    if (!path)
        return;
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash + 1 - path) : 0;
    char *name = length ? strndup(path, length) : strdup(".");
    DIR *folder = name ? opendir(name) : NULL;
    free(name);
    if (!folder)
        return;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (is_temporary(entry->d_name, path + length, kept_length(path) - length))
            remove_left(dirfd(folder), entry->d_name);
    closedir(folder);
}

/* Those under the first names of this output. 0, or an errno. */
static int remove_own_left(const char *path)
{
    for (unsigned i = 0; i < OWN_NAMES; i++) {
        char *name;
        const int why = make_name(&name, path, i);
        if (why)
            return why;
        remove_left(AT_FDCWD, name);
        free(name);
    }
    return 0;
}

int airy_temporary_create(int *fd, char **partial, const char *path, mode_t mode)
{
    enum { TRIES = OWN_NAMES + 4 };
    int why = remove_own_left(path);
    if (why)
        return why;
    why = EEXIST;
    for (unsigned i = 0; i < TRIES && why == EEXIST; i++) {
        char *name;
        why = make_name(&name, path, i);
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

void airy_file_clean_up(void)
{
    sigset_t before;
    const pid_t self = getpid();
    block_signals(&before);
    /* For good: nothing begins after this. A second signal, to whichever thread, waits for no more. */
    while (atomic_flag_test_and_set(&files_busy) && !atomic_load(&files_gone))
        airy_relax();
    for (struct temporary *made = files; made; made = made->next) {
        while (made->maker == self && atomic_load(&made->opened) == 0)
            airy_relax();
        if (made->maker == self && atomic_load(&made->opened) > 0)
            unlink(made->name);
    }
    atomic_store(&files_gone, true);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void airy_file_remove_half_made(void)
{
    airy_file_clean_up();
}
