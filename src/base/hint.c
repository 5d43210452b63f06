#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "airy/error.h"

enum { MOST_ALTERNATIVES = 8, REFERENCE = 96 };

/*
 * Alternatives stand between bars. {name} and {name=value} are parameters, {name()} and
 * {name(argument)} functions, as airy_hint_style gets them. An alternative is left out where the
 * interface lacks any of them; one that begins with a question mark is used only where all those
 * before it are left out, and one that begins with an ampersand follows a semicolon, not ", or".
 */
static const char *const templates[AIRY_HINT_COUNT] = {
    [AIRY_HINT_NONE] = "",
    [AIRY_HINT_STATED] = "",
    [AIRY_HINT_OVERWRITE] = "{force=on} overwrites it|?choose another name",
    [AIRY_HINT_INTERRUPTED] = "{resume=on} continues it|{force=on} starts anew|"
                              "?remove it, or choose another name",
    [AIRY_HINT_FOLLOW] = "resume it by {follow=on}|?resume it by a live run without a number of "
                         "frames",
    [AIRY_HINT_NO_FOLLOW] = "resume it without {follow=on}|?resume it with the number of frames",
    [AIRY_HINT_UNFINISHED] = "wait until its run has ended, or continue that run by resume",
    [AIRY_HINT_PARTIAL] = "wait until its run has ended, or give that name to read what there is",
    [AIRY_HINT_PATH] = "check the path",
    [AIRY_HINT_FILE] = "check the file",
    [AIRY_HINT_FETCH] = "fetch the file again",
    [AIRY_HINT_ACCESS] = "check path, permissions and free space",
    [AIRY_HINT_PERMISSIONS] = "check its permissions, and those of its folder",
    [AIRY_HINT_SPACE] = "make room, or write elsewhere",
    [AIRY_HINT_WRITER] = "wait until that has ended, or end it",
    [AIRY_HINT_PIPE] = "write it into a file first",
    [AIRY_HINT_REGULAR] = "give a file",
    [AIRY_HINT_FOLDER] = "give a file|a folder's files as {inputs=FOLDER/*.cbf}",
    [AIRY_HINT_CONTENTS] = "{info(FILE)} lists what it holds|?choose a file with an image",
    [AIRY_HINT_NAME] = "check the name ({info(FILE)} lists what a file holds)|?check the name",
    [AIRY_HINT_GROWING] = "it may still be written, or its copy was cut",
    [AIRY_HINT_GROWING_FRAMES] = "it may still be written, or its copy was cut|"
                                 "&{on-error=skip} goes on without such frames",
    [AIRY_HINT_DATA_FILE] = "put the whole file beside its master",
    [AIRY_HINT_DATA_FRAMES] = "put the whole file beside its master|"
                              "&{on-error=skip} goes on without such frames",
    [AIRY_HINT_FRAMES] = "{frames} chooses others|?choose others",
    [AIRY_HINT_RAW] = "check the file|describe its frames by {raw}",
    [AIRY_HINT_MASK] = "{mask-only=FILE} takes another mask instead|"
                       "?{convert()} writes the frames without it|?use another mask",
    [AIRY_HINT_WAVELENGTH] = "give {wavelength=L} or {energy=E}|?give the geometry a wavelength",
    [AIRY_HINT_ATTENUATION] = "give its coefficient by {attenuation}|?give its coefficient",
    [AIRY_HINT_DETECTORS] = "{info(detectors=on)} lists all|?check the name",
    [AIRY_HINT_CELESTIAL] = "only FITS images with RA and DEC in their header have positions in "
                            "the sky",
    [AIRY_HINT_COMPLEX] = "{convert(complex-as-pairs=on)} writes their real and imaginary parts as "
                          "a last axis of 2|?write real and imaginary parts as a last axis of 2",
    [AIRY_HINT_MEMORY] = "raise {memory-limit}|lower {batch} or {threads}|choose another {device}|"
                         "?use a machine with more memory, or smaller data",
    [AIRY_HINT_MATRIX] = "raise {memory-limit}|use fewer {bins}|split pixels less by {split=no}|"
                         "choose another {device}|?use fewer bins, or a machine with more memory",
    [AIRY_HINT_BINS] = "raise {memory-limit}|use fewer {bins}|choose another {device}|"
                       "?use fewer bins, or a machine with more memory",
    [AIRY_HINT_MAX_PIXELS] = "{on-error=skip} goes on without such frames|raise {max-pixels}",
    [AIRY_HINT_MAX_PEAKS] = "{on-error=skip} goes on without such frames|raise {max-peaks}",
    [AIRY_HINT_SAME_OPTIONS] = "give results made with the same options",
    [AIRY_HINT_DEVICES] = "{devices()} lists what there is|?list the devices",
    [AIRY_HINT_CPU] = "use {device=cpu}|?use the CPU",
    [AIRY_HINT_CPU_OR_FLOAT32] = "use float32 arrays|use {device=cpu}",
    [AIRY_HINT_STREAM] =
        "streams (tcp://HOST:PORT) are taken by {integrate()} alone, as its input|?give a file",
    [AIRY_HINT_BIND] = "{connect} goes to a receiver that is bound elsewhere|"
                       "?use an address of this machine",
    [AIRY_HINT_PORT] = "another program has this port: end that one, or choose another port",
    [AIRY_HINT_HOST] = "check the name of the host",
    [AIRY_HINT_PRODUCER] = "its producer must be started first",
    [AIRY_HINT_SKIP] = "{on-error=skip} goes on without such frames|?fetch the file again",
    [AIRY_HINT_SKIP_RESUME] =
        "{on-error=skip} together with {resume=on} goes on without such frames|"
        "?fetch the file again",
    [AIRY_HINT_LATE] = "images of this one come by {resume=on}, with the detector's own file as "
                       "input",
    [AIRY_HINT_ANEW] = "{force=on} without {resume=on} starts anew|"
                       "?remove it, or choose another name",
    [AIRY_HINT_SAME_RUN] = "give the same options, or {force=on} without {resume=on} to start anew|"
                           "?give the same options",
    [AIRY_HINT_DETECTOR] = "give the right {detector}, and {binning} only where pixels are binned|"
                           "?name the right detector, and a binning only where pixels are binned",
    [AIRY_HINT_SENSOR] = "give {sensor=MATERIAL,THICKNESS} or {attenuation=MU}|"
                         "?give the sensor's material and thickness, or its attenuation",
    [AIRY_HINT_FETCH_GEOMETRY] = "fetch it again|give {poni=FILE}",
    [AIRY_HINT_GIVE_GEOMETRY] = "give {poni=FILE}|{detector}, {dist}, {poni1}, {poni2} and "
                                "{wavelength}|?give a geometry",
    [AIRY_HINT_GIVE_PIXELS] = "give {pixel=P1,P2}|{poni=FILE}|?give the pixel size",
    [AIRY_HINT_GIVE_DISTANCE] = "give {dist=D}|{poni=FILE}|?give the distance",
    [AIRY_HINT_GIVE_CENTER] = "give {poni1=Y} {poni2=X}|{poni=FILE}|?give the beam centre",
    [AIRY_HINT_GIVE_WAVELENGTH] = "give {wavelength=L} or {energy=E}|?give the wavelength",
    [AIRY_HINT_GIVE_BEAM] = "give {center=Y,X}|{poni1=Y} {poni2=X}|?give the beam centre",
    [AIRY_HINT_GIVE_DETECTOR] = "give {detector=NAME} or {pixel=P1,P2}|?name the detector",
    [AIRY_HINT_HOLD_PIXELS] = "process them one by one|give {pixel=P1,P2} or {poni=FILE}",
    [AIRY_HINT_HOLD_DISTANCE] = "process them one by one|give {dist=D} or {poni=FILE}",
    [AIRY_HINT_HOLD_CENTER] = "process them one by one|give {poni1=Y} {poni2=X} or {poni=FILE}",
    [AIRY_HINT_HOLD_WAVELENGTH] = "process them one by one|give {wavelength=L} or {poni=FILE}",
    [AIRY_HINT_HOLD_TILT] = "process them one by one|give {rot1=A} {rot2=A} {rot3=A} or "
                            "{poni=FILE}",
    [AIRY_HINT_FRAME] = "{frames=N} takes one|?choose one frame",
};

