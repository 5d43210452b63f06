/* airy keys: a pair of keys that encrypts streams. */
#include "airy/stream_keys.h"
#include "cli/tool.h"

enum { FILE_BYTES = 4096 + 8 };

struct keys_params {
    struct common common;
};

/* Exit code. */
static int print_pair(const struct common *common, const char *name, const char *key)
{
    char files[2][FILE_BYTES];
    for (int i = 0; i < 2; i++)
        snprintf(files[i], sizeof(files[i]), "%s.%s", name, i ? "pub" : "key");
    if (common->json)
        return tool_print_json(common,
                               json_pack("{s:o, s:o, s:s}", "secret", tool_json_string(files[0]),
                                         "public", tool_json_string(files[1]), "key", key));
    tool_say(common, "%s is the secret key, %s the public one, for the other side", files[0],
             files[1]);
    return AIRY_EXIT_OK;
}

static int run_keys(void *user)
{
    const struct keys_params *p = user;
    const char *name = p->common.inputs.items[0];
    char key[AIRY_STREAM_KEY_BYTES];
    const airy_status status = airy_stream_keys_write(name, key);
    return status == AIRY_OK ? print_pair(&p->common, name, key) : tool_failed(&p->common, status);
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
