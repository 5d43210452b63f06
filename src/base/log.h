/* Messages to the process's callback (airy/log.h). */
#ifndef AIRY_BASE_LOG_H
#define AIRY_BASE_LOG_H

#include <stdarg.h>

#include "airy/log.h"

#define AIRY_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* Report a message, of any length. errno and the last error of the thread stay as they are. */
void airy_log(airy_log_level level, const char *format, ...) AIRY_PRINTF(2, 3);

/*
 * Format a message as callbacks receive it. The text is returned: it is room, or where that is too
 * small a longer block, which the caller frees; without memory for one the text is cut.
 */
char *airy_log_format(char *room, size_t size, airy_log_level level, const char *format,
                      va_list args) AIRY_PRINTF(4, 0);

#endif