/* The interface has this name; no list: it has all. */
static bool has_name(const void *user, const char *name)
{
    const char *const *names = user;
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return !names || *names;
}

/* An identifier for it: "on-error" is "on_error", "info()" is "info". */
static void spell(char *text, size_t size, const char *name)
{
    snprintf(text, size, "%.*s", (int)strcspn(name, "("), name);
    for (char *c = text; *c; c++)
        *c = *c == '-' ? '_' : *c;
}

/* What stands for whatever the user chooses: L, FILE. */
static bool is_placeholder(const char *value)
{
    while (*value && !islower((unsigned char)*value))
        value++;
    return !*value;
}

/* name=VALUE, name=True or name="value" */
static void assign(char *text, size_t size, const char *name, const char *value)
{
    char spelled[REFERENCE];
    spell(spelled, sizeof(spelled), name);
    if (strcmp(value, "on") == 0)
        snprintf(text, size, "%s=True", spelled);
    else if (is_placeholder(value))
        snprintf(text, size, "%s=%s", spelled, value);
    else
        snprintf(text, size, "%s=\"%s\"", spelled, value);
}

bool airy_hint_keyword(void *user, char *text, size_t size, const char *name, const char *value)
{
    char argument[REFERENCE] = "", key[REFERENCE];
    if (!has_name(user, name))
        return false;
    if (name[strlen(name) - 1] == ')') {
        const char *equals = value ? strchr(value, '=') : NULL;
        snprintf(key, sizeof(key), "%.*s", equals ? (int)(equals - value) : 0, value ? value : "");
        if (equals)
            assign(argument, sizeof(argument), key, equals + 1);
        else if (value)
            snprintf(argument, sizeof(argument), "%s", value);
        spell(key, sizeof(key), name);
        snprintf(text, size, "airy.%s(%s)", key, argument);
    } else if (value) {
        assign(text, size, name, value);
    } else {
        spell(text, size, name);
    }
    return true;
}

