/* Lines of a text that an option or an argument names, with failures printed. */
#ifndef AIRY_TOOLS_CLI_TEXT_LINES_H
#define AIRY_TOOLS_CLI_TEXT_LINES_H

#include "airy/file.h"
#include "cli/tool.h"

struct text_lines {
    const struct common *common;
    const char *option; /* "--curve ", or "" */
    const char *path;
    airy_text *text;
    size_t number; /* of the line that was read last, from 1 */
};

/* Open it; false after a message. */
bool text_open(struct text_lines *lines, const struct common *common, const char *option,
               const char *path);
/*
 * Return the next line, as airy_text_next does; NULL at the end, where *code stays, or after a failure,
 * which is printed and becomes *code.
 */
char *text_next(struct text_lines *lines, int *code);
void text_close(struct text_lines *lines);

#endif
