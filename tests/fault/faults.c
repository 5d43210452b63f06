/*
 * Preloaded into airy: makes the N-th call of one kind fail.
 *
 *   FAULT_KIND   memory read write open close stat allocate sync rename truncate thread
 *   FAULT_AT     N, from 1; 0 or none: count only
 *   FAULT_HOW    an errno by name (EIO ENOSPC EINTR ENOMEM EAGAIN EMFILE EEXIST), or "short": half of the bytes are read
 *                or written, or "end": the file ends here, or "slow": it takes a twentieth of a second, whatever signals come
 *   FAULT_STAYS  set: every later call of the kind fails, too, as on a disk that stays full
 *   FAULT_LOG    file that gets one line "fault CALLER" for each process that met the fault, or "calls N" of a process that
 *                counts
 *
 * Memory and threads fail for callers in airy and libairy alone: what other libraries make of that is theirs, and some (HDF5)
 * abort. Reads, writes, opens and so on fail for every library, but for what the C library does inside itself (stdio), and never
 * for standard streams. Each process counts its own calls.
 */
#undef _FILE_OFFSET_BITS /* pread and pread64 are two names here */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
    NONE,
    MEMORY,
    READ,
    WRITE,
    OPEN,
    CLOSE,
    STAT,
    ALLOCATE,
    SYNC,
    RENAME,
    TRUNCATE,
    THREAD,
    KINDS
};
enum how { FAIL, SHORT, END, SLOW };

struct range {
    uintptr_t first, end;
};

static const char *const kinds[KINDS] = {"",     "memory", "read",     "write",
                                         "open", "close",  "stat",     "allocate",
                                         "sync", "rename", "truncate", "thread"};
static enum kind wanted;
static enum how how;
static int error_number;
static unsigned long at;
static bool stays;
static const char *log_path;
static struct range ours[8];
static size_t ours_count;
static atomic_ulong calls;

#define CALLER           ((uintptr_t)__builtin_return_address(0))
#define NEXT(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

/* The function that is interposed here, found once. dlsym may allocate: the first call of calloc then gets NULL, which it takes. */
#define REAL(result, name, ...)                                                                    \
    typedef result (*real_fn)(__VA_ARGS__);                                                        \
    static real_fn real;                                                                           \
    if (!real)                                                                                     \
    real = NEXT(real_fn, name)

static int note_object(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    (void)user;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    if (*info->dlpi_name && strncmp(name, "libairy", 7) != 0)
        return 0;
    for (size_t i = 0; i < info->dlpi_phnum && ours_count < sizeof(ours) / sizeof(ours[0]); i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            const uintptr_t first = (uintptr_t)info->dlpi_addr + part->p_vaddr;
            ours[ours_count++] = (struct range){first, first + part->p_memsz};
        }
    }
    return 0;
}

static int find_error(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},  {"ENOMEM", ENOMEM},
                 {"EAGAIN", EAGAIN}, {"EMFILE", EMFILE}, {"EEXIST", EEXIST}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].number;
    return EIO;
}

__attribute__((constructor)) static void begin(void)
{
    const char *kind = getenv("FAULT_KIND"), *number = getenv("FAULT_AT"),
               *manner = getenv("FAULT_HOW");
    if (!kind)
        return;
    dl_iterate_phdr(note_object, NULL);
    log_path = getenv("FAULT_LOG");
    stays = getenv("FAULT_STAYS") != NULL;
    at = number ? strtoul(number, NULL, 10) : 0;
    manner = manner ? manner : "EIO";
    how = strcmp(manner, "short") == 0  ? SHORT
          : strcmp(manner, "end") == 0  ? END
          : strcmp(manner, "slow") == 0 ? SLOW
                                        : FAIL;
    error_number = find_error(manner);
    for (int i = 1; i < KINDS; i++)
        if (strcmp(kind, kinds[i]) == 0)
            wanted = (enum kind)i;
}

