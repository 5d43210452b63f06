/* Lines of texts that users give, one after another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/file/plain_file.h"

enum { LONGEST = 1 << 20 }; /* bytes of a comment */

struct airy_text {
    FILE *file;
    char *path;
    size_t number; /* of the line that was read last, from 1 */
    char line[4096];
};

airy_status airy_text_open(airy_text **text, const char *path)
{
    FILE *file = NULL;
    AIRY_FAIL_IF(!text || !path, AIRY_ERR_PARAM, "airy_text_open: text or path is NULL");
    AIRY_TRY(airy_file_open_stream(&file, path));
    airy_text *made = calloc(1, sizeof(*made));
    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        fclose(file);
        free(made);
        return airy_fail_on(AIRY_ERR_MEMORY, AIRY_SUBJECT_FILE, "%s: out of memory", path);
    }
    made->file = file;
    *text = made;
    return AIRY_OK;
}

void airy_text_close(airy_text **text)
{
    if (!text || !*text)
        return;
    fclose((*text)->file);
    free((*text)->path);
    explicit_bzero((*text)->line, sizeof((*text)->line)); /* which may be of a secret key */
    free(*text);
    *text = NULL;
}

size_t airy_text_line(const airy_text *text)
{
    return text ? text->number : 0;
}

/* Bytes up to a line feed or the end, as many as fit. *whole: of all. NULL, or what is wrong. */
static const char *take_line(airy_text *l, size_t *whole)
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

airy_status airy_text_next(airy_text *text, char **line)
{
    size_t whole = 0;
    AIRY_FAIL_IF(!text || !line, AIRY_ERR_PARAM, "airy_text_next: text or line is NULL");
    *line = NULL;
    text->number++;
    const char *wrong = take_line(text, &whole);
    AIRY_FAIL_HINT_IF(wrong, AIRY_ERR_FORMAT, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "%s line %zu: %s", text->path, text->number, wrong);
    if (ferror(text->file))
        return airy_fail_system(AIRY_SUBJECT_FILE, errno, "%s: cannot be read (%s)", text->path,
                                strerror(errno));
    *line = whole > 0 ? text->line : NULL;
    return AIRY_OK;
}
