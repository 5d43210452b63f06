/* airy keys: a pair of keys that encrypts streams. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "airy/stream_keys.h"
#include "cli/tool.h"

struct keys_params {
    struct common common;
};

/* A new file; what is there stays. Exit code. */
static int write_key(const struct common *common, const char *path, mode_t mode, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return tool_fail(common, "cannot write '%s': %s; %s", path, strerror(errno),
                         errno == EEXIST ? "keys are never overwritten"
                                         : "check path, permissions and free space");
    const size_t size = strlen(text);
    const bool written = write(fd, text, size) == (ssize_t)size && fsync(fd) == 0;
    const int why = errno;
    if (close(fd) == 0 && written)
        return AIRY_EXIT_OK;
    (void)unlink(path);
    return tool_fail(common, "cannot write '%s': %s", path, strerror(why));
}

static int run_keys(void *user)
{
    const struct keys_params *p = user;
    const struct common *common = &p->common;
    const char *name = common->inputs.items[0];
    char open_key[AIRY_STREAM_KEY_BYTES], secret[AIRY_STREAM_KEY_BYTES], text[256],
        files[2][4096 + 8];
    for (int i = 0; i < 2; i++) {
        const int n = snprintf(files[i], sizeof(files[i]), "%s.%s", name, i ? "pub" : "key");
        if (n < 0 || (size_t)n >= sizeof(files[i]))
            return tool_fail(common, "the name of the keys is longer than %zu bytes",
                             sizeof(files[i]) - 1);
    }
    if (tool_exists(files[1]))
        return tool_fail(common, "'%s' is there already; keys are never overwritten", files[1]);
    const airy_status status = airy_stream_keys_make(open_key, secret);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    snprintf(text, sizeof(text),
             "# secret key of CURVE, for --curve-key; keep it to yourself\n%s\n", secret);
    int code = write_key(common, files[0], 0600, text);
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(text, sizeof(text));
    if (code != AIRY_EXIT_OK)
        return code;
    snprintf(text, sizeof(text), "# public key of CURVE, for --curve-server or --curve-allow\n%s\n",
             open_key);
    code = write_key(common, files[1], 0644, text);
    if (code != AIRY_EXIT_OK) {
        (void)unlink(files[0]);
        return code;
    }
    if (common->json)
        return tool_print_json(common,
                               json_pack("{s:o, s:o, s:s}", "secret", tool_json_string(files[0]),
                                         "public", tool_json_string(files[1]), "key", open_key));
    tool_say(common, "%s is the secret key, %s the public one, for the other side", files[0],
             files[1]);
    return AIRY_EXIT_OK;
}

const struct command cmd_keys = {
    .name = "keys",
    .usage = "NAME",
    .summary = "a pair of keys that encrypts streams",
    .details = "Writes NAME.key, the secret key, which only its owner may read, and NAME.pub, the "
               "public key, for the other side. 'airy integrate' and 'airy stream' take them by "
               "--curve-key, --curve-server and --curve-allow: see docs/live.md.",
    .examples = "  airy keys receiver\n",
    .params_size = sizeof(struct keys_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .run = run_keys,
};
