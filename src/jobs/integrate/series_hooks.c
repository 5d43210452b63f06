/* How a live run reports: messages, progress and events, each by one thread at a time; failures. */
#include <stdarg.h>
#include <string.h>

#include "jobs/integrate/series_service.h"

void airy_series_one_line(char *text)
{
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = '?';
}

void airy_series_message(void *user, airy_log_level level, const char *text)
{
    struct airy_service *s = user;
    pthread_mutex_lock(&s->speaking);
    airy_job_frame_message(s->job, level, text);
    pthread_mutex_unlock(&s->speaking);
}

void airy_series_say(struct airy_service *s, airy_log_level level, const char *format, ...)
{
    char text[AIRY_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    airy_series_one_line(text);
    pthread_mutex_lock(&s->speaking);
    airy_job_pass_message(s->job, level, text);
    pthread_mutex_unlock(&s->speaking);
}

bool airy_series_step(void *user, size_t done, size_t total)
{
    struct airy_service *s = user;
    pthread_mutex_lock(&s->stepping);
    s->at = done;
    s->of = total;
    const bool proceed = airy_job_step(s->job, done, total);
    pthread_mutex_unlock(&s->stepping);
    if (!proceed)
        atomic_store(&s->stopped, true);
    return proceed && !atomic_load(&s->stopped);
}

bool airy_series_is_cancelled(struct airy_service *s)
{
    if (!atomic_load(&s->stopped) && pthread_mutex_trylock(&s->stepping) == 0) {
        if (!airy_job_step(s->job, s->at, s->of))
            atomic_store(&s->stopped, true);
        pthread_mutex_unlock(&s->stepping);
    }
    return atomic_load(&s->stopped);
}

size_t airy_series_wanted(const struct airy_service *s)
{
    const size_t given = s->v->series.series;
    return given ? given : s->named ? SIZE_MAX : 1;
}

/* An airy_hint_style with the job as user. */
static bool name_parameter(void *user, char *text, size_t size, const char *name, const char *value)
{
    if (!airy_job_has(user, name))
        return false;
    snprintf(text, size, "%s%s%s", name, value ? "=" : "", value ? value : "");
    return true;
}

void airy_series_hint(char text[AIRY_HINT_TEXT], const airy_job *job, airy_hint hint)
{
    airy_hint_render(text, AIRY_HINT_TEXT, hint, name_parameter, (void *)job);
}

airy_status airy_series_fail(struct airy_service *s, uint64_t id, airy_status status,
                             airy_hint hint, const char *format, ...)
{
    const bool alone = airy_series_wanted(s) == 1; /* its record is that of the run */
    const bool kept = alone && hint == AIRY_HINT_INTERRUPTED;
    char tail[AIRY_HINT_TEXT], sentence[AIRY_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    airy_series_one_line(sentence);
    airy_series_hint(tail, s->job, hint);
    snprintf(s->why, sizeof(s->why), "%s%s%s", sentence, *tail ? "; " : "", tail);
    s->said = true;
    (void)airy_fail(status, "series %llu%s%s", (unsigned long long)id,
                    strncmp(s->why, "is ", 3) == 0 ? " " : ": ", kept ? sentence : s->why);
    (void)airy_hinted(kept ? hint : AIRY_HINT_STATED, status);
    airy_error_get(&s->failure);
    if (!alone)
        airy_series_say(s, AIRY_LOG_ERROR, "%s", s->failure.text);
    return status;
}
