#include "cli/stack_opt.h"

#include <stdlib.h>
#include <string.h>

static bool parse_size(size_t *size, const char *text, size_t length)
{
    char digits[24];
    uint64_t value;
    snprintf(digits, sizeof(digits), "%.*s", (int)length, text);
    if (length == 0 || length >= sizeof(digits) || !opt_whole(digits, &value) || value == 0 ||
        value > SIZE_MAX)
        return false;
    *size = (size_t)value;
    return true;
}

const char *stack_parse_raw(void *field, const char *text)
{
    static const char wrong[] = "expected WIDTHxHEIGHT,DTYPE[,OFFSET][,little|big], such as "
                                "2070x2167,uint32,512";
    struct raw_opt *raw = field;
    char copy[160], *parts[5];
    size_t count = 0;
    if (strlen(text) >= sizeof(copy))
        return wrong;
    strcpy(copy, text);
    for (char *at = copy; at && count < 5; count++) {
        parts[count] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
    }
    const char *x = strchr(parts[0], 'x');
    if (count < 2 || count > 4 || !x ||
        !parse_size(&raw->frames.width, parts[0], (size_t)(x - parts[0])) ||
        !parse_size(&raw->frames.height, x + 1, strlen(x + 1)))
        return wrong;
    if (airy_dtype_parse(&raw->frames.dtype, parts[1]) != AIRY_OK)
        return airy_last_error();
    const char *order = parts[count - 1];
    if (count > 2 && (strcmp(order, "big") == 0 || strcmp(order, "little") == 0)) {
        raw->frames.big_endian = order[0] == 'b';
        count--;
    }
    if (count > 2 && !opt_whole(parts[2], &raw->frames.offset))
        return wrong;
    raw->given = count <= 3;
    return raw->given ? NULL : wrong;
}

const char *stack_parse_on_error(void *field, const char *text)
{
    static const char *const words[] = {"stop", "skip", NULL};
    int skip = 0;
    const char *expected = opt_word(text, words, &skip);
    *(bool *)field = skip;
    return expected;
}

static airy_status open_as(airy_stack **stack, const struct opt_list *inputs,
                           const struct raw_opt *raw, bool growing)
{
    const airy_stack_params params = {.raw = raw->given ? &raw->frames : NULL,
                                      .growing = growing && !raw->given,
                                      .channel = raw->channel};
    return airy_stack_create_with(stack, inputs->items, inputs->count, &params);
}

airy_status stack_open(airy_stack **stack, const struct opt_list *inputs, const struct raw_opt *raw)
{
    return open_as(stack, inputs, raw, false);
}

airy_status stack_open_growing(airy_stack **stack, const struct opt_list *inputs,
                               const struct raw_opt *raw)
{
    return open_as(stack, inputs, raw, true);
}

/* The file that --channel is about; NULL: there is none. */
static const char *first_file(const struct common *common)
{
    const size_t at = common->command->word_first;
    return common->inputs.count > at ? common->inputs.items[at] : NULL;
}

/* NULL: none, or the path is another one than the first input. */
static const char *channel_of(const struct common *common, const char *path)
{
    const char *first = first_file(common);
    return first && strcmp(path, first) == 0 ? common->channel : NULL;
}

airy_status stack_open_one(airy_stack **stack, const struct common *common, const char *path)
{
    const airy_stack_params params = {.channel = channel_of(common, path)};
    return airy_stack_create_with(stack, &path, 1, &params);
}

int stack_check_channel(const struct common *common)
{
    airy_stack *stack = NULL;
    const char *path = first_file(common);
    if (!common->channel || !path)
        return AIRY_EXIT_OK;
    const airy_status status = stack_open_one(&stack, common, path);
    airy_stack_destroy(&stack);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

const char *stack_path_name(airy_stack_path path)
{
    static const char *const names[] = {[AIRY_STACK_DIRECT] = "direct",
                                        [AIRY_STACK_LIBRARY] = "library",
                                        [AIRY_STACK_FILES] = "files"};
    return names[path];
}
