/*
 * Text of files, of their names and of the command line, made harmless for the language that it
 * goes into. Needs nothing of the command, so that a fuzzer calls it alone.
 */
#ifndef AIRY_TOOLS_CLI_QUOTE_H
#define AIRY_TOOLS_CLI_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes of the first character of a text that is not empty, and whether a terminal must not be sent
 * it: control characters (U+0000 to U+001F, U+007F to U+009F), characters that change the direction
 * of what follows or break the line (U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069),
 * and each byte that is no UTF-8, among which an 8-bit terminal finds control characters.
 */
size_t quote_character(bool *unsafe, const char *text);

/*
 * Write text with unsafe characters as escapes, "\n" or "\x1b"; `to` has room for 4 bytes for each
 * byte of text, and 1.
 */
void quote_escape(char *to, const char *text);

/*
 * Of malloc'ed JSON in UTF-8 make one that a terminal may be sent: unsafe characters, which can only
 * be in its strings, become "\u009b". NULL stays NULL, and comes back when memory is short. The
 * text that was given is no longer the caller's.
 */
char *quote_json(char *json);

/* Characters that gnuplot gets of a text at most, and bytes of a quoted text. */
enum { QUOTE_MOST = 300, QUOTE_GNUPLOT = 4 * QUOTE_MOST + 8 };
/*
 * Write text as a string of gnuplot in single quotes, in which gnuplot knows no escapes and runs
 * nothing: quotes are doubled, unsafe characters are left out, U+FFFD stands
 * for bytes that are no UTF-8 and for what XML does not have (U+FFFE, U+FFFF). Of a longer text
 * QUOTE_MOST characters are left, the last one an ellipsis. Markup ("a_b", "{/Symbol a}") still
 * is markup unless the word "noenhanced" follows, as gnuplot_text() writes it. Returns `to`.
 */
const char *quote_gnuplot(char to[QUOTE_GNUPLOT], const char *text);

#endif
