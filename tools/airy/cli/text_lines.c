#include "cli/text_lines.h"

#include "airy/file.h"

char *text_next(struct text_lines *l, int *code)
{
    size_t bytes = 0;
    if (*code != AIRY_EXIT_OK)
        return NULL;
    l->number++;
    if (airy_file_read_line(l->line, sizeof(l->line), &bytes, l->file) != AIRY_OK)
        *code = tool_fail(l->common, "%s%s line %zu: %s", l->option, l->path, l->number,
                          airy_last_error());
    return *code == AIRY_EXIT_OK && bytes > 0 ? l->line : NULL;
}
