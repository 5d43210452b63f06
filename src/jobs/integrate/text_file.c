/* The format of patterns as text: headers, columns, tables. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "airy/file.h"
#include "airy/provenance.h"
#include "base/float_text.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print_text.h"
#include "base/word.h"
#include "io/file/plain_file.h"
#include "jobs/integrate/text.h"

enum { RADIAL = 24, LONGEST_LINE = 80, SOURCE = 1100 };

/* ---- a file that is written ---- */

struct writer {
    int fd;
    airy_status status;
    uint64_t done; /* bytes in the file */
    size_t length; /* of text */
    char text[1 << 15];
};

static void flush(struct writer *w)
{
    if (w->status == AIRY_OK && w->length)
        w->status = airy_file_pwrite(w->fd, w->text, w->length, w->done);
    w->done += w->length;
    w->length = 0;
}

/* Room for so many bytes, at most those of text. */
static char *room_for(struct writer *w, size_t bytes)
{
    if (sizeof(w->text) - w->length < bytes)
        flush(w);
    return w->text + w->length;
}

static void put_bytes(struct writer *w, const char *bytes, size_t size)
{
    for (size_t part; size > 0; bytes += part, size -= part) {
        part = size < sizeof(w->text) ? size : sizeof(w->text);
        memcpy(room_for(w, part), bytes, part);
        w->length += part;
    }
}

static void put_text(struct writer *w, const char *text)
{
    put_bytes(w, text, strlen(text));
}

