/* A stack whose frames come through a pipe: headerless, each read once, in order. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/image/pixels.h"
#include "io/stack/internal.h"

/* PATIENCE_MS: of a silent pipe, before `stop` is asked. AHEAD: what a pipe of Linux holds. */
enum { PATIENCE_MS = 100, AHEAD = 1 << 16 };

struct stack_pipe {
    int fd;
    bool swapped;
    bool (*stop)(void *user);
    void *stop_user;
    uint64_t header;   /* bytes in front of the first frame that are still to come */
    size_t next;       /* frame */
    size_t cut;        /* bytes of the frame inside of which the pipe ended */
    size_t have, used; /* bytes that were read ahead; of them handed out */
    uint8_t ahead[AHEAD];
};

static const char *name_of(const airy_stack *stack)
{
    return stack->first_path;
}

bool airy_stack_is_pipe(const char *path)
{
    struct stat about;
    return strcmp(path, "-") == 0 ||
           (stat(path, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode)));
}

airy_status airy_stack_refuse_pipe(const airy_stack *stack, const char *call)
{
    AIRY_FAIL_HINT_IF(stack->pipe, AIRY_ERR_UNSUPPORTED, AIRY_HINT_PIPE, AIRY_SUBJECT_FILE,
                      "%s: '%s' is a pipe, whose frames are read once and in order", call,
                      name_of(stack));
    return AIRY_OK;
}

airy_status airy_stack_pipe_open(airy_stack *stack, const char *path,
                                 const airy_stack_params *params)
{
    const airy_raw_frames *raw = params->raw;
    const bool input = strcmp(path, "-") == 0;
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    size_t segment;
    const char *name = input ? "standard input" : path;
    stack->first_path = strdup(name);
    AIRY_FAIL_IF(!stack->first_path, AIRY_ERR_MEMORY, "out of memory for a path");
    AIRY_TRY(airy_stack_add_blank(stack, &segment, name, ""));
    AIRY_TRY(airy_stack_settle_frame(stack, raw->height, raw->width, raw->dtype, name, name));
    AIRY_TRY(airy_memory_calloc((void **)&stack->pipe, 1, sizeof(*stack->pipe), "a pipe"));
    const int fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                         : open(path, O_RDONLY | O_CLOEXEC);
    struct stack_pipe *p = stack->pipe;
    p->fd = fd;
    p->swapped = raw->big_endian == little && airy_dtype_size(raw->dtype) > 1;
    p->stop = params->stop;
    p->stop_user = params->stop_user;
    p->header = raw->offset;
    AIRY_FAIL_HINT_IF(fd < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE,
                      "'%s': cannot be opened: %s", name, strerror(errno));
    stack->headerless = true;
    stack->first_is_plain = true;
    return AIRY_OK;
}

void airy_stack_pipe_close(struct stack_pipe **pipe)
{
    if (*pipe && (*pipe)->fd >= 0)
        close((*pipe)->fd);
    free(*pipe);
    *pipe = NULL;
}

/* Bytes have come, or the pipe is at its end; false: nobody wants any more. */
static bool wait_pipe(const struct stack_pipe *p)
{
    struct pollfd pipe = {.fd = p->fd, .events = POLLIN};
    while (p->stop && poll(&pipe, 1, PATIENCE_MS) <= 0)
        if (p->stop(p->stop_user))
            return false;
    return true;
}

/* Some bytes from the pipe; none at its end, or where nobody wants any more. */
static airy_status read_some(const airy_stack *stack, void *bytes, size_t size, size_t *got)
{
    ssize_t n = 0;
    *got = 0;
    do {
        if (!wait_pipe(stack->pipe))
            return AIRY_OK;
        n = read(stack->pipe->fd, bytes, size);
    } while (n < 0 && errno == EINTR);
    AIRY_FAIL_HINT_IF(n < 0, AIRY_ERR_IO, airy_hint_of_errno(errno), AIRY_SUBJECT_FILE, "'%s': %s",
                      name_of(stack), strerror(errno));
    *got = (size_t)n;
    return AIRY_OK;
}

/* Bytes from the pipe; *got is smaller at its end. Small frames are read ahead, many at once. */
static airy_status read_pipe(const airy_stack *stack, void *bytes, size_t size, size_t *got)
{
    struct stack_pipe *p = stack->pipe;
    const bool ahead = stack->frame_bytes < AHEAD;
    size_t n = 1;
    for (*got = 0; *got < size && n > 0; *got += n) {
        uint8_t *to = (uint8_t *)bytes + *got;
        if (!ahead) {
            AIRY_TRY(read_some(stack, to, size - *got, &n));
            continue;
        }
        if (p->used == p->have) {
            p->used = 0;
            AIRY_TRY(read_some(stack, p->ahead, AHEAD, &p->have));
        }
        n = airy_min_size(size - *got, p->have - p->used);
        memcpy(to, p->ahead + p->used, n);
        p->used += n;
    }
    return AIRY_OK;
}

static airy_status skip_header(const airy_stack *stack)
{
    struct stack_pipe *p = stack->pipe;
    char part[4096];
    size_t got;
    while (p->header > 0) {
        const size_t want = p->header < sizeof(part) ? (size_t)p->header : sizeof(part);
        const airy_status status = read_pipe(stack, part, want, &got);
        p->header -= got; /* what was read does not come again */
        AIRY_TRY(status);
        AIRY_FAIL_ON_IF(got < want, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                        "'%s' ends inside its header", name_of(stack));
    }
    return AIRY_OK;
}

airy_status airy_stack_pipe_read(const airy_stack *stack, size_t frame, void *pixels)
{
    struct stack_pipe *p = stack->pipe;
    const size_t size = airy_dtype_size(stack->dtype);
    size_t got = 0;
    AIRY_FAIL_ON_IF(frame != p->next, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s = %zu, but '%s' is a pipe, which is read once and in order: frame %zu is "
                    "next",
                    "frame", frame, name_of(stack), p->next);
    AIRY_TRY(skip_header(stack));
    if (!p->cut) {
        const airy_status status = read_pipe(stack, pixels, stack->frame_bytes, &got);
        if (status != AIRY_OK) {
            p->cut = got; /* the rest of the frame is not the next one's beginning */
            return status;
        }
    }
    AIRY_FAIL_ON_IF(!p->cut && got == 0, AIRY_ERR_ENDED, AIRY_SUBJECT_FILE,
                    "'%s' ends behind %zu frames", name_of(stack), p->next);
    p->cut += got % stack->frame_bytes;
    AIRY_FAIL_HINT_IF(p->cut, AIRY_ERR_CORRUPT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' ends inside frame %zu: %zu of %zu bytes; %zu whole frames came before "
                      "it",
                      name_of(stack), p->next, p->cut, stack->frame_bytes, p->next);
    if (p->swapped)
        airy_image_swap(pixels, stack->frame_bytes / size, size);
    p->next++;
    return AIRY_OK;
}
