/*
 * Frames of a file that a fuzzer wrote, as a stack: as NPY, TIFF or raw pixels where it says nothing
 * itself, from a file and through a pipe, and by its name alone, packed by gzip or not. Every frame goes to a buffer of exactly its
 * size, and a pipe gives the same frames as the file.
 *
 * Input: how (1 byte), type of raw pixels (1), rows (1), columns (1), header bytes (1), where gzip's
 * bytes are damaged (1), then the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "airy/airy.h"
#include "fuzz.h"

enum { MOST_FRAMES = 8, MOST_BYTES = 1 << 20, PIPE_BYTES = 60000 };

static const char *const suffixes[] = {"raw", "npy",    "tif",    "edf",
                                       "cbf", "raw.gz", "npy.gz", "cbf.gz"};
enum { RAW = 0, PACKED = 5, KINDS = 8 };

static void write_file(char path[64], const uint8_t *bytes, size_t size, const char *suffix)
{
    snprintf(path, 64, "%s/airy-frames-%d.%s", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (int)getpid(), suffix);
    FILE *file = fopen(path, "wb");
    require(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static bool never_stop(void *user)
{
    (void)user;
    return false;
}

struct read {
    bool opened, headerless;
    size_t count;
    uint32_t sum; /* of the frames' bytes */
};

/* The first frames, one after the other. */
static struct read read_frames(const char *path, const airy_stack_params *params)
{
    airy_stack *stack = NULL;
    airy_stack_info info;
    struct read read = {.opened = false};
    if (airy_stack_create_with(&stack, &path, 1, params) != AIRY_OK)
        return read;
    require(airy_stack_get_info(stack, &info) == AIRY_OK && info.height > 0 && info.width > 0);
    require(info.frames > 0 || info.headerless);
    read.opened = true;
    read.headerless = info.headerless;
    const size_t size = info.height * info.width * airy_dtype_size(info.dtype);
    uint8_t *frame = size <= MOST_BYTES ? malloc(size) : NULL;
    for (size_t i = 0; frame && i < info.frames && i < MOST_FRAMES; i++) {
        const airy_status status = airy_stack_read(stack, i, frame, size);
        if (status != AIRY_OK && params)
            break;
        read.count += status == AIRY_OK;
        if (status == AIRY_OK)
            read.sum = (uint32_t)crc32(read.sum, frame, (unsigned)size);
    }
    free(frame);
    airy_stack_destroy(&stack);
    return read;
}

/* The same bytes, no more of them than a pipe takes at once. */
static void read_pipe(const uint8_t *bytes, size_t size, const airy_stack_params *params,
                      const struct read *want)
{
    int ends[2];
    char path[32];
    require(pipe(ends) == 0 && write(ends[1], bytes, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    const struct read got = read_frames(path, params);
    require(!want->headerless || (got.count == want->count && got.sum == want->sum));
    close(ends[0]);
}

/* Mostly a sound file of gzip, with one byte changed where the input says so. */
static uint8_t *pack(const uint8_t *data, size_t size, unsigned damage, size_t *packed)
{
    z_stream z = {0};
    require(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    const size_t room = deflateBound(&z, size) + 64;
    uint8_t *out = malloc(room);
    require(out != NULL);
    z.next_in = (uint8_t *)(uintptr_t)data;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)room;
    require(deflate(&z, Z_FINISH) == Z_STREAM_END);
    *packed = z.total_out;
    deflateEnd(&z);
    if (damage & 1)
        out[damage * 31u % *packed] ^= (uint8_t)damage;
    if (damage & 2)
        *packed -= damage % *packed;
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 6)
        return 0;
    const unsigned kind = data[0] % KINDS;
    const airy_raw_frames raw = {.dtype = (airy_dtype)(data[1] % AIRY_DTYPE_COUNT),
                                 .height = data[2],
                                 .width = data[3],
                                 .offset = data[4]};
    const airy_stack_params params = {.raw = &raw,
                                      .raw_if_headerless = true,
                                      .raw_rest = true,
                                      .npy_height = data[2],
                                      .pipe = true,
                                      .stop = never_stop};
    const uint8_t *file = data + 6;
    size_t file_size = size - 6;
    uint8_t *packed = kind >= PACKED ? pack(file, file_size, data[5], &file_size) : NULL;
    char path[64];
    write_file(path, packed ? packed : file, file_size, suffixes[kind]);
    const struct read read = read_frames(path, &params);
    if (kind == RAW && file_size <= PIPE_BYTES)
        read_pipe(file, file_size, &params, &read);
    (void)read_frames(path, NULL);
    unlink(path);
    free(packed);
    return 0;
}
