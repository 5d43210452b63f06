#include "jobs/curve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/file.h"
#include "base/memory.h"

enum { PEERS_MOST = 1000 };

#define ROW(member, ...)                                                                           \
    AIRY_JOB_ROW(struct airy_curve_values, member, .type = AIRY_PARAMETER_PATH,                    \
                 .role = AIRY_ROLE_READ, .affects = AIRY_AFFECTS_HOW, __VA_ARGS__)
const struct airy_job_row airy_curve_rows[] = {
    ROW(key, .name = "curve-key",
        .help = "encrypts the stream, with the secret key of this file ('airy keys' makes one)"),
    ROW(server, .name = "curve-server",
        .help = "takes the public key of the side that is connected to from this file"),
    ROW(allow, .name = "curve-allow",
        .help = "accepts connections to this side only from the public keys of this file, one a "
                "line"),
    {{0}, 0, NULL}};
#undef ROW

airy_status airy_job_check_curve(const struct airy_curve_values *values, bool connects, bool binds)
{
    const struct airy_curve_values *v = values;
    AIRY_FAIL_ON_IF(!v->key && (v->server || v->allow), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s goes with curve-key=FILE, the own secret key",
                    v->server ? "curve-server" : "curve-allow");
    AIRY_FAIL_ON_IF(v->server && !connects, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is for the side that connects; here others connect: give curve-allow=FILE",
                    "curve-server");
    AIRY_FAIL_ON_IF(v->allow && !binds, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is for the side that is connected to; here nobody connects: give "
                    "curve-server=FILE",
                    "curve-allow");
    AIRY_FAIL_ON_IF(v->key && binds && !v->allow, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: others connect here, and curve-allow=FILE names the public keys that may",
                    "curve-key");
    AIRY_FAIL_ON_IF(v->key && !binds && !v->server, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s: curve-server=FILE names the public key of the side that is connected to",
                    "curve-key");
    return AIRY_OK;
}

/* The keys with the memory of their texts. */
struct key_files {
    airy_stream_keys keys; /* first: it is what callers have */
    char secret[AIRY_STREAM_KEY_BYTES], server[AIRY_STREAM_KEY_BYTES];
    char peers[PEERS_MOST][AIRY_STREAM_KEY_BYTES];
    const char *list[PEERS_MOST];
};

/* Lines that begin with "# " are comments: keys have no space. */
static airy_status take_keys(airy_text *text, const char *path, char (*keys)[AIRY_STREAM_KEY_BYTES],
                             size_t most, size_t *count)
{
    char *line = NULL;
    for (*count = 0;;) {
        AIRY_TRY(airy_text_next(text, &line));
        const size_t length = line ? strlen(line) : 0;
        if (!line)
            break;
        if (length == 0 || strncmp(line, "# ", 2) == 0)
            continue;
        AIRY_FAIL_HINT_IF(length != AIRY_STREAM_KEY_BYTES - 1, AIRY_ERR_FORMAT, AIRY_HINT_STATED,
                          AIRY_SUBJECT_FILE, "'%s': a key has %zu characters, expected %d", path,
                          length, AIRY_STREAM_KEY_BYTES - 1);
        AIRY_FAIL_HINT_IF(*count == most, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                          "'%s': more than %zu key%s", path, most, most == 1 ? "" : "s");
        memcpy(keys[(*count)++], line, AIRY_STREAM_KEY_BYTES);
    }
    AIRY_FAIL_HINT_IF(*count == 0, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s': no key is in it", path);
    return AIRY_OK;
}

static airy_status read_keys(const char *path, char (*keys)[AIRY_STREAM_KEY_BYTES], size_t most,
                             size_t *count)
{
    airy_text *text = NULL;
    AIRY_TRY(airy_text_open(&text, path));
    const airy_status status = take_keys(text, path, keys, most, count);
    airy_text_close(&text);
    return status;
}

static airy_status read_files(struct key_files *k, const airy_stream_key_files *files)
{
    struct stat about;
    size_t count;
    const bool open = files->secret && stat(files->secret, &about) == 0 &&
                      about.st_mode & (S_IRWXG | S_IRWXO);
    AIRY_FAIL_HINT_IF(open, AIRY_ERR_PARAM, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s': others may read this secret key; chmod 600 it", files->secret);
    if (files->secret) {
        k->keys.secret = k->secret;
        AIRY_TRY(read_keys(files->secret, &k->secret, 1, &count));
    }
    if (files->server) {
        k->keys.server = k->server;
        AIRY_TRY(read_keys(files->server, &k->server, 1, &count));
    }
    if (!files->peers)
        return AIRY_OK;
    AIRY_TRY(read_keys(files->peers, k->peers, PEERS_MOST, &k->keys.peer_count));
    for (size_t i = 0; i < k->keys.peer_count; i++)
        k->list[i] = k->peers[i];
    k->keys.peers = k->list;
    return AIRY_OK;
}

airy_status airy_stream_keys_read(airy_stream_keys **keys, const airy_stream_key_files *files)
{
    struct key_files *k = NULL;
    AIRY_FAIL_IF(!keys || !files, AIRY_ERR_PARAM, "airy_stream_keys_read: keys or files is NULL");
    AIRY_TRY(airy_memory_calloc((void **)&k, 1, sizeof(*k), "keys"));
    *keys = &k->keys;
    const airy_status status = read_files(k, files);
    if (status != AIRY_OK)
        airy_stream_keys_free(keys);
    return status;
}

void airy_stream_keys_free(airy_stream_keys **keys)
{
    if (!keys || !*keys)
        return;
    explicit_bzero(*keys, sizeof(struct key_files));
    free(*keys);
    *keys = NULL;
}

airy_status airy_job_read_curve(airy_stream_keys **keys, const struct airy_curve_values *values)
{
    const airy_stream_key_files files = {
        .secret = values->key, .server = values->server, .peers = values->allow};
    return values->key ? airy_stream_keys_read(keys, &files) : AIRY_OK;
}

const airy_stream_keys *airy_curve_side(const airy_stream_keys *keys, bool binds)
{
    const bool suits = keys && (binds ? keys->peers != NULL : keys->server != NULL);
    return suits ? keys : NULL;
}
