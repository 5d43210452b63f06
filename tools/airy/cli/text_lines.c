#include "cli/text_lines.h"

bool text_open(struct text_lines *lines, const struct common *common, const char *option,
               const char *path)
{
    *lines = (struct text_lines){.common = common, .option = option, .path = path};
    if (airy_text_open(&lines->text, path) == AIRY_OK)
        return true;
    (void)tool_failed_open(common, option);
    return false;
}

char *text_next(struct text_lines *lines, int *code)
{
    char *line = NULL;
    if (*code == AIRY_EXIT_OK && airy_text_next(lines->text, &line) != AIRY_OK)
        *code = tool_fail(lines->common, "%s%s", lines->option, airy_last_error());
    lines->number = airy_text_line(lines->text);
    return line;
}

void text_close(struct text_lines *lines)
{
    airy_text_close(&lines->text);
}
