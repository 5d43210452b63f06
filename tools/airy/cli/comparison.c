#include "cli/comparison.h"

void compare_begin(const struct common *common, airy_queue *queue)
{
    struct comparison *c = common->comparison;
    if (!c || c->begun > 0)
        return;
    (void)airy_queue_finish(queue); /* its error is the command's own finish's to tell */
    c->begun = tool_now();
}

void compare_end(const struct common *common)
{
    struct comparison *c = common->comparison;
    if (c && c->ended <= 0)
        c->ended = tool_now();
}

void compare_answer(const struct common *common, json_t *json)
{
    struct comparison *c = common->comparison;
    json_decref(c->answer);
    c->answer = json;
    compare_end(common);
}

airy_status compare_profile(const struct common *common, const airy_device *device)
{
    airy_profile_row *rows = NULL;
    size_t count = 0;
    struct comparison *c = common->comparison;
    const airy_status status = airy_profile_get(device, &rows, &count);
    for (size_t i = 0; i < count && status == AIRY_OK; i++)
        *(rows[i].transfer ? &c->copies : &c->kernels) += rows[i].total * 1e-3;
    airy_profile_free(rows);
    return status;
}
