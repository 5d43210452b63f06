#include "plot/curve.h"

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

int curve_open(struct curve *curve, const struct common *common, const struct curve_opt *opt)
{
    const airy_stream_key_files files = {
        .secret = opt->key, .server = opt->server, .peers = opt->allow};
    const airy_status status = opt->key ? airy_stream_keys_read(&curve->keys, &files) : AIRY_OK;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

void curve_close(struct curve *curve)
{
    airy_stream_keys_free(&curve->keys);
}

const airy_stream_keys *curve_keys(const struct curve *curve, bool binds)
{
    const airy_stream_keys *keys = curve->keys;
    const bool suits = keys && (binds ? keys->peers != NULL : keys->server != NULL);
    return suits ? keys : NULL;
}
