/* Interferograms of known reflectors, or of a piece of tissue. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "airy/frames.h"
#include "airy/oct_config.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/size.h"
#include "io/file/format.h"
#include "io/oct/table.h"
#include "jobs/groups.h"
#include "jobs/simulate/simulated_oct.h"
#include "jobs/simulate/work.h"

enum { WAVELENGTH_TERMS = 6, MOST_REFLECTORS = 1000, BLOCK = 32 /* lines made at a time */ };
static const size_t BATCH_BYTES = (size_t)64 << 20; /* of frames made between two writes */

struct values {
    size_t samples, lines, frames, repeats, bits, beam;
    airy_dtype dtype;
    int packing; /* airy_oct_packing, in the order of the words */
    bool bidirectional, sinusoidal, linear_k, balanced, noiseless;
    uint64_t seed;
    char *truth, *write_plan;
    struct airy_job_list reflectors;
    double flow, full_well, exposure, read_noise, pattern;
    struct airy_job_source wavelengths, envelope;
    struct airy_job_tuple spectrum, dispersion;
    char *output;
    bool force;
    struct airy_compute_values compute;
};

static const char *const dtypes[] = {"u8", "u16", "i16", "f32", NULL};
static const char *const packings[] = {"none", "10", "12", NULL};
_Static_assert(AIRY_OCT_PACKING_NONE == 0 && AIRY_OCT_PACKING_10 == 1 && AIRY_OCT_PACKING_12 == 2,
               "packings are in this order");

