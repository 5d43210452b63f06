#include "jobs/curve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "airy/file.h"
#include "base/memory.h"

enum { KEYS_MAX = 1000 };

#define ROW(member, ...) AIRY_JOB_ROW(struct airy_curve_values, member, __VA_ARGS__)
const struct airy_job_row airy_curve_rows[] = {
    ROW(key, .name = "curve-key", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .affects = AIRY_AFFECTS_HOW,
        .help = "encrypts streams with the secret key of this file, which 'airy keys' makes"),
    ROW(server, .name = "curve-server", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .affects = AIRY_AFFECTS_HOW,
        .help = "names the file with the public key of the side that is connected to",
        .only_with = {"curve-key", NULL}),
    ROW(allow, .name = "curve-allow", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_READ,
        .affects = AIRY_AFFECTS_HOW,
        .help = "names the file with the public keys that may connect to this side, one a line",
        .only_with = {"curve-key", NULL}),
    {{0}, 0, NULL}};
#undef ROW

airy_status airy_job_check_curve(const struct airy_curve_values *v, bool connects, bool binds)
{
    AIRY_FAIL_ON_IF(v->server && !connects, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is for the side that connects, and here others connect; give "
                    "curve-allow=FILE",
                    "curve-server");
    AIRY_FAIL_ON_IF(v->allow && !binds, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s is for the side that is connected to, and here nobody connects; give "
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

/* Keys have no space, so a line that begins with "# " is a comment. */
static bool is_key(const char *line)
{
    return *line && strncmp(line, "# ", 2) != 0;
}

/* The keys of a text, one a line. */
static airy_status take_keys(airy_text *text, const char *path, char (*keys)[AIRY_STREAM_KEY_BYTES],
                             size_t most, size_t *count)
{
    char *line = NULL;
    for (*count = 0;;) {
        AIRY_TRY(airy_text_next(text, &line));
        if (!line)
            break;
        const size_t length = strlen(line);
        if (!is_key(line))
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

static airy_status read_secret(struct airy_curve *curve, const char *path)
{
    struct stat about;
    size_t count;
    AIRY_FAIL_HINT_IF(stat(path, &about) == 0 && about.st_mode & (S_IRWXG | S_IRWXO), AIRY_ERR_IO,
                      AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s': others may read this secret key; chmod 600 it", path);
    curve->keys.secret = curve->secret;
    return read_keys(path, &curve->secret, 1, &count);
}

static airy_status read_allowed(struct airy_curve *curve, const char *path)
{
    AIRY_TRY(airy_memory_calloc((void **)&curve->peers, KEYS_MAX, sizeof(curve->peers[0]), "keys"));
    AIRY_TRY(airy_memory_calloc((void **)&curve->list, KEYS_MAX, sizeof(curve->list[0]), "keys"));
    AIRY_TRY(read_keys(path, curve->peers, KEYS_MAX, &curve->keys.peer_count));
    for (size_t i = 0; i < curve->keys.peer_count; i++)
        curve->list[i] = curve->peers[i];
    curve->keys.peers = curve->list;
    return AIRY_OK;
}

airy_status airy_job_open_curve(struct airy_curve *curve, const struct airy_curve_values *v)
{
    size_t count;
    if (v->key)
        AIRY_TRY(read_secret(curve, v->key));
    if (v->server) {
        AIRY_TRY(read_keys(v->server, &curve->server, 1, &count));
        curve->keys.server = curve->server;
    }
    return v->allow ? read_allowed(curve, v->allow) : AIRY_OK;
}

void airy_job_close_curve(struct airy_curve *curve)
{
    explicit_bzero(curve->secret, sizeof(curve->secret));
    free(curve->peers);
    free(curve->list);
    *curve = (struct airy_curve){.peers = NULL};
}

const airy_stream_keys *airy_job_curve_keys(const struct airy_curve *curve, bool binds)
{
    const airy_stream_keys *keys = &curve->keys;
    return (binds ? keys->peers != NULL : keys->server != NULL) ? keys : NULL;
}