/* Arguments and members of the library's own functions and structs; what is not here C lacks. */
static const struct {
    const char *name, *value, *text;
} in_c[] = {{"force", "on", "force = true"},
            {"resume", "on", "resume = true"},
            {"on-error", "skip", "skip_bad = true"},
            {"raw", NULL, "airy_stack_params.raw"},
            {"memory-limit", NULL, "memory_limit"},
            {"batch", NULL, "batch"},
            {"threads", NULL, "threads"},
            {"device", NULL, "device"},
            {"bins", NULL, "bins"},
            {"split", "no", "AIRY_SPLIT_NO"},
            {"max-pixels", NULL, "max_pixels"},
            {"max-peaks", NULL, "max_peaks"}};

static bool name_in_c(char *text, size_t size, const char *name, const char *value)
{
    for (size_t i = 0; i < sizeof(in_c) / sizeof(in_c[0]); i++)
        if (strcmp(in_c[i].name, name) == 0 && !in_c[i].value == !value &&
            (!value || strcmp(in_c[i].value, value) == 0)) {
            snprintf(text, size, "%s", in_c[i].text);
            return true;
        }
    return false;
}

bool airy_hint_c(void *user, char *text, size_t size, const char *name, const char *value)
{
    char spelled[REFERENCE];
    if (!user)
        return name_in_c(text, size, name, value);
    if (name[strlen(name) - 1] == ')' || !has_name(user, name))
        return false;
    spell(spelled, sizeof(spelled), name);
    if (!value || strcmp(value, "on") == 0)
        snprintf(text, size, "\"%s\"", spelled);
    else if (is_placeholder(value))
        snprintf(text, size, "\"%s\" = %s", spelled, value);
    else
        snprintf(text, size, "\"%s\" = \"%s\"", spelled, value);
    return true;
}

/* What stands in braces, as the interface names it; false: it lacks that. */
static bool refer(char *text, size_t size, const char *reference, int length, airy_hint_style style,
                  void *user)
{
    char name[REFERENCE];
    const char *value = NULL;
    char argument[REFERENCE] = "";
    snprintf(name, sizeof(name), "%.*s", length, reference);
    const size_t end = strcspn(name, "=(");
    const bool call = name[end] == '(';
    if (name[end])
        snprintf(argument, sizeof(argument), "%s", name + end + 1);
    if (call) {
        argument[strcspn(argument, ")")] = 0;
        memcpy(name + end, "()", 3);
    } else {
        name[end] = 0;
    }
    value = *argument ? argument : NULL;
    return style && style(user, text, size, name, value);
}

/* One alternative up to its bar; false: the interface lacks what it refers to. */
static bool render_one(char text[AIRY_HINT_TEXT], const char *from, size_t length,
                       airy_hint_style style, void *user)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used + 1 < AIRY_HINT_TEXT; i++) {
        const char *close = from[i] == '{' ? strchr(from + i, '}') : NULL;
        if (!close) {
            text[used++] = from[i];
            continue;
        }
        const int inside = (int)(close - from - (ptrdiff_t)i) - 1;
        char name[AIRY_HINT_TEXT] = "";
        if (!refer(name, sizeof(name), from + i + 1, inside, style, user))
            return false;
        name[sizeof(name) - 1] = 0; /* the callback is the caller's */
        const size_t size = strlen(name), room = AIRY_HINT_TEXT - 1 - used;
        memcpy(text + used, name, size < room ? size : room);
        used += size < room ? size : room;
        i += (size_t)inside + 1;
    }
    text[used] = 0;
    return true;
}

/* Those that are to be shown. */
static size_t choose(char texts[MOST_ALTERNATIVES][AIRY_HINT_TEXT], const char *from,
                     airy_hint_style style, void *user)
{
    size_t count = 0;
    while (*from && count < MOST_ALTERNATIVES) {
        const size_t length = strcspn(from, "|");
        const bool last_resort = *from == '?';
        if (!(last_resort && count > 0))
            count +=
                render_one(texts[count], from + last_resort, length - last_resort, style, user);
        from += length;
        from += *from == '|';
    }
    return count;
}

size_t airy_hint_render(char *text, size_t size, airy_hint hint, airy_hint_style style, void *user)
{
    char texts[MOST_ALTERNATIVES][AIRY_HINT_TEXT];
    char whole[AIRY_HINT_TEXT] = "";
    size_t used = 0;
    const size_t count =
        (unsigned)hint < AIRY_HINT_COUNT ? choose(texts, templates[hint], style, user) : 0;
    for (size_t i = 0; i < count && used < sizeof(whole); i++)
        used += (size_t)snprintf(whole + used, sizeof(whole) - used, "%s%s",
                                 i == 0             ? ""
                                 : *texts[i] == '&' ? "; "
                                 : i + 1 == count   ? ", or "
                                                    : ", ",
                                 texts[i] + (*texts[i] == '&'));
    if (text && size)
        snprintf(text, size, "%s", whole);
    return strlen(whole);
}