#define ROW(member, ...) AIRY_JOB_ROW(struct values, member, __VA_ARGS__)
static const struct airy_job_row rows[] = {
    ROW(samples, .name = "samples", .type = AIRY_PARAMETER_WHOLE, .lo = 8,
        .hi = AIRY_OCT_MAX_SAMPLES, .fallback = "2048", .help = "sets the samples of a line",
        .section = "Recording"),
    ROW(lines, .name = "lines", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = AIRY_OCT_MAX_LINES,
        .fallback = "512", .help = "sets the lines of a frame"),
    ROW(frames, .name = "frames", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 10000000,
        .fallback = "1", .help = "sets the number of frames, each at another place of the tissue"),
    ROW(repeats, .name = "repeats", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 10000000,
        .fallback = "1",
        .help = "takes so many frames one after another at each place; blood has moved in between"),
    ROW(dtype, .name = "dtype", .type = AIRY_PARAMETER_DTYPE, .words = dtypes, .argument = "TYPE",
        .fallback = "u16",
        .help =
            "sets the type of the samples: u8, u16, i16 (half of the range is 0) or f32 (numbers "
            "of the converter, not rounded)"),
    ROW(packing, .name = "packing", .type = AIRY_PARAMETER_WORD, .words = packings, .argument = "P",
        .fallback = "none",
        .help = "10 or 12: packs samples of so many bits without gaps, the lowest bits first"),
    ROW(bits, .name = "bits", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = 16,
        .fallback = "12; 8 of u8", .computed = true, .help = "sets the bits of the converter"),
    ROW(bidirectional, .name = "bidirectional", .type = AIRY_PARAMETER_FLAG,
        .help = "scans frames 1, 3, 5, ... backwards"),
    ROW(sinusoidal, .name = "sinusoidal", .type = AIRY_PARAMETER_FLAG,
        .help = "slows the scan down at both ends of a frame, as a resonant mirror does"),
    ROW(seed, .name = "seed", .type = AIRY_PARAMETER_SEED, .fallback = "1",
        .help = "makes other tissue and noise for each seed, with the same bits on every machine"),
    ROW(reflectors, .name = "reflectors", .type = AIRY_PARAMETER_TEXT, .list = true,
        .argument = "Z:R[:S],...", .fallback = "a piece of tissue with a vessel", .computed = true,
        .help = "puts mirrors in place of the tissue: depth in micrometres, reflectivity in dB of "
                "the reference arm's light, micrometres that the depth grows by from line to line; "
                "may be given several times",
        .section = "Sample"),
    ROW(beam, .name = "beam", .type = AIRY_PARAMETER_WHOLE, .lo = 1, .hi = AIRY_PHANTOM_BEAM,
        .argument = "LINES", .fallback = "4",
        .help = "sets how many lines wide a speckle of the tissue is"),
    ROW(flow, .name = "flow", .type = AIRY_PARAMETER_REAL, .lo = -1e6, .hi = 1e6, .unit = "rad",
        .argument = "RAD", .fallback = "1",
        .help = "sets the phase from line to line in the middle of the vessel"),
    ROW(wavelengths, .name = "wavelengths", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ, .argument = "C0,C1,...|FILE",
        .fallback = "1187.2,252.9,13.5,-25.5,4.6",
        .help =
            "sets the wavelengths of the samples: nm = C0 + C1 t + C2 t^2 ..., t = 0 to 1 along "
            "the line, up to 6 terms; or reads metres from a file (.npy, or text of one number a "
            "line)",
        .section = "Light"),
    ROW(linear_k, .name = "linear-k", .type = AIRY_PARAMETER_FLAG,
        .help = "takes samples at equal steps of the wavenumber between the ends of the "
                "wavelengths"),
    ROW(spectrum, .name = "spectrum", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .unit = "nm", .argument = "CENTER,WIDTH", .fallback = "the middle and 0.45 of the range",
        .computed = true,
        .help = "sets centre and full width at half maximum of a Gaussian spectrum"),
    ROW(envelope, .name = "spectrum-file", .type = AIRY_PARAMETER_PATH, .array = true,
        .role = AIRY_ROLE_READ,
        .help = "reads the shape of the spectrum, a number for each sample (.npy, or text of one "
                "number a line)"),
    ROW(dispersion, .name = "dispersion", .type = AIRY_PARAMETER_TUPLE, .least = 2, .most = 2,
        .unit = "rad", .argument = "D2,D3", .fallback = "0,0",
        .help = "adds dispersion that D2 t^2 + D3 t^3 compensates, t = 0 to 1 along the resampled "
                "line"),
    ROW(full_well, .name = "full-well", .type = AIRY_PARAMETER_REAL, .lo = 1, .hi = 1e12,
        .argument = "E", .fallback = "200000",
        .help = "sets the electrons that saturate a sample, the converter's largest number",
        .section = "Camera"),
    ROW(exposure, .name = "exposure", .type = AIRY_PARAMETER_REAL, .lo = 1e-9, .hi = 100,
        .argument = "F", .fallback = "0.5",
        .help = "sets the part of the well that the reference arm fills at the spectrum's maximum"),
    ROW(read_noise, .name = "read-noise", .type = AIRY_PARAMETER_REAL, .hi = 1e12, .argument = "E",
        .fallback = "60", .help = "sets the standard deviation of the read noise, in electrons"),
    ROW(pattern, .name = "fixed-pattern", .type = AIRY_PARAMETER_REAL, .hi = 0.5, .argument = "F",
        .fallback = "0.003", .help = "sets the standard deviation of the samples' gain"),
    ROW(balanced, .name = "balanced", .type = AIRY_PARAMETER_FLAG,
        .help = "records the difference of two detectors, without DC and autocorrelation"),
    ROW(noiseless, .name = "noiseless", .type = AIRY_PARAMETER_FLAG,
        .help = "leaves out shot noise, read noise and fixed pattern"),
    ROW(output, .name = "output", .type = AIRY_PARAMETER_PATH, .letter = 'o',
        .role = AIRY_ROLE_WRITTEN, .affects = AIRY_AFFECTS_WHERE, .argument = "OUT",
        .help = "writes the recording into this file, headerless where the suffix is of no format",
        .section = "Output"),
    ROW(truth, .name = "truth", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_WRITTEN,
        .affects = AIRY_AFFECTS_WHERE,
        .help = "writes a table of the reflectors (.csv, .fits, .vot): depth in micrometres and in "
                "bins",
        .only_with = {"reflectors", NULL}),
    ROW(write_plan, .name = "write-plan", .type = AIRY_PARAMETER_PATH, .role = AIRY_ROLE_WRITTEN,
        .affects = AIRY_AFFECTS_WHERE, .argument = "PLAN.json",
        .help =
            "writes a plan for oct: wavelengths, dispersion and scan as they are, background and "
            "window as usual"),
    ROW(force, .name = "force", .type = AIRY_PARAMETER_FLAG, .affects = AIRY_AFFECTS_WHERE,
        .help = "overwrites the outputs"),
    {{0}, 0, NULL}};
#undef ROW

