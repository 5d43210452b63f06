#include "plot/curve.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/text_lines.h"

enum { KEYS_MAX = 1000 };

int curve_check(const struct common *common, const struct curve_opt *opt, bool connects, bool binds)
{
    if (!opt->key)
        return !opt->server && !opt->allow
                   ? AIRY_EXIT_OK
                   : tool_usage(common, "--curve-%s goes with --curve-key FILE, the own secret key",
                                opt->server ? "server" : "allow");
    if (opt->server && !connects)
        return tool_usage(common, "--curve-server is for the side that connects; here others "
                                  "connect: give --curve-allow FILE");
    if (opt->allow && !binds)
        return tool_usage(common, "--curve-allow is for the side that is connected to; here nobody "
                                  "connects: give --curve-server FILE");
    if (binds && !opt->allow)
        return tool_usage(common, "--curve-key: others connect here, and --curve-allow FILE names "
                                  "the public keys that may");
    if (!binds && !opt->server)
        return tool_usage(common, "--curve-key: --curve-server FILE names the public key of the "
                                  "side that is connected to");
    return AIRY_EXIT_OK;
}

/* The keys of a file, one a line; lines that begin with "# " are comments: keys have no space. */
static int read_keys(const struct common *common, const char *path,
                     char (*keys)[AIRY_STREAM_KEY_BYTES], size_t most, size_t *count)
{
    struct text_lines lines;
    int code = AIRY_EXIT_OK;
    if (!text_open(&lines, common, "", path))
        return AIRY_EXIT_FAILED;
    *count = 0;
    for (const char *line; (line = text_next(&lines, &code)) != NULL;) {
        const size_t length = strlen(line);
        if (length == 0 || strncmp(line, "# ", 2) == 0)
            continue;
        if (length != AIRY_STREAM_KEY_BYTES - 1)
            code = tool_fail(common, "'%s': a key has %zu characters, expected %d", path, length,
                             AIRY_STREAM_KEY_BYTES - 1);
        else if (*count == most)
            code = tool_fail(common, "'%s': more than %zu key%s", path, most, tool_s(most));
        else
            memcpy(keys[(*count)++], line, AIRY_STREAM_KEY_BYTES);
    }
    text_close(&lines);
    return code != AIRY_EXIT_OK || *count > 0 ? code
                                              : tool_fail(common, "'%s': no key is in it", path);
}

static int read_secret(struct curve *curve, const struct common *common, const char *path)
{
    struct stat about;
    size_t count;
    if (stat(path, &about) == 0 && about.st_mode & (S_IRWXG | S_IRWXO))
        return tool_fail(common, "'%s': others may read this secret key; chmod 600 it", path);
    curve->keys.secret = curve->secret;
    return read_keys(common, path, &curve->secret, 1, &count);
}

int curve_open(struct curve *curve, const struct common *common, const struct curve_opt *opt)
{
    size_t count;
    int code = opt->key ? read_secret(curve, common, opt->key) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK && opt->server) {
        curve->keys.server = curve->server;
        code = read_keys(common, opt->server, &curve->server, 1, &count);
    }
    if (code != AIRY_EXIT_OK || !opt->allow)
        return code;
    curve->peers = calloc(KEYS_MAX, sizeof(curve->peers[0]));
    curve->list = calloc(KEYS_MAX, sizeof(curve->list[0]));
    if (!curve->peers || !curve->list)
        return tool_fail(common, "out of memory for %d keys", KEYS_MAX);
    code = read_keys(common, opt->allow, curve->peers, KEYS_MAX, &curve->keys.peer_count);
    for (size_t i = 0; i < curve->keys.peer_count; i++)
        curve->list[i] = curve->peers[i];
    curve->keys.peers = curve->list;
    return code;
}

void curve_close(struct curve *curve)
{
    explicit_bzero(curve->secret, sizeof(curve->secret));
    free(curve->peers);
    free(curve->list);
}

const airy_stream_keys *curve_keys(const struct curve *curve, bool binds)
{
    const airy_stream_keys *keys = &curve->keys;
    return binds ? (keys->peers ? keys : NULL) : keys->server ? keys : NULL;
}
