#include "cli/text_lines.h"

#include <errno.h>
#include <string.h>

enum { LONGEST = 1 << 20 }; /* bytes of a comment */

static int fail_line(const struct text_lines *l, const char *why)
{
    return tool_fail(l->common, "%s%s line %zu: %s", l->option, l->path, l->number, why);
}

/* Bytes up to a line feed or the end, as many as fit. *whole: of all. NULL, or what is wrong. */
static const char *take_line(struct text_lines *l, size_t *whole)
{
    size_t n = 0, used = 0;
    bool turned = false;
    for (int c; (c = getc(l->file)) != EOF; n++) {
        if (c == '\n') {
            n++;
            break;
        }
        if (c == 0)
            return "a byte of value 0, which is in no text";
        if (turned)
            return "lines that end in a carriage return alone; convert them to line feeds";
        turned = c == '\r';
        if (!turned && used + 1 < sizeof(l->line))
            l->line[used++] = (char)c;
        if (n == LONGEST)
            return "longer than 1 MB, so this is no text";
    }
    l->line[used] = 0;
    *whole = n;
    return used + 1 == sizeof(l->line) && l->line[strspn(l->line, " \t")] != '#'
               ? "longer than 4094 bytes"
               : NULL;
}

char *text_next(struct text_lines *lines, int *code)
{
    size_t whole = 0;
    if (*code != AIRY_EXIT_OK)
        return NULL;
    lines->number++;
    const char *why = take_line(lines, &whole);
    if (why)
        *code = fail_line(lines, why);
    else if (ferror(lines->file))
        *code = tool_fail(lines->common, "%s%s: cannot be read (%s)", lines->option, lines->path,
                          strerror(errno));
    return *code == AIRY_EXIT_OK && whole > 0 ? lines->line : NULL;
}