static const airy_job_result results[] = {
    {"stack", AIRY_JOB_ARRAY, NULL,
     "[frames, lines, samples], of packed ones bytes, where no output is named"},
    {"reflectors", AIRY_JOB_TABLE, "truth", "depth, bin, reflectivity and slope of each reflector"},
    {"output", AIRY_JOB_TEXT, NULL, "the file that was written"},
    {"frames", AIRY_JOB_NUMBER, NULL, "frames of the recording"},
    {"lines", AIRY_JOB_NUMBER, NULL, "of a frame"},
    {"samples", AIRY_JOB_NUMBER, NULL, "of a line"},
    {"dtype", AIRY_JOB_TEXT, NULL, "of the elements"},
    {"bits", AIRY_JOB_NUMBER, NULL, "of the converter"},
    {"bytes", AIRY_JOB_NUMBER, NULL, "of the recording"},
    {"depth_step_um", AIRY_JOB_NUMBER, NULL, "depth of a bin of the profiles"},
    {"seconds", AIRY_JOB_NUMBER, NULL, "the time that it took"},
    {NULL, AIRY_JOB_ARRAY, NULL, NULL}};

/* What is open during a run. */
struct simulation {
    airy_job *job;
    const struct values *v;
    struct airy_simulated_oct model;
    double *wavelength, *envelope; /* [samples] */
    struct airy_oct_reflector *reflectors;
    airy_pool *pool;
    struct airy_oct_scratch *scratch; /* a thread each */
    size_t scratches;
    char *memory;     /* of frames */
    size_t begun;     /* the first of these */
    size_t per_frame; /* blocks */
    airy_frame_writer *writer;
};

/* ---- values ---- */

static airy_dtype dtype_of(const struct values *v)
{
    return v->packing ? AIRY_DTYPE_U8 : v->dtype;
}

/* Bits of a packed sample; 0: they are not packed. */
static size_t packed_bits(const struct values *v)
{
    return v->packing == AIRY_OCT_PACKING_10 ? 10 : v->packing == AIRY_OCT_PACKING_12 ? 12 : 0;
}

static size_t bits_of(const struct values *v)
{
    const size_t packed = packed_bits(v);
    return v->bits ? v->bits : packed ? packed : v->dtype == AIRY_DTYPE_U8 ? 8 : 12;
}

/* "1,2.5": the numbers, at most six; 0: it is something else. */
static size_t parse_terms(double terms[WAVELENGTH_TERMS], const char *text)
{
    size_t count = 0;
    for (const char *at = text;; at++) {
        char word[64];
        const size_t n = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)n, at);
        if (n >= sizeof(word) || count == WAVELENGTH_TERMS ||
            !airy_number_parse(&terms[count], word))
            return 0;
        count++;
        at += n;
        if (!*at)
            return count;
    }
}

/* Numbers of a file or an array, as many as there are samples. */
static airy_status read_numbers(double *to, size_t samples, const struct airy_job_source *from,
                                const char *parameter)
{
    const airy_host_view *view = &from->view;
    size_t count = 1;
    if (from->is_array) {
        const airy_image image = {.dtype = view->dtype, .ndim = 1, .data = (void *)view->data};
        for (int i = 0; i < view->ndim; i++)
            count *= view->shape[i];
        for (size_t i = 0; i < count && i < samples; i++) {
            to[i] = airy_image_value(&image, i);
            AIRY_FAIL_ON_IF(!isfinite(to[i]), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                            "%s: value %zu is not finite", parameter, i);
        }
    } else {
        const airy_status status = airy_oct_table_read(to, &count, samples, from->path);
        if (status != AIRY_OK)
            return airy_about(AIRY_SUBJECT_PARAMETER, parameter,
                              airy_fail_context(status, "%s", parameter));
    }
    AIRY_FAIL_HINT_IF(count != samples, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s %s: has %zu number%s, expected one for each of %zu samples", parameter,
                      from->is_array ? "" : from->path, count, count == 1 ? "" : "s", samples);
    return AIRY_OK;
}

/* 1 nm to 1 mm, all rising or all falling. */
static airy_status check_wavelengths(const double *w, size_t samples)
{
    for (size_t i = 0; i < samples; i++) {
        AIRY_FAIL_ON_IF(!(w[i] >= 1e-9) || !(w[i] <= 1e-3), AIRY_ERR_UNSUPPORTED,
                        AIRY_SUBJECT_PARAMETER, "%s: sample %zu has %g m, expected 1e-9 to 1e-3",
                        "wavelengths", i, w[i]);
        AIRY_FAIL_ON_IF(i > 0 && !(w[1] > w[0] ? w[i] > w[i - 1] : w[i] < w[i - 1]),
                        AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                        "%s: neither rising nor falling at sample %zu", "wavelengths", i);
    }
    return AIRY_OK;
}

static airy_status fill_wavelengths(double *w, size_t samples, const double *terms, size_t count)
{
    for (size_t i = 0; i < samples; i++) {
        const double t = (double)i / (double)(samples - 1);
        double nm = 0;
        for (size_t n = count; n-- > 0;)
            nm = nm * t + terms[n];
        w[i] = 1e-9 * nm;
    }
    return check_wavelengths(w, samples);
}

