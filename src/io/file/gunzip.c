#include "io/file/gunzip.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/size.h"
#include "io/file/plain_file.h"

enum { PIECE = 1 << 16, FIRST = 1 << 20 };

struct unpack {
    z_stream stream;
    uint8_t *out;
    size_t room, used;
    airy_gunzip_expect_fn *expect;
    void *user;
    uint8_t in[PIECE];
};

static airy_status grow(struct unpack *u)
{
    size_t room = u->room ? u->room : FIRST / 2;
    uint64_t expected = FIRST;
    if (u->used > 0)
        AIRY_TRY(u->expect(&expected, u->user, u->out, u->used));
    AIRY_FAIL_IF(u->used >= expected, AIRY_ERR_CORRUPT,
                 "gzip: it unpacks to more than %zu bytes, and its headers account for fewer",
                 u->used);
    AIRY_FAIL_IF(airy_mul_size(&room, room, 2), AIRY_ERR_MEMORY, "it unpacks to too many bytes");
    room = (size_t)(room < expected ? room : expected);
    AIRY_FAIL_IF(room > airy_memory_available(), AIRY_ERR_MEMORY,
                 "it unpacks to more than %zu bytes, more than the memory that is left", u->used);
    uint8_t *out = realloc(u->out, room);
    AIRY_FAIL_IF(!out, AIRY_ERR_MEMORY, "cannot allocate %zu bytes to unpack it", room);
    u->out = out;
    u->room = room;
    return AIRY_OK;
}

/* What is in u->in; *ended: a member is complete, and another may follow. */
static airy_status inflate_piece(struct unpack *u, bool *ended)
{
    while (u->stream.avail_in > 0) {
        if (*ended) {
            AIRY_FAIL_IF(inflateReset(&u->stream) != Z_OK, AIRY_ERR_CORRUPT, "gzip: no reset");
            *ended = false;
        }
        if (u->used == u->room)
            AIRY_TRY(grow(u));
        const uInt room = (uInt)airy_min_size(u->room - u->used, 1u << 30);
        u->stream.next_out = u->out + u->used;
        u->stream.avail_out = room;
        const int code = inflate(&u->stream, Z_NO_FLUSH);
        u->used += room - u->stream.avail_out;
        *ended = code == Z_STREAM_END;
        AIRY_FAIL_IF(code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR, AIRY_ERR_CORRUPT,
                     "gzip: %s", u->stream.msg ? u->stream.msg : "the data do not decode");
    }
    return AIRY_OK;
}

static airy_status unpack_all(struct unpack *u, int fd, uint64_t size)
{
    bool ended = false;
    for (uint64_t at = 0; at < size;) {
        const size_t n = airy_min_size(PIECE, (size_t)(size - at));
        AIRY_TRY(airy_file_pread(fd, u->in, n, at));
        u->stream.next_in = u->in;
        u->stream.avail_in = (uInt)n;
        AIRY_TRY(inflate_piece(u, &ended));
        at += n;
    }
    /* The last bytes may still be inside zlib when the output was full. */
    while (!ended) {
        const size_t before = u->used;
        if (u->used == u->room)
            AIRY_TRY(grow(u));
        u->stream.next_out = u->out + u->used;
        u->stream.avail_out = (uInt)airy_min_size(u->room - u->used, 1u << 30);
        const uInt room = u->stream.avail_out;
        const int code = inflate(&u->stream, Z_NO_FLUSH);
        u->used += room - u->stream.avail_out;
        ended = code == Z_STREAM_END;
        AIRY_FAIL_IF(!ended && u->used == before, AIRY_ERR_CORRUPT,
                     "gzip: the file ends inside its data");
    }
    return AIRY_OK;
}

airy_status airy_gunzip(void **data, size_t *bytes, int fd, uint64_t size,
                        airy_gunzip_expect_fn *expect, void *user)
{
    struct unpack *u = calloc(1, sizeof(*u));
    AIRY_FAIL_IF(!u, AIRY_ERR_MEMORY, "cannot allocate %zu bytes to unpack", sizeof(*u));
    airy_status status = AIRY_OK;
    u->expect = expect;
    u->user = user;
    if (inflateInit2(&u->stream, 15 + 16) != Z_OK) /* 15 bits of window, gzip's header */
        status = airy_fail(AIRY_ERR_MEMORY, "zlib does not start");
    if (status == AIRY_OK) {
        status = unpack_all(u, fd, size);
        inflateEnd(&u->stream);
    }
    if (status == AIRY_OK) {
        *data = u->out;
        *bytes = u->used;
    } else {
        free(u->out);
    }
    free(u);
    return status;
}

bool airy_gunzip_size(size_t *unpacked, const void *bytes, size_t size, size_t most)
{
    struct unpack *u = calloc(1, sizeof(*u));
    if (!u || inflateInit2(&u->stream, 15 + 16) != Z_OK) {
        free(u);
        return false;
    }
    int code = Z_OK;
    u->stream.next_in = (z_const Bytef *)bytes;
    u->stream.avail_in = (uInt)airy_min_size(size, 1u << 30);
    while (code == Z_OK && u->used <= most) {
        u->stream.next_out = u->in;
        u->stream.avail_out = PIECE;
        code = inflate(&u->stream, Z_NO_FLUSH);
        u->used += PIECE - u->stream.avail_out;
    }
    const bool ends = code == Z_STREAM_END && u->used <= most;
    *unpacked = u->used;
    inflateEnd(&u->stream);
    free(u);
    return ends;
}