/* At most as many bytes as are shorter than a source. */
static void put(struct writer *w, const char *format, ...) AIRY_PRINTF(2, 3);
static void put(struct writer *w, const char *format, ...)
{
    char text[SOURCE + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    put_text(w, text);
}

static void put_value(struct writer *w, float value)
{
    w->length += airy_float_text(room_for(w, AIRY_FLOAT_TEXT), value);
}

/*
 * Bytes of the character at text that must not be sent to a terminal: a control character, one that
 * changes the direction of what follows or breaks the line, a byte of what is no UTF-8. 0: it is good.
 */
static size_t unsafe_bytes(const char *text, bool is_utf8)
{
    const unsigned char *t = (const unsigned char *)text;
    if (t[0] < 0x20 || t[0] == 0x7f || (t[0] >= 0x80 && !is_utf8))
        return 1;
    if ((t[0] == 0xc2 && t[1] < 0xa0) || (t[0] == 0xd8 && t[1] == 0x9c))
        return 2;
    if (t[0] == 0xe2 && t[1] == 0x80)
        return t[2] == 0x8e || t[2] == 0x8f || (t[2] >= 0xa8 && t[2] <= 0xae) ? 3 : 0;
    return t[0] == 0xe2 && t[1] == 0x81 && t[2] >= 0xa6 && t[2] <= 0xa9 ? 3 : 0;
}

enum { NAME = 4096 };

/* A name, which may have line feeds: what follows them would be data. Returns shown. */
static const char *escaped(char shown[4 * NAME], const char *name)
{
    static const char known[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
    const size_t length = strnlen(name, NAME - 1);
    const bool is_utf8 = airy_is_utf8(name, length);
    char *to = shown;
    for (size_t i = 0, n; i < length; i += n) {
        const size_t unsafe = unsafe_bytes(name + i, is_utf8);
        const char *simple = unsafe ? strchr(known, name[i]) : NULL;
        n = unsafe ? unsafe : 1;
        if (!unsafe)
            *to++ = name[i];
        else if (simple)
            to += sprintf(to, "\\%c", letters[simple - known]);
        else
            for (size_t k = 0; k < n; k++)
                to += sprintf(to, "\\x%02x", (unsigned char)name[i + k]);
    }
    *to = 0;
    return shown;
}

/* JSON as comment lines, with unsafe characters of its texts as "\u009b". */
static void print_json(FILE *file, const char *json)
{
    fputs("# ", file);
    for (size_t n; *json; json += n) {
        const size_t unsafe = *json == '\n' ? 0 : unsafe_bytes(json, true);
        unsigned code = (unsigned char)*json & (unsafe == 1 ? 0x7fu : unsafe == 2 ? 0x1fu : 0xfu);
        n = unsafe ? unsafe : 1;
        for (size_t i = 1; i < n; i++)
            code = code << 6 | ((unsigned char)json[i] & 0x3fu);
        if (unsafe)
            fprintf(file, "\\u%04x", code);
        else
            fputc(*json, file);
        if (*json == '\n')
            fputs("# ", file);
    }
    fputc('\n', file);
}

/* A comment that ends in the name of a file. */
static void put_comment(struct writer *w, const char *what, const char *name)
{
    char shown[4 * NAME];
    put(w, "# %s", what);
    put_text(w, escaped(shown, name));
    put_text(w, "\n");
}

typedef void print_fn(struct writer *w, const struct airy_text_run *run, const airy_run_row *row,
                      const char *path);

/* Write a file; what is there already stays without force. In the C locale. */
static airy_status write_file(const struct airy_text_run *run, const airy_run_row *row,
                              const char *path, print_fn *print)
{
    struct airy_c_locale locale;
    struct writer w;
    char *partial;
    w.status = AIRY_OK;
    w.done = w.length = 0;
    AIRY_TRY(airy_c_locale_enter(&locale));
    airy_status status = airy_file_create(&w.fd, &partial, path);
    if (status == AIRY_OK) {
        print(&w, run, row, path);
        flush(&w);
        if (w.status == AIRY_OK) {
            status = airy_file_commit(w.fd, partial, path, run->it->v->force, false);
        } else {
            close(w.fd);
            status = airy_file_settle(w.status, partial, path, false);
        }
    }
    airy_c_locale_leave(&locale);
    return status;
}

/* ---- headers ---- */

bool airy_text_for_refinement(const char *path)
{
    return airy_has_suffix(path, ".xye") || airy_has_suffix(path, ".xy") ||
           airy_has_suffix(path, ".chi");
}

bool airy_text_has_errors(const struct airy_integration *it)
{
    return it->params.error_model != AIRY_ERROR_MODEL_NONE &&
           !airy_has_suffix(it->v->output, ".xy") && !airy_has_suffix(it->v->output, ".chi");
}

/* Frames [*first, *last) of the run that are in a row. */
static void frames_of_row(const struct airy_integration *it, size_t row, size_t *first,
                          size_t *last)
{
    const size_t group = airy_text_group(it);
    *first = row * group;
    *last = it->frames - *first < group ? it->frames : *first + group;
}

static const char *mask_words(const struct airy_integration *it)
{
    const struct airy_pixel_values *p = &it->v->pixels;
    return airy_source_is_given(&p->mask_only) || airy_source_is_given(&p->bad.mask) ? "user's"
           : it->meta.has_mask ? "file's and detector's"
                               : "detector's";
}

static const char *source_name(const struct airy_job_source *source)
{
    return source->is_array ? "array" : source->path ? source->path : "False";
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* All that is the same in each file: the configuration but for its inputs, and the corrections. */
static void print_head(FILE *file, const void *user)
{
    const struct airy_integration *it = user;
    const struct airy_pixel_values *p = &it->v->pixels;
    char shown[4 * NAME];
    json_t *json = json_loads(it->configuration, 0, NULL);
    json_object_del(json, "inputs");
    char *text = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(json);
    airy_json_shorten(text);
    fprintf(file, "# Made by airy %s\n", airy_version());
    if (text)
        print_json(file, text);
    free(text);
    fprintf(file, "# Mask applied: %s\n", mask_words(it));
    fprintf(file, "# Dark current applied: %s\n", escaped(shown, source_name(&p->dark)));
    fprintf(file, "# Flat field applied: %s\n", escaped(shown, source_name(&p->flat)));
    if (p->polarization.count)
        fprintf(file, "# Polarization factor: %.9g\n", it->params.polarization);
    else
        fputs("# Polarization factor: None\n", file);
}

static void put_header(struct writer *w, const struct airy_text_run *run, const char *path)
{
    put_text(w, run->head);
    put_comment(w, "--> ", last_part(path));
}

/* The factor of a row; of a group with that of its frames' usable monitors on average. */
static double normalization_of(const struct airy_integration *it, size_t row)
{
    const double factor = it->params.normalization != 0 ? it->params.normalization : 1;
    size_t first, last;
    frames_of_row(it, row, &first, &last);
    return it->monitor ? factor * airy_monitor_mean(it->monitor + airy_text_frame(it, first),
                                                    last - first, it->run.step)
                       : factor;
}

/* "master.h5 frame 3"; of a group its first frame and its last one. */
static void source_of(char text[SOURCE], const struct airy_integration *it, size_t row)
{
    char from[512] = "", to[512] = "";
    size_t first, last;
    frames_of_row(it, row, &first, &last);
    (void)airy_stack_where(it->stack, airy_text_frame(it, first), from, sizeof(from));
    if (last - first > 1)
        (void)airy_stack_where(it->stack, airy_text_frame(it, last - 1), to, sizeof(to));
    snprintf(text, SOURCE, "%s%s%s", from, *to ? " to " : "", to);
}

/* The label of a unit, or its name where the label is no ASCII. */
static const char *unit_text(airy_unit unit)
{
    const char *label = airy_unit_label(unit);
    for (const char *at = label; *at; at++)
        if ((unsigned char)*at >= 0x80)
            return airy_unit_name(unit);
    return label;
}

/* The names of two columns or three. */
static void put_names(struct writer *w, const struct airy_integration *it)
{
    put(w, "# %-16s %16s", airy_unit_name(it->params.unit), "I");
    if (airy_text_has_errors(it))
        put(w, "  %16s", "sigma");
    put_text(w, "\n");
}

/* Good frames that a group has. */
static void put_frames(struct writer *w, const struct airy_integration *it, size_t good)
{
    if (airy_text_group(it) > 1)
        put(w, "# Frames: %zu, their %s\n", good, airy_merge_name(it->run.merge));
}

/* The end of a text where it is longer than a line; printable ASCII alone. */
static void plain_line(char line[LONGEST_LINE + 1], size_t room, const char *text)
{
    const size_t length = strlen(text), kept = length > room ? room : length;
    memcpy(line, text + length - kept, kept);
    line[kept] = 0;
    if (kept < length)
        memcpy(line, "...", 3);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f)
            *at = '?';
}

static bool has_point(const airy_run_row *row, size_t bin, bool errors)
{
    return isfinite(row->intensity[bin]) && (!errors || isfinite(row->sem[bin]));
}

/*
 * Fit2D's four lines: title, axis, intensity, number of points. GSAS-II looks for "2-theta" in
 * them, and takes "q " for the axis of another kind of file.
 */
static void put_chi_header(struct writer *w, const struct airy_integration *it,
                           const airy_run_row *row)
{
    char where[SOURCE], line[LONGEST_LINE + 1];
    const airy_unit unit = it->params.unit;
    size_t points = 0;
    for (size_t i = 0; i < row->bins; i++)
        points += has_point(row, i, false);
    source_of(where, it, row->number);
    plain_line(line, LONGEST_LINE, where);
    for (char *at = line; *at; at++)
        if ((*at == 'q' || *at == 'Q') && at[1] == ' ')
            at[1] = '_';
    put(w, "%s\n%s\nIntensity\n%12zu\n", line,
        unit == AIRY_UNIT_TTH_DEG ? "2-Theta Angle (Degrees)" : unit_text(unit), points);
}

/* Few lines, of ASCII, and no word among the numbers. */
static void put_short_header(struct writer *w, const struct airy_integration *it,
                             const airy_run_row *row)
{
    char where[SOURCE], line[LONGEST_LINE + 1];
    source_of(where, it, row->number);
    plain_line(line, LONGEST_LINE - 10, where);
    put(w, "# Made by airy %s\n# Source: %s\n", airy_version(), line);
    put_frames(w, it, row->frames);
    put(w, "# Normalization factor: %.9g\n", normalization_of(it, row->number));
    put_names(w, it);
}

static void put_long_header(struct writer *w, const struct airy_text_run *run,
                            const airy_run_row *row, const char *path)
{
    const struct airy_integration *it = run->it;
    char where[SOURCE];
    put_header(w, run, path);
    source_of(where, it, row->number);
    put_comment(w, "Source: ", where);
    put_frames(w, it, row->frames);
    put(w, "# Normalization factor: %.9g\n", normalization_of(it, row->number));
    put(w, "# Columns: %s, intensity%s\n", unit_text(it->params.unit),
        airy_text_has_errors(it) ? ", standard error of the mean" : "");
    put_names(w, it);
}

/* ---- one pattern ---- */

/* Rows without pixels are left out where a word is not read. */
static void put_points(struct writer *w, const struct airy_text_run *run, const airy_run_row *row,
                       bool all)
{
    const bool errors = airy_text_has_errors(run->it);
    for (size_t i = 0; i < row->bins; i++) {
        const char *radial = run->radial + i * RADIAL;
        if (!all && !has_point(row, i, errors))
            continue;
        char *const text = room_for(w, RADIAL + 2 * (2 + AIRY_FLOAT_TEXT)), *to = text;
        to = stpcpy(to, radial);
        /* 9 digits read back as the same float. */
        to += airy_float_text(stpcpy(to, "  "), row->intensity[i]) + 2;
        if (errors)
            to += airy_float_text(stpcpy(to, "  "), row->sem[i]) + 2;
        *to++ = '\n';
        w->length += (size_t)(to - text);
    }
}

static void print_row(struct writer *w, const struct airy_text_run *run, const airy_run_row *row,
                      const char *path)
{
    const bool all = !airy_text_for_refinement(path);
    if (airy_has_suffix(path, ".chi"))
        put_chi_header(w, run->it, row);
    else if (all)
        put_long_header(w, run, row, path);
    else
        put_short_header(w, run->it, row);
    put_points(w, run, row, all);
}

airy_status airy_text_write_row(const struct airy_text_run *run, const airy_run_row *row,
                                const char *path)
{
    return write_file(run, row, path, print_row);
}

/* ---- one table ---- */

static bool has_cell(const struct airy_text_run *run, size_t bins, size_t k, size_t bin)
{
    return isfinite(run->intensity[k * bins + bin]) &&
           (!run->sem || isfinite(run->sem[k * bins + bin]));
}

/* Where no word may stand among the numbers, a row without any has no column. */
static void choose_columns(struct airy_text_run *run, bool all)
{
    const size_t bins = airy_integrator_bins(run->it->integrators[0]);
    for (size_t k = 0; k < run->it->rows; k++) {
        run->columns[k] = all;
        for (size_t i = 0; i < bins && !run->columns[k]; i++)
            run->columns[k] = has_cell(run, bins, k, i);
    }
}

/* In how many columns this bin has a value. */
static size_t count_cells(const struct airy_text_run *run, size_t bin, size_t bins)
{
    size_t cells = 0;
    for (size_t k = 0; k < run->it->rows; k++)
        cells += run->columns[k] && has_cell(run, bins, k, bin);
    return cells;
}

/* What the columns are, with the sources of all rows where the header may be long. */
static void put_table_header(struct writer *w, const struct airy_text_run *run, const char *path,
                             size_t columns)
{
    const struct airy_integration *it = run->it;
    const bool all = !airy_text_for_refinement(path);
    char where[SOURCE], shown[4 * NAME];
    if (all)
        put_header(w, run, path);
    else
        put(w, "# Made by airy %s\n", airy_version());
    for (size_t k = 0; k < it->rows && all; k++) {
        source_of(where, it, k);
        put_text(w, "# Source: ");
        put_text(w, escaped(shown, where));
        put(w, ", normalization factor %.9g\n", normalization_of(it, k));
    }
    put(w, "# Columns: %s, then of each of %zu %s%s its intensity%s\n# %-16s",
        unit_text(it->params.unit), columns,
        airy_text_group(it) > 1 ? airy_merge_name(it->run.merge) : "frame", columns == 1 ? "" : "s",
        run->sem ? " and standard error of the mean" : "", airy_unit_name(it->params.unit));
    for (size_t k = 0; k < it->rows; k++) {
        const size_t frame = airy_text_frame(it, k * airy_text_group(it));
        if (run->columns[k])
            put(w, " I_%zu", frame);
        if (run->columns[k] && run->sem)
            put(w, " sigma_%zu", frame);
    }
    put_text(w, "\n");
}

static void put_bin(struct writer *w, const struct airy_text_run *run, size_t bin, size_t bins)
{
    put_text(w, run->radial + bin * RADIAL);
    for (size_t k = 0; k < run->it->rows; k++) {
        if (!run->columns[k])
            continue;
        put_value(w, run->intensity[k * bins + bin]);
        if (run->sem)
            put_value(w, run->sem[k * bins + bin]);
    }
    put_text(w, "\n");
}

/* What programs that refine would read as another number of columns is left out, and reported. */
static void warn_left_out(const struct airy_integration *it, size_t columns, size_t bins)
{
    const size_t empty = it->rows - columns;
    if (empty)
        airy_job_message(it->job, AIRY_LOG_WARN, "%s: %zu pattern%s without values %s no column",
                         it->v->output, empty, empty == 1 ? "" : "s", empty == 1 ? "has" : "have");
    if (bins)
        airy_job_message(
            it->job, AIRY_LOG_WARN,
            "%s: %zu bin%s left out that some patterns have no value in; .dat has all, "
            "with nan",
            it->v->output, bins, bins == 1 ? " is" : "s are");
}

/* Bins down, frames across: an intensity, and an error behind it where there are any. */
static void print_table(struct writer *w, const struct airy_text_run *run, const airy_run_row *row,
                        const char *path)
{
    const size_t bins = airy_integrator_bins(run->it->integrators[0]);
    const bool all = !airy_text_for_refinement(path);
    size_t columns = 0, left_out = 0;
    (void)row;
    for (size_t k = 0; k < run->it->rows; k++)
        columns += run->columns[k];
    put_table_header(w, run, path, columns);
    for (size_t i = 0; i < bins; i++) {
        const size_t cells = count_cells(run, i, bins);
        left_out += !all && cells && cells < columns;
        if (all || (columns && cells == columns))
            put_bin(w, run, i, bins);
    }
    warn_left_out(run->it, columns, left_out);
}

airy_status airy_text_write_table(struct airy_text_run *run)
{
    choose_columns(run, !airy_text_for_refinement(run->it->v->output));
    return write_file(run, NULL, run->it->v->output, print_table);
}

/* ---- what all files share ---- */

airy_status airy_text_prepare(struct airy_text_run *run)
{
    const struct airy_integration *it = run->it;
    struct airy_c_locale locale;
    const size_t bins = airy_integrator_bins(it->integrators[0]);
    const double *radial = airy_integrator_radial(it->integrators[0]);
    AIRY_TRY(airy_memory_calloc((void **)&run->radial, bins, RADIAL, "the axis"));
    AIRY_TRY(airy_c_locale_enter(&locale));
    /* 13 digits are more than any axis needs. */
    for (size_t i = 0; i < bins; i++)
        snprintf(run->radial + i * RADIAL, RADIAL, "%18.12e", radial[i]);
    const airy_status status = airy_print_text(&run->head, print_head, it);
    airy_c_locale_leave(&locale);
    return status;
}