static airy_status make_wavelengths(double *w, const struct values *v)
{
    double terms[WAVELENGTH_TERMS];
    const size_t count = v->wavelengths.is_array ? 0 : parse_terms(terms, v->wavelengths.path);
    if (count)
        return fill_wavelengths(w, v->samples, terms, count);
    AIRY_TRY(read_numbers(w, v->samples, &v->wavelengths, "wavelengths"));
    return check_wavelengths(w, v->samples);
}

/* "Z:R[:S]", up to the comma. */
static bool parse_reflector(struct airy_oct_reflector *to, const char *text, size_t length)
{
    double v[3] = {0};
    size_t fields = 0;
    for (const char *at = text, *end = text + length; at < end; at++) {
        char word[64];
        size_t n = strcspn(at, ":");
        n = n < (size_t)(end - at) ? n : (size_t)(end - at);
        snprintf(word, sizeof(word), "%.*s", (int)n, at);
        if (n >= sizeof(word) || fields == 3 || !airy_number_parse(&v[fields++], word))
            return false;
        at += n;
    }
    *to = (struct airy_oct_reflector){v[0], v[1], v[2]};
    return fields >= 2 && v[0] >= 0 && v[0] <= 1e7 && v[1] >= -300 && v[1] <= 20 &&
           fabs(v[2]) <= 1e6;
}

/* The reflectors of all texts; to: room for MOST_REFLECTORS. */
static airy_status parse_reflectors(struct airy_oct_reflector *to, size_t *count,
                                    const struct airy_job_list *list)
{
    *count = 0;
    for (size_t i = 0; i < list->count; i++)
        for (const char *text = list->items[i]; *text;) {
            struct airy_oct_reflector one;
            const size_t n = strcspn(text, ",");
            AIRY_FAIL_ON_IF(!parse_reflector(&one, text, n), AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                            "%s %s: expected Z:R[:S],... with Z of 0 to 1e7 micrometres, R of -300 "
                            "to 20 dB, S of -1e6 to 1e6",
                            "reflectors", text);
            AIRY_FAIL_ON_IF(*count == MOST_REFLECTORS, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                            "%s: expected at most %d", "reflectors", MOST_REFLECTORS);
            to[(*count)++] = one;
            text += n + (text[n] == ',');
        }
    return AIRY_OK;
}

static airy_status check_numbers(const struct values *v)
{
    double terms[WAVELENGTH_TERMS], *w = NULL;
    struct airy_oct_reflector *reflectors = NULL;
    size_t count;
    AIRY_TRY(airy_memory_calloc((void **)&w, v->samples, sizeof(*w), "wavelengths"));
    airy_status status = airy_memory_calloc((void **)&reflectors, MOST_REFLECTORS,
                                            sizeof(*reflectors), "reflectors");
    if (status == AIRY_OK && !v->wavelengths.is_array &&
        (count = parse_terms(terms, v->wavelengths.path)) > 0)
        status = fill_wavelengths(w, v->samples, terms, count);
    if (status == AIRY_OK)
        status = parse_reflectors(reflectors, &count, &v->reflectors);
    free(w);
    free(reflectors);
    return status;
}