/* Past the interposed calls: nothing here is counted. */
static void write_log(const char *line, int length)
{
    const long file = log_path ? syscall(SYS_openat, AT_FDCWD, log_path,
                                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                               : -1;
    if (file < 0)
        return;
    (void)syscall(SYS_write, file, line, (size_t)length);
    (void)syscall(SYS_close, file);
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    if (wanted != NONE && at == 0)
        write_log(line, snprintf(line, sizeof(line), "calls %lu\n", atomic_load(&calls)));
}

static bool is_ours(uintptr_t caller)
{
    for (size_t i = 0; i < ours_count; i++)
        if (caller >= ours[i].first && caller < ours[i].end)
            return true;
    return false;
}

static void tell(uintptr_t caller)
{
    char line[512];
    Dl_info about = {0};
    const bool known = dladdr((const void *)caller, &about) != 0;
    const int length =
        snprintf(line, sizeof(line), "fault %.300s +0x%zx\n",
                 known && about.dli_fname ? about.dli_fname : "?",
                 known ? (size_t)(caller - (uintptr_t)about.dli_fbase) : (size_t)caller);
    write_log(line, length);
}

/* Whether this call is the one. */
static bool hit(enum kind kind, uintptr_t caller)
{
    if (kind != wanted || ((kind == MEMORY || kind == THREAD) && !is_ours(caller)))
        return false;
    const unsigned long number = atomic_fetch_add(&calls, 1) + 1;
    if (at == 0 || number < at || (number > at && !stays))
        return false;
    if (number == at)
        tell(caller);
    errno = kind == MEMORY ? ENOMEM : error_number;
    return true;
}

/* A transfer that is hit: its result, or false with *size made shorter. */
static bool transfer_fails(enum kind kind, uintptr_t caller, int fd, size_t *size, ssize_t *result)
{
    if (fd <= STDERR_FILENO || !hit(kind, caller))
        return false;
    struct timespec left = {0, 50000000};
    while (how == SLOW && nanosleep(&left, &left) != 0)
        ;
    *result = how == END ? 0 : -1;
    if (how == SLOW)
        return false;
    if (how != SHORT)
        return true;
    *size = *size > 1 ? *size / 2 : *size;
    return false;
}

void *malloc(size_t size)
{
    REAL(void *, "malloc", size_t);
    return hit(MEMORY, CALLER) ? NULL : real(size);
}

void *calloc(size_t count, size_t size)
{
    static _Thread_local bool finding;
    if (finding)
        return NULL;
    finding = true;
    REAL(void *, "calloc", size_t, size_t);
    finding = false;
    return hit(MEMORY, CALLER) ? NULL : real(count, size);
}

void *realloc(void *block, size_t size)
{
    REAL(void *, "realloc", void *, size_t);
    return hit(MEMORY, CALLER) ? NULL : real(block, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    REAL(int, "posix_memalign", void **, size_t, size_t);
    return hit(MEMORY, CALLER) ? ENOMEM : real(block, alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    REAL(void *, "aligned_alloc", size_t, size_t);
    return hit(MEMORY, CALLER) ? NULL : real(alignment, size);
}

char *strdup(const char *text)
{
    REAL(char *, "strdup", const char *);
    return hit(MEMORY, CALLER) ? NULL : real(text);
}

char *strndup(const char *text, size_t size)
{
    REAL(char *, "strndup", const char *, size_t);
    return hit(MEMORY, CALLER) ? NULL : real(text, size);
}

static int print_text(char **text, uintptr_t caller, const char *format, va_list list)
{
    REAL(int, "vasprintf", char **, const char *, va_list);
    if (!hit(MEMORY, caller))
        return real(text, format, list);
    *text = NULL;
    return -1;
}

int vasprintf(char **text, const char *format, va_list list)
{
    return print_text(text, CALLER, format, list);
}

int asprintf(char **text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = print_text(text, CALLER, format, list);
    va_end(list);
    return length;
}

/* What the fortified headers call. */
int __vasprintf_chk(char **text, int flag, const char *format, va_list list);
int __asprintf_chk(char **text, int flag, const char *format, ...);

int __vasprintf_chk(char **text, int flag, const char *format, va_list list)
{
    (void)flag;
    return print_text(text, CALLER, format, list);
}

int __asprintf_chk(char **text, int flag, const char *format, ...)
{
    (void)flag;
    va_list list;
    va_start(list, format);
    const int length = print_text(text, CALLER, format, list);
    va_end(list);
    return length;
}

#define DEFINE_READ(name)                                                                          \
    ssize_t name(int fd, void *data, size_t size)                                                  \
    {                                                                                              \
        REAL(ssize_t, #name, int, void *, size_t);                                                 \
        ssize_t result;                                                                            \
        return transfer_fails(READ, CALLER, fd, &size, &result) ? result : real(fd, data, size);   \
    }
#define DEFINE_PREAD(name, offset_type)                                                            \
    ssize_t name(int fd, void *data, size_t size, offset_type offset)                              \
    {                                                                                              \
        REAL(ssize_t, #name, int, void *, size_t, offset_type);                                    \
        ssize_t result;                                                                            \
        return transfer_fails(READ, CALLER, fd, &size, &result) ? result                           \
                                                                : real(fd, data, size, offset);    \
    }
#define DEFINE_PWRITE(name, offset_type)                                                           \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset)                        \
    {                                                                                              \
        REAL(ssize_t, #name, int, const void *, size_t, offset_type);                              \
        ssize_t result;                                                                            \
        return transfer_fails(WRITE, CALLER, fd, &size, &result) ? result                          \
                                                                 : real(fd, data, size, offset);   \
    }
/* Short: the first part alone, as from a disk that fills in between. */
#define DEFINE_PWRITEV(name, offset_type)                                                          \
    ssize_t name(int fd, const struct iovec *parts, int count, offset_type offset)                 \
    {                                                                                              \
        REAL(ssize_t, #name, int, const struct iovec *, int, offset_type);                         \
        size_t size = 2 * (size_t)count;                                                           \
        ssize_t result;                                                                            \
        if (transfer_fails(WRITE, CALLER, fd, &size, &result))                                     \
            return result;                                                                         \
        return real(fd, parts, size < 2 * (size_t)count ? 1 : count, offset);                      \
    }

DEFINE_READ(read)
DEFINE_PREAD(pread, off_t)
DEFINE_PREAD(pread64, off64_t)
DEFINE_PWRITE(pwrite, off_t)
DEFINE_PWRITE(pwrite64, off64_t)
DEFINE_PWRITEV(pwritev, off_t)
DEFINE_PWRITEV(pwritev64, off64_t)

/* What the fortified headers call. */
ssize_t __pread64_chk(int fd, void *data, size_t size, off64_t offset, size_t room);

ssize_t __pread64_chk(int fd, void *data, size_t size, off64_t offset, size_t room)
{
    REAL(ssize_t, "__pread64_chk", int, void *, size_t, off64_t, size_t);
    ssize_t result;
    return transfer_fails(READ, CALLER, fd, &size, &result) ? result
                                                            : real(fd, data, size, offset, room);
}

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    ssize_t result;
    return transfer_fails(WRITE, CALLER, fd, &size, &result) ? result : real(fd, data, size);
}

/* A file that is there is in the way of none but those that create it. */
static bool open_fails(int flags, uintptr_t caller)
{
    return (error_number != EEXIST || flags & O_EXCL) && hit(OPEN, caller);
}

/* The mode is there when the flags say so. */
#define DEFINE_OPEN(name)                                                                          \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        REAL(int, #name, const char *, int, ...);                                                  \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, unsigned) : 0;          \
        va_end(list);                                                                              \
        return open_fails(flags, CALLER) ? -1 : real(path, flags, mode);                           \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)

int __open64_2(const char *path, int flags);

int __open64_2(const char *path, int flags)
{
    REAL(int, "__open64_2", const char *, int);
    return open_fails(flags, CALLER) ? -1 : real(path, flags);
}

#define DEFINE_FOPEN(name)                                                                         \
    FILE *name(const char *path, const char *mode)                                                 \
    {                                                                                              \
        REAL(FILE *, #name, const char *, const char *);                                           \
        return open_fails(0, CALLER) ? NULL : real(path, mode);                                    \
    }

DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

/* Whether it is a file that may have been written, and no standard stream. */
static bool is_written(int fd)
{
    struct stat about;
    const int kept = errno, flags = fd <= STDERR_FILENO ? -1 : fcntl(fd, F_GETFL);
    const bool is = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
                    syscall(SYS_newfstatat, fd, "", &about, AT_EMPTY_PATH) == 0 &&
                    S_ISREG(about.st_mode);
    errno = kept;
    return is;
}

/* The file is closed, and what was written may not be on the disk. */
int close(int fd)
{
    REAL(int, "close", int);
    const bool fails = is_written(fd) && hit(CLOSE, CALLER);
    const int number = errno, result = real(fd);
    if (!fails)
        return result;
    errno = number;
    return -1;
}

#define DEFINE_STAT(name, about_type)                                                              \
    int name(const char *path, about_type *about)                                                  \
    {                                                                                              \
        REAL(int, #name, const char *, about_type *);                                              \
        return hit(STAT, CALLER) ? -1 : real(path, about);                                         \
    }
#define DEFINE_FSTAT(name, about_type)                                                             \
    int name(int fd, about_type *about)                                                            \
    {                                                                                              \
        REAL(int, #name, int, about_type *);                                                       \
        return hit(STAT, CALLER) ? -1 : real(fd, about);                                           \
    }

DEFINE_STAT(stat, struct stat)
DEFINE_STAT(stat64, struct stat64)
DEFINE_STAT(lstat, struct stat)
DEFINE_STAT(lstat64, struct stat64)
DEFINE_FSTAT(fstat, struct stat)
DEFINE_FSTAT(fstat64, struct stat64)

#define DEFINE_FALLOCATE(name, offset_type)                                                        \
    int name(int fd, int mode, offset_type offset, offset_type size)                               \
    {                                                                                              \
        REAL(int, #name, int, int, offset_type, offset_type);                                      \
        return hit(ALLOCATE, CALLER) ? -1 : real(fd, mode, offset, size);                          \
    }

DEFINE_FALLOCATE(fallocate, off_t)
DEFINE_FALLOCATE(fallocate64, off64_t)

/* What the C library writes inside itself comes to light here. */
int fclose(FILE *file)
{
    REAL(int, "fclose", FILE *);
    const bool written = is_written(fileno(file));
    const bool fails = written && how == FAIL && error_number != EINTR && hit(WRITE, CALLER);
    const int number = errno, result = real(file);
    if (!fails)
        return result;
    errno = number;
    return EOF;
}

int fsync(int fd)
{
    REAL(int, "fsync", int);
    return hit(SYNC, CALLER) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    return hit(RENAME, CALLER) ? -1 : real(from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
    return hit(RENAME, CALLER) ? -1 : real(from_folder, from, to_folder, to, flags);
}

#define DEFINE_TRUNCATE(name, offset_type)                                                         \
    int name(int fd, offset_type size)                                                             \
    {                                                                                              \
        REAL(int, #name, int, offset_type);                                                        \
        return hit(TRUNCATE, CALLER) ? -1 : real(fd, size);                                        \
    }

DEFINE_TRUNCATE(ftruncate, off_t)
DEFINE_TRUNCATE(ftruncate64, off64_t)

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *user)
{
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return hit(THREAD, CALLER) ? EAGAIN : real(thread, attributes, body, user);
}