static airy_status check_packing(const airy_job *job, const struct values *v)
{
    const size_t packed = packed_bits(v), bits = bits_of(v);
    AIRY_FAIL_ON_IF(packed && airy_job_is_set(job, "dtype") && v->dtype != AIRY_DTYPE_U16,
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: such samples are unsigned, leave out dtype", "packing", packed);
    AIRY_FAIL_ON_IF(packed && bits != packed, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu: expected %zu for this packing", "bits", bits, packed);
    AIRY_FAIL_ON_IF(packed && v->samples * packed % 8, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %zu of %zu bits do not fill whole bytes", "samples", v->samples, packed);
    AIRY_FAIL_ON_IF(v->dtype == AIRY_DTYPE_U8 && !packed && bits > 8, AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s %zu: u8 has 8", "bits", bits);
    return AIRY_OK;
}

static airy_status check(airy_job *job)
{
    static const char *const of_noise[] = {"read-noise", "fixed-pattern"}, *const of_tissue[] = {
                                                                               "beam", "flow",
                                                                               "repeats"};
    const struct values *v = job->values;
    AIRY_FAIL_ON_IF(v->output && airy_image_has_format(v->output) &&
                        !airy_frame_writer_has_format(v->output),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s '%s': expected .h5, .npy%s or a suffix of no format for a headerless file",
                    "output", v->output, AIRY_HAVE_TIFF ? ", .tif" : "");
    AIRY_TRY(check_packing(job, v));
    AIRY_FAIL_ON_IF(v->spectrum.count && airy_job_is_set(job, "spectrum-file"), AIRY_ERR_PARAM,
                    AIRY_SUBJECT_PARAMETER, "%s and spectrum-file=FILE: give one of them",
                    "spectrum");
    AIRY_FAIL_ON_IF(v->spectrum.count &&
                        (!(v->spectrum.values[0] > 0) || !(v->spectrum.values[1] > 0)),
                    AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER, "%s: expected CENTER and WIDTH above 0",
                    "spectrum");
    for (size_t i = 0; i < 2; i++)
        AIRY_FAIL_ON_IF(v->noiseless && airy_job_is_set(job, of_noise[i]), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s has no meaning with noiseless=on", of_noise[i]);
    for (size_t i = 0; i < 3; i++)
        AIRY_FAIL_ON_IF(v->reflectors.count && airy_job_is_set(job, of_tissue[i]), AIRY_ERR_PARAM,
                        AIRY_SUBJECT_PARAMETER, "%s is of the tissue, which reflectors replace",
                        of_tissue[i]);
    return check_numbers(v);
}

/* ---- the model ---- */

static airy_status read_envelope(struct simulation *s)
{
    const struct airy_job_source *from = &s->v->envelope;
    const char *name = from->is_array ? "" : from->path;
    double most = 0;
    AIRY_TRY(read_numbers(s->envelope, s->v->samples, from, "spectrum-file"));
    for (size_t i = 0; i < s->v->samples; i++) {
        AIRY_FAIL_ON_IF(s->envelope[i] < 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                        "%s %s: value %zu is negative", "spectrum-file", name, i);
        most = s->envelope[i] > most ? s->envelope[i] : most;
    }
    AIRY_FAIL_ON_IF(most <= 0, AIRY_ERR_PARAM, AIRY_SUBJECT_PARAMETER,
                    "%s %s: has no value above 0", "spectrum-file", name);
    return AIRY_OK;
}

/* Wavelengths, the reflectors and the spectrum's shape, where it is given. */
static airy_status read_lists(struct simulation *s, size_t *count)
{
    const struct values *v = s->v;
    const size_t n = v->samples;
    AIRY_TRY(airy_memory_calloc((void **)&s->wavelength, n, sizeof(double), "wavelengths"));
    AIRY_TRY(airy_memory_calloc((void **)&s->envelope, n, sizeof(double), "a spectrum"));
    AIRY_TRY(airy_memory_calloc((void **)&s->reflectors, MOST_REFLECTORS, sizeof(*s->reflectors),
                                "reflectors"));
    AIRY_TRY(make_wavelengths(s->wavelength, v));
    AIRY_TRY(parse_reflectors(s->reflectors, count, &v->reflectors));
    return v->envelope.path || v->envelope.is_array ? read_envelope(s) : AIRY_OK;
}

static airy_status make_model(struct simulation *s)
{
    const struct values *v = s->v;
    const size_t n = v->samples;
    const bool has_envelope = v->envelope.path || v->envelope.is_array,
               has_spectrum = v->spectrum.count > 0;
    size_t count = 0;
    AIRY_TRY(read_lists(s, &count));
    const double a = s->wavelength[0], b = s->wavelength[n - 1], low = a < b ? a : b,
                 high = a < b ? b : a;
    s->model = (struct airy_simulated_oct){
        .samples = n,
        .lines = v->lines,
        .frames = v->frames,
        .repeats = v->repeats,
        .seed = v->seed,
        .dtype = dtype_of(v),
        .packing = (airy_oct_packing)v->packing,
        .bits = (int)bits_of(v),
        .full_well = v->full_well,
        .exposure = v->exposure,
        .read_noise = v->read_noise,
        .pattern = v->noiseless ? 0 : v->pattern,
        .balanced = v->balanced,
        .noiseless = v->noiseless,
        .bidirectional = v->bidirectional,
        .sinusoidal = v->sinusoidal,
        .dispersion = {0, 0, v->dispersion.values[0], v->dispersion.values[1]},
        .wavelength = v->linear_k ? NULL : s->wavelength,
        .ends = {low, high},
        .spectrum = has_envelope ? s->envelope : NULL,
        .center = has_spectrum ? 1e-9 * v->spectrum.values[0] : 0.5 * (low + high),
        .width = has_spectrum ? 1e-9 * v->spectrum.values[1] : 0.45 * (high - low),
        .reflectors = s->reflectors,
        .count = count,
        .beam = v->beam,
        .flow = v->flow,
    };
    AIRY_FAIL_IF(!airy_simulated_oct_begin(&s->model), AIRY_ERR_MEMORY,
                 "out of memory for a model of %zu samples", n);
    return AIRY_OK;
}

/* ---- frames ---- */

static airy_status make_lines(const struct simulation *s, struct airy_oct_scratch *scratch,
                              size_t frame, const size_t lines[2], void *to)
{
    const airy_status status =
        airy_simulated_oct_lines(&s->model, scratch, frame, lines[0], lines[1], to);
    AIRY_FAIL_HINT_IF(status != AIRY_OK, status, AIRY_HINT_STATED, AIRY_SUBJECT_NONE,
                      "noise could not be drawn (%s); lower exposure", airy_status_name(status));
    return AIRY_OK;
}

/* A block of lines to where it belongs: an airy_part_fn. */
static airy_status make_block(void *user, size_t block, unsigned worker)
{
    const struct simulation *s = user;
    const struct airy_simulated_oct *m = &s->model;
    const size_t frame = block / s->per_frame, line = block % s->per_frame * BLOCK,
                 count = m->lines - line < BLOCK ? m->lines - line : BLOCK,
                 place = (frame - s->begun) * m->lines + line;
    return make_lines(s, &s->scratch[worker], frame, (const size_t[2]){line, count},
                      s->memory + place * airy_simulated_oct_line_bytes(m));
}

static airy_status open_threads(struct simulation *s)
{
    AIRY_TRY(airy_pool_create(&s->pool, (unsigned)s->v->compute.threads));
    const size_t threads = airy_pool_size(s->pool);
    AIRY_TRY(
        airy_memory_calloc((void **)&s->scratch, threads, sizeof(*s->scratch), "simulated lines"));
    for (; s->scratches < threads; s->scratches++)
        if (!airy_simulated_oct_scratch(&s->model, &s->scratch[s->scratches])) {
            airy_simulated_oct_release(&s->scratch[s->scratches]);
            return airy_fail(AIRY_ERR_MEMORY, "out of memory for %zu threads", threads);
        }
    return AIRY_OK;
}

/* All frames, so many at a time in memory. */
static airy_status record(struct simulation *s, size_t batch)
{
    const struct values *v = s->v;
    const size_t line = airy_simulated_oct_line_bytes(&s->model);
    size_t size = 0;
    s->per_frame = (v->lines + BLOCK - 1) / BLOCK;
    const bool large = airy_mul_size(&size, v->lines, line) || airy_mul_size(&size, size, batch);
    s->memory = large ? NULL : malloc(size);
    AIRY_FAIL_IF(!s->memory, AIRY_ERR_MEMORY, "out of memory for %zu frames of %zu lines", batch,
                 v->lines);
    AIRY_TRY(open_threads(s));
    for (; s->begun < v->frames; s->begun += batch) {
        const size_t count = v->frames - s->begun < batch ? v->frames - s->begun : batch;
        const struct airy_parts parts = {.first = s->begun * s->per_frame,
                                         .last = (s->begun + count) * s->per_frame,
                                         .total = v->frames * s->per_frame,
                                         .of_step = s->per_frame,
                                         .name = v->output ? v->output : "the frames",
                                         .make = make_block,
                                         .user = s};
        AIRY_TRY(airy_job_make_parts(s->job, s->pool, &parts));
        if (s->writer)
            AIRY_TRY(airy_frame_writer_add(s->writer, s->memory, count));
    }
    return AIRY_OK;
}

/* .npy and .tif: [frames, lines, samples], packed ones [frames, lines, bytes]; else headerless. */
static airy_status write_frames(struct simulation *s)
{
    const struct values *v = s->v;
    const struct airy_simulated_oct *m = &s->model;
    const size_t line = airy_simulated_oct_line_bytes(m), most = BATCH_BYTES / (m->lines * line),
                 fit = most ? most : 1;
    const airy_frame_writer_params params = {
        .dtype = m->dtype,
        .height = m->lines,
        .width = line / airy_dtype_size(m->dtype),
        .force = v->force,
        .frames = v->frames,
        .headerless = !airy_frame_writer_has_format(v->output)};
    AIRY_TRY(airy_frame_writer_create(&s->writer, v->output, &params));
    AIRY_TRY(record(s, v->frames < fit ? v->frames : fit));
    return airy_frame_writer_finish(s->writer);
}

static airy_status make_frame(void *source, size_t index, void *frame)
{
    const struct simulation *s = source;
    struct airy_oct_scratch scratch;
    const bool room = airy_simulated_oct_scratch(&s->model, &scratch);
    const airy_status status =
        room ? make_lines(s, &scratch, index, (const size_t[2]){0, s->model.lines}, frame)
             : airy_fail(AIRY_ERR_MEMORY, "out of memory for a frame");
    airy_simulated_oct_release(&scratch);
    return status;
}

static airy_status write_stack(struct simulation *s)
{
    const struct values *v = s->v;
    const struct airy_simulated_oct *m = &s->model;
    const struct airy_output_values output = {.output = v->output, .force = v->force};
    const struct airy_output_group group = {&output, NULL, &v->compute};
    airy_stack_write_params params = {
        .format = {.dtype = m->dtype,
                   .frames = v->frames,
                   .height = v->lines,
                   .width = airy_simulated_oct_line_bytes(m) / airy_dtype_size(m->dtype)},
        .fill = {.make = make_frame, .source = s}};
    airy_stack_write_info info;
    return airy_job_fill_stack(s->job, &params, &group, &info);
}

static airy_status make_stack(struct simulation *s)
{
    const struct values *v = s->v;
    const struct airy_simulated_oct *m = &s->model;
    const size_t line = airy_simulated_oct_line_bytes(m);
    const airy_host_view view = {.dtype = m->dtype,
                                 .ndim = 3,
                                 .shape = {v->frames, v->lines, line / airy_dtype_size(m->dtype)}};
    const double bytes = (double)v->frames * (double)v->lines * (double)line;
    AIRY_FAIL_HINT_IF(v->compute.memory_limit && bytes > (double)v->compute.memory_limit,
                      AIRY_ERR_MEMORY, AIRY_HINT_STATED, AIRY_SUBJECT_PARAMETER,
                      "%s: a recording of %.0f bytes is larger; name an output", "memory-limit",
                      bytes);
    AIRY_TRY(record(s, v->frames));
    airy_job_put_array(s->job, "stack", &view, s->memory);
    s->memory = NULL;
    return AIRY_OK;
}

/* ---- results ---- */

enum { COLUMNS = 5 };
/* The memory of the table of reflectors. */
struct truth {
    airy_column columns[COLUMNS];
    struct {
        int32_t number;
        double bin;
        struct airy_oct_reflector of;
    } rows[];
};

static airy_status put_truth(struct simulation *s)
{
    const struct airy_simulated_oct *m = &s->model;
    struct truth *t;
    AIRY_TRY(airy_memory_calloc((void **)&t, 1, sizeof(*t) + m->count * sizeof(t->rows[0]),
                                "a table of reflectors"));
    for (size_t i = 0; i < m->count; i++) {
        t->rows[i].number = (int32_t)i;
        t->rows[i].bin = airy_simulated_oct_bin(m, m->reflectors[i].depth_um);
        t->rows[i].of = m->reflectors[i];
    }
    const airy_column columns[COLUMNS] = {
        {.name = "reflector", .dtype = AIRY_DTYPE_I32, .data = &t->rows->number},
        {.name = "depth_um",
         .unit = "um",
         .description = "depth at the frame's left edge",
         .dtype = AIRY_DTYPE_F64,
         .data = &t->rows->of.depth_um},
        {.name = "bin",
         .description = "the same in bins of the profile",
         .dtype = AIRY_DTYPE_F64,
         .data = &t->rows->bin},
        {.name = "reflectivity_db",
         .description = "power relative to the reference arm's, dB",
         .dtype = AIRY_DTYPE_F64,
         .data = &t->rows->of.db},
        {.name = "slope_um",
         .unit = "um",
         .description = "growth of the depth from line to line",
         .dtype = AIRY_DTYPE_F64,
         .data = &t->rows->of.slope_um}};
    memcpy(t->columns, columns, sizeof(columns));
    for (size_t i = 0; i < COLUMNS; i++)
        t->columns[i].step = sizeof(t->rows[0]);
    const airy_table table = {
        .name = "REFLECTORS", .rows = m->count, .columns = COLUMNS, .column = t->columns};
    const airy_status status = s->v->truth ? airy_table_write(&table, s->v->truth, s->v->force)
                                           : AIRY_OK;
    if (status == AIRY_OK && airy_job_keeps(s->job, "reflectors"))
        airy_job_put_table(s->job, "reflectors", &table, t);
    else
        free(t);
    return status;
}

/* What oct makes profiles of the recording with. */
static airy_status write_plan(const struct simulation *s)
{
    const struct airy_simulated_oct *m = &s->model;
    const airy_oct_config config = {
        .has_dtype = true,
        .params = {.samples = m->samples,
                   .lines = m->lines,
                   .dtype = m->dtype,
                   .packing = m->packing,
                   .background = m->lines > 1 && !m->count ? AIRY_OCT_BACKGROUND_MEAN
                                                           : AIRY_OCT_BACKGROUND_NONE,
                   .axis = m->wavelength ? AIRY_OCT_AXIS_WAVELENGTH : AIRY_OCT_AXIS_NONE,
                   .axis_table = m->wavelength,
                   .interpolation = AIRY_OCT_CUBIC,
                   .window = AIRY_OCT_WINDOW_HANN,
                   .has_dispersion = m->dispersion[2] != 0 || m->dispersion[3] != 0,
                   .dispersion = {0, 0, m->dispersion[2], m->dispersion[3]},
                   .flip = m->bidirectional ? AIRY_OCT_FLIP_ODD : AIRY_OCT_FLIP_NONE,
                   .sinusoidal = m->sinusoidal}};
    return airy_oct_config_write(&config, s->v->write_plan, s->v->force);
}

static void put_results(const struct simulation *s, double seconds)
{
    const struct values *v = s->v;
    const double lines = (double)v->frames * (double)v->lines,
                 bytes = lines * (double)airy_simulated_oct_line_bytes(&s->model);
    char text[AIRY_NUMBER_TEXT];
    airy_job *job = s->job;
    airy_job_put_number(job, "frames", (double)v->frames);
    airy_job_put_number(job, "lines", (double)v->lines);
    airy_job_put_number(job, "samples", (double)v->samples);
    airy_job_put_number(job, "bits", s->model.bits);
    airy_job_put_number(job, "bytes", bytes);
    airy_job_put_number(job, "depth_step_um", 5e5 / s->model.span);
    airy_job_put_number(job, "seconds", seconds);
    airy_job_sum_up(job, "%zu frame%s of %zu line%s of %zu samples, %s, %.0f lines/s", v->frames,
                    v->frames == 1 ? "" : "s", v->lines, v->lines == 1 ? "" : "s", v->samples,
                    airy_bytes_text(text, bytes), lines / seconds);
}

static airy_status run(airy_job *job, void *state)
{
    struct simulation *s = state;
    const struct values *v = job->values;
    const uint64_t start = airy_clock_ns();
    *s = (struct simulation){.job = job, .v = v};
    AIRY_TRY(make_model(s));
    AIRY_TRY(airy_job_put_text(job, "dtype", airy_dtype_name(dtype_of(v))));
    if (v->output)
        AIRY_TRY(airy_job_put_text(job, "output", v->output));
    AIRY_TRY(!v->output                                                 ? make_stack(s)
             : airy_image_format_of_name(v->output) == AIRY_FORMAT_HDF5 ? write_stack(s)
                                                                        : write_frames(s));
    if (s->model.count)
        AIRY_TRY(put_truth(s));
    if (v->write_plan)
        AIRY_TRY(write_plan(s));
    put_results(s, 1e-9 * (double)(airy_clock_ns() - start));
    return AIRY_OK;
}

static void close_simulation(void *state)
{
    struct simulation *s = state;
    for (size_t i = 0; i < s->scratches; i++)
        airy_simulated_oct_release(&s->scratch[i]);
    free(s->scratch);
    airy_pool_destroy(&s->pool);
    airy_frame_writer_destroy(&s->writer);
    airy_simulated_oct_end(&s->model);
    free(s->memory);
    free(s->wavelength);
    free(s->envelope);
    free(s->reflectors);
}

extern const struct airy_job_kind airy_job_simulate_oct;
const struct airy_job_kind airy_job_simulate_oct = {
    .name = "simulate-oct",
    .summary = "make interferograms of tissue with a vessel, or of given mirrors",
    .details =
        "Electrons of a reference arm and a sample arm that interfere, with shot noise, read noise "
        "and fixed pattern, go through a converter. Without reflectors the sample is tissue of "
        "five layers under a curved surface, whose scatterers make speckle, and a vessel in which "
        "the phase turns from line to line. The same values give the same bits on every machine. "
        "The output is HDF5, NPY or TIFF by its suffix, or headerless where the suffix is of no "
        "format.",
    .groups = {{rows, 0}, {airy_host_rows, offsetof(struct values, compute)}},
    .results = results,
    .values_size = sizeof(struct values),
    .state_size = sizeof(struct simulation),
    .check = check,
    .run = run,
    .close = close_simulation,
};
