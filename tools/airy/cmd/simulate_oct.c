/* airy simulate oct: interferograms of known reflectors, or of a piece of tissue. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "airy/frames.h"
#include "airy/oct_config.h"
#include "airy/table.h"
#include "simulate/simulated_oct.h"
#include "cli/stack_out.h"
#include "cli/text_lines.h"

enum { WAVELENGTH_TERMS = 6, MOST_REFLECTORS = 1000, BLOCK = 32 /* lines made at a time */ };
static const size_t BATCH_BYTES = (size_t)64 << 20; /* of frames made between two writes */

struct oct_sim_params {
    struct common common;
    size_t samples, lines, frames, repeats, beam;
    uint64_t seed;
    airy_dtype dtype;
    airy_oct_packing packing;
    size_t bits;
    struct opt_list reflectors;
    double flow, spectrum[2], dispersion[2], full_well, exposure, read_noise, pattern;
    const char *wavelengths, *spectrum_file, *truth, *write_plan;
    bool bidirectional, sinusoidal, linear_k, balanced, noiseless;
    bool has_samples, has_lines, has_frames, has_repeats, has_beam, has_seed, has_dtype, has_bits,
        has_flow, has_spectrum, has_full_well, has_exposure, has_read_noise, has_pattern;
    /* what the tables of the model come from */
    double *wavelength, *envelope;
    struct oct_reflector *reflector;
};

static const char *parse_oct_dtype(void *field, const char *text)
{
    static const char *const words[] = {"u8", "u16", "i16", "f32", NULL};
    return opt_dtype(field, text, words);
}

static const char *const packings[] = {"none", "10", "12", NULL};

#define FIELD(member) .offset = offsetof(struct oct_sim_params, member)
#define SEEN(member)  .seen = offsetof(struct oct_sim_params, member)

static const struct opt recording_options[] = {
    {.heading = "Recording"},
    {.name = "samples",
     .type = OPT_COUNT,
     FIELD(samples),
     SEEN(has_samples),
     .lo = 8,
     .hi = AIRY_OCT_MAX_SAMPLES,
     .argument = "N",
     .fallback = "2048",
     .help = "of a line"},
    {.name = "lines",
     .type = OPT_COUNT,
     FIELD(lines),
     SEEN(has_lines),
     .lo = 1,
     .hi = AIRY_OCT_MAX_LINES,
     .argument = "N",
     .fallback = "512",
     .help = "of a frame"},
    {.name = "frames",
     .type = OPT_COUNT,
     FIELD(frames),
     SEEN(has_frames),
     .lo = 1,
     .hi = 10000000,
     .argument = "N",
     .fallback = "1",
     .help = "each at another place of the tissue"},
    {.name = "repeats",
     .type = OPT_COUNT,
     FIELD(repeats),
     SEEN(has_repeats),
     .lo = 1,
     .hi = 10000000,
     .argument = "N",
     .fallback = "1",
     .help = "frames that follow each other at the same place; blood has moved in between"},
    {.name = "dtype",
     .type = OPT_PARSED,
     FIELD(dtype),
     SEEN(has_dtype),
     .parse = parse_oct_dtype,
     .argument = "TYPE",
     .fallback = "u16",
     .help =
         "u8, u16, i16 (half of the range is 0) or f32 (numbers of the converter, not rounded)"},
    {.name = "packing",
     .type = OPT_WORD,
     FIELD(packing),
     .words = packings,
     .argument = "P",
     .fallback = "none",
     .help = "10 or 12: samples of so many bits without gaps, the lowest bits first"},
    {.name = "bits",
     .type = OPT_COUNT,
     FIELD(bits),
     SEEN(has_bits),
     .lo = 1,
     .hi = 16,
     .argument = "N",
     .fallback = "12; 8 of u8",
     .help = "of the converter"},
    {.name = "bidirectional",
     .type = OPT_FLAG,
     FIELD(bidirectional),
     .help = "frames 1, 3, 5, ... are scanned backwards"},
    {.name = "sinusoidal",
     .type = OPT_FLAG,
     FIELD(sinusoidal),
     .help = "the scan slows down at both ends of a frame, as a resonant mirror's does"},
    {.name = "seed",
     .type = OPT_SEED,
     FIELD(seed),
     SEEN(has_seed),
     .argument = "N",
     .fallback = "1",
     .help = "of tissue and noise; the same bits everywhere"},
    {.name = "truth",
     .type = OPT_STRING,
     FIELD(truth),
     .use = OPT_WRITTEN,
     .argument = "FILE",
     .help = "table of the reflectors (.csv, .fits, .vot): depth in micrometres and in bins"},
    {.name = "write-plan",
     .type = OPT_STRING,
     FIELD(write_plan),
     .use = OPT_WRITTEN,
     .argument = "PLAN.json",
     .help =
         "plan for airy oct: wavelengths, dispersion and scan as they are, background and window "
         "as usual"},
    {0},
};

static const struct opt light_options[] = {
    {.heading = "Sample"},
    {.name = "reflectors",
     .type = OPT_LIST,
     FIELD(reflectors),
     .argument = "Z:R[:S],...",
     .fallback = "a piece of tissue with a vessel",
     .help = "mirrors instead of tissue: depth in micrometres, reflectivity in dB of the reference "
             "arm's light, micrometres that the depth grows by from line to line; may be given "
             "several times"},
    {.name = "beam",
     .type = OPT_COUNT,
     FIELD(beam),
     SEEN(has_beam),
     .lo = 1,
     .hi = PHANTOM_MOST_BEAM,
     .argument = "LINES",
     .fallback = "4",
     .help = "lines that a speckle of the tissue is wide"},
    {.name = "flow",
     .type = OPT_FLOAT,
     FIELD(flow),
     SEEN(has_flow),
     .lo = -1e6,
     .hi = 1e6,
     .argument = "RAD",
     .fallback = "1",
     .help = "phase from line to line in the middle of the vessel"},
    {.heading = "Light"},
    {.name = "wavelengths",
     .type = OPT_STRING,
     FIELD(wavelengths),
     .use = OPT_READ,
     .argument = "C0,C1,...|FILE",
     .fallback = "1187.2,252.9,13.5,-25.5,4.6",
     .help = "of the samples: nm = C0 + C1 t + C2 t^2 ..., t = 0 to 1 along the line, up to 6 "
             "terms; or a file (.npy, or text of one number a line) of metres"},
    {.name = "linear-k",
     .type = OPT_FLAG,
     FIELD(linear_k),
     .help = "samples at equal steps of the wavenumber between the ends of --wavelengths"},
    {.name = "spectrum",
     .type = OPT_PAIR,
     FIELD(spectrum),
     SEEN(has_spectrum),
     .argument = "CENTER,WIDTH",
     .fallback = "the middle and 0.45 of the range",
     .help = "Gaussian; nm, full width at half maximum"},
    {.name = "spectrum-file",
     .type = OPT_STRING,
     FIELD(spectrum_file),
     .use = OPT_READ,
     .argument = "FILE",
     .help = "its shape instead, a number a sample (.npy, or text of one number a line)"},
    {.name = "dispersion",
     .type = OPT_PAIR,
     FIELD(dispersion),
     .argument = "D2,D3",
     .fallback = "0,0",
     .help = "radians; D2 t^2 + D3 t^3 compensates it, t = 0 to 1 along the resampled line"},
    {.heading = "Camera"},
    {.name = "full-well",
     .type = OPT_FLOAT,
     FIELD(full_well),
     SEEN(has_full_well),
     .lo = 1,
     .hi = 1e12,
     .argument = "E",
     .fallback = "200000",
     .help = "electrons that saturate a sample, the converter's largest number"},
    {.name = "exposure",
     .type = OPT_FLOAT,
     FIELD(exposure),
     SEEN(has_exposure),
     .lo = 1e-9,
     .hi = 100,
     .argument = "F",
     .fallback = "0.5",
     .help = "part of the well that the reference arm fills at the spectrum's maximum"},
    {.name = "read-noise",
     .type = OPT_FLOAT,
     FIELD(read_noise),
     SEEN(has_read_noise),
     .lo = 0,
     .hi = 1e12,
     .argument = "E",
     .fallback = "60",
     .help = "electrons"},
    {.name = "fixed-pattern",
     .type = OPT_FLOAT,
     FIELD(pattern),
     SEEN(has_pattern),
     .lo = 0,
     .hi = 0.5,
     .argument = "F",
     .fallback = "0.003",
     .help = "standard deviation of the samples' gain"},
    {.name = "balanced",
     .type = OPT_FLAG,
     FIELD(balanced),
     .help = "the difference of two detectors, without DC and autocorrelation"},
    {.name = "noiseless",
     .type = OPT_FLAG,
     FIELD(noiseless),
     .help = "no shot noise, no read noise, no fixed pattern"},
    {0},
};

static void fill_defaults(struct oct_sim_params *p)
{
    p->samples = p->has_samples ? p->samples : 2048;
    p->lines = p->has_lines ? p->lines : 512;
    p->frames = p->has_frames ? p->frames : 1;
    p->repeats = p->has_repeats ? p->repeats : 1;
    p->beam = p->has_beam ? p->beam : 4;
    p->seed = p->has_seed ? p->seed : 1;
    p->flow = p->has_flow ? p->flow : 1;
    p->full_well = p->has_full_well ? p->full_well : 200000;
    p->exposure = p->has_exposure ? p->exposure : 0.5;
    p->read_noise = p->has_read_noise ? p->read_noise : 60;
    p->pattern = p->noiseless ? 0 : p->has_pattern ? p->pattern : 0.003;
    p->dtype = p->packing ? AIRY_DTYPE_U8 : p->has_dtype ? p->dtype : AIRY_DTYPE_U16;
    if (!p->has_bits)
        p->bits = p->packing == AIRY_OCT_PACKING_10         ? 10
                  : p->packing || p->dtype != AIRY_DTYPE_U8 ? 12
                                                            : 8;
}

static int check_kinds(const struct oct_sim_params *p)
{
    const struct common *c = &p->common;
    const size_t packed = p->packing == AIRY_OCT_PACKING_10   ? 10
                          : p->packing == AIRY_OCT_PACKING_12 ? 12
                                                              : 0;
    if (packed && p->has_dtype && p->dtype != AIRY_DTYPE_U16)
        return tool_usage(c, "--packing %zu: such samples are unsigned, leave out --dtype", packed);
    if (packed && p->bits != packed)
        return tool_usage(c, "--bits %zu: expected %zu, as --packing says", p->bits, packed);
    if (packed && p->samples * packed % 8)
        return tool_usage(c, "--samples %zu of %zu bits do not fill whole bytes", p->samples,
                          packed);
    if (p->dtype == AIRY_DTYPE_U8 && !packed && p->bits > 8)
        return tool_usage(c, "--bits %zu: u8 has 8", p->bits);
    if (p->has_spectrum && p->spectrum_file)
        return tool_usage(c, "--spectrum and --spectrum-file: expected one of them");
    if (p->has_spectrum && (!(p->spectrum[0] > 0) || !(p->spectrum[1] > 0)))
        return tool_usage(c, "--spectrum: expected CENTER and WIDTH above 0");
    if (p->noiseless && (p->has_read_noise || p->has_pattern))
        return tool_usage(c, "--read-noise and --fixed-pattern have no meaning with --noiseless");
    if (p->reflectors.count && (p->has_beam || p->has_flow || p->has_repeats))
        return tool_usage(c, "--beam, --flow and --repeats are of the tissue, which --reflectors "
                             "replace");
    if (p->truth && !p->reflectors.count)
        return tool_usage(c, "--truth: it lists --reflectors, and there are none");
    return AIRY_EXIT_OK;
}

/* count numbers of a file: NPY, or text of one number a line. */
static int read_numbers(const struct common *common, const char *option, const char *path,
                        double *to, size_t count)
{
    size_t n = 0;
    if (tool_has_suffix(path, ".npy")) {
        airy_image image = {0};
        const airy_status status = airy_image_read_real(&image, path);
        if (status != AIRY_OK)
            return tool_failed(common, status);
        n = tool_count(image.shape, image.ndim);
        for (size_t i = 0; i < n && i < count; i++)
            to[i] = airy_image_value(&image, i);
        airy_image_free(&image);
    } else {
        char named[64];
        snprintf(named, sizeof(named), "%s ", option);
        struct text_lines lines = {.common = common,
                                   .option = named,
                                   .path = path,
                                   .file = tool_open_text(common, named, path)};
        if (!lines.file)
            return AIRY_EXIT_FAILED;
        int code = AIRY_EXIT_OK;
        for (const char *line; (line = text_next(&lines, &code)) != NULL;) {
            double v = 0;
            if (!line[0] || line[0] == '#')
                continue;
            if (!opt_number(line, &v))
                code = tool_fail(common, "%s %s: line '%.40s' is not a number", option, path, line);
            if (n < count)
                to[n] = v;
            n++;
        }
        fclose(lines.file);
        if (code != AIRY_EXIT_OK)
            return code;
    }
    for (size_t i = 0; i < n && i < count; i++)
        if (!isfinite(to[i]))
            return tool_fail(common, "%s %s: value %zu is not finite", option, path, i);
    if (n != count)
        return tool_fail(common, "%s %s: has %zu number%s, expected one for each of %zu samples",
                         option, path, n, tool_s(n), count);
    return AIRY_EXIT_OK;
}

static int make_wavelengths(struct oct_sim_params *p)
{
    const struct common *c = &p->common;
    const char *text = p->wavelengths ? p->wavelengths : "1187.2,252.9,13.5,-25.5,4.6";
    double terms[WAVELENGTH_TERMS];
    const size_t count = opt_numbers(text, terms, WAVELENGTH_TERMS);
    int code = AIRY_EXIT_OK;
    if (!count)
        code = read_numbers(c, "--wavelengths", text, p->wavelength, p->samples);
    for (size_t i = 0; count && i < p->samples; i++) {
        const double t = (double)i / (double)(p->samples - 1);
        double nm = 0;
        for (size_t n = count; n-- > 0;)
            nm = nm * t + terms[n];
        p->wavelength[i] = 1e-9 * nm;
    }
    const double *w = p->wavelength;
    for (size_t i = 0; code == AIRY_EXIT_OK && i < p->samples; i++) {
        /* 1 nm to 1 mm */
        if (!(w[i] >= 1e-9) || !(w[i] <= 1e-3))
            code =
                tool_usage(c, "--wavelengths: sample %zu has %g m, expected 1e-9 to 1e-3", i, w[i]);
        else if (i > 0 && !(w[1] > w[0] ? w[i] > w[i - 1] : w[i] < w[i - 1]))
            code = tool_usage(c, "--wavelengths: neither rising nor falling at sample %zu", i);
    }
    return code;
}

/* "Z:R[:S],Z:R,..." of one option. */
static int read_reflectors(struct oct_sim_params *p, const char *text, size_t *count)
{
    while (*text) {
        char word[128], *field, *save = NULL;
        const size_t n = strcspn(text, ",");
        double v[3] = {0};
        size_t fields = 0;
        bool good = n > 0 && n < sizeof(word);
        memcpy(word, text, good ? n : 0);
        word[good ? n : 0] = 0;
        for (field = strtok_r(word, ":", &save); good && field;
             field = strtok_r(NULL, ":", &save)) {
            good = fields < 3 && opt_number(field, &v[fields < 3 ? fields : 0]);
            fields++;
        }
        good = good && fields >= 2 && v[0] >= 0 && v[0] <= 1e7 && v[1] >= -300 && v[1] <= 20 &&
               fabs(v[2]) <= 1e6;
        if (!good)
            return tool_usage(&p->common,
                              "--reflectors %s: expected Z:R[:S],... with Z of 0 to 1e7 "
                              "micrometres, R of -300 to 20 dB, S of -1e6 to 1e6",
                              text);
        if (*count == MOST_REFLECTORS)
            return tool_usage(&p->common, "--reflectors: expected at most %d", MOST_REFLECTORS);
        p->reflector[(*count)++] = (struct oct_reflector){v[0], v[1], v[2]};
        text += n + (text[n] == ',');
    }
    return AIRY_EXIT_OK;
}

/* The recording's model; its tables are still to be made. */
static int make_model(struct oct_sim_params *p, struct simulated_oct *m)
{
    const size_t n = p->samples;
    size_t count = 0;
    p->wavelength = calloc(n, sizeof(double));
    p->envelope = calloc(n, sizeof(double));
    p->reflector = calloc(MOST_REFLECTORS, sizeof(*p->reflector));
    if (!p->wavelength || !p->envelope || !p->reflector)
        return tool_fail(&p->common, "out of memory");
    int code = make_wavelengths(p);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < p->reflectors.count; i++)
        code = read_reflectors(p, p->reflectors.items[i], &count);
    if (code == AIRY_EXIT_OK && p->spectrum_file)
        code = read_numbers(&p->common, "--spectrum-file", p->spectrum_file, p->envelope, n);
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (code == AIRY_EXIT_OK && p->envelope[i] < 0)
            code = tool_fail(&p->common, "--spectrum-file %s: value %zu is negative",
                             p->spectrum_file, i);
        most = p->envelope[i] > most ? p->envelope[i] : most;
    }
    if (code == AIRY_EXIT_OK && p->spectrum_file && most <= 0)
        code = tool_fail(&p->common, "--spectrum-file %s: has no value above 0", p->spectrum_file);
    const double a = p->wavelength[0], b = p->wavelength[n - 1], low = a < b ? a : b,
                 high = a < b ? b : a;
    *m = (struct simulated_oct){
        .samples = n,
        .lines = p->lines,
        .frames = p->frames,
        .repeats = p->repeats,
        .seed = p->seed,
        .dtype = p->dtype,
        .packing = p->packing,
        .bits = (int)p->bits,
        .full_well = p->full_well,
        .exposure = p->exposure,
        .read_noise = p->read_noise,
        .pattern = p->pattern,
        .balanced = p->balanced,
        .noiseless = p->noiseless,
        .bidirectional = p->bidirectional,
        .sinusoidal = p->sinusoidal,
        .dispersion = {0, 0, p->dispersion[0], p->dispersion[1]},
        .wavelength = p->linear_k ? NULL : p->wavelength,
        .ends = {low, high},
        .spectrum = p->spectrum_file ? p->envelope : NULL,
        .center = p->has_spectrum ? 1e-9 * p->spectrum[0] : 0.5 * (low + high),
        .width = p->has_spectrum ? 1e-9 * p->spectrum[1] : 0.45 * (high - low),
        .reflectors = p->reflector,
        .count = count,
        .beam = p->beam,
        .flow = p->flow,
    };
    return code;
}

/* Blocks of lines of some frames into memory, by several threads. */
struct recording {
    const struct simulated_oct *model;
    char *memory;               /* of those frames */
    size_t first, last, blocks; /* blocks to be made now, of all frames */
    size_t per_frame;           /* blocks of a frame */
    pthread_mutex_t lock;       /* of everything below */
    struct progress progress;
    size_t next, done;
    airy_status status;
    bool stopped;
};

/* One block, to where it belongs. */
static airy_status make_block(const struct recording *r, struct oct_scratch *scratch, size_t block)
{
    const struct simulated_oct *m = r->model;
    const size_t frame = block / r->per_frame, line = block % r->per_frame * BLOCK,
                 count = m->lines - line < BLOCK ? m->lines - line : BLOCK,
                 place = (frame - r->first / r->per_frame) * m->lines + line;
    return simulated_oct_lines(m, scratch, frame, line, count,
                               r->memory + place * simulated_oct_line_bytes(m));
}

static void *record(void *user)
{
    struct recording *r = user;
    struct oct_scratch scratch;
    const bool room = simulated_oct_scratch(r->model, &scratch);
    for (;;) {
        pthread_mutex_lock(&r->lock);
        if (!room)
            r->status = AIRY_ERR_MEMORY;
        const size_t block = r->next;
        const bool more = block < r->last && r->status == AIRY_OK && !r->stopped;
        r->next += more;
        pthread_mutex_unlock(&r->lock);
        if (!more)
            break;
        const airy_status status = make_block(r, &scratch, block);
        pthread_mutex_lock(&r->lock);
        r->status = status != AIRY_OK ? status : r->status;
        r->done++;
        r->stopped |= !progress_step(&r->progress, r->done, r->blocks) && r->done < r->blocks;
        pthread_mutex_unlock(&r->lock);
    }
    simulated_oct_release(&scratch);
    return NULL;
}

/* Frames of a batch into r->memory. Exit code. */
static int run_recording(const struct oct_sim_params *p, struct recording *r, size_t frame,
                         size_t count, const char *path)
{
    const struct common *common = &p->common;
    const size_t threads = tool_threads(common), blocks = count * r->per_frame;
    r->first = r->next = frame * r->per_frame;
    r->last = r->first + blocks;
    tool_work(threads < blocks ? threads : blocks, record, r);
    if (r->status == AIRY_ERR_MEMORY)
        return tool_fail(common, "out of memory for %zu lines in flight; lower --threads",
                         (size_t)BLOCK * threads);
    if (r->status != AIRY_OK)
        return tool_fail(common, "%s: noise could not be drawn (%s); lower --exposure", path,
                         airy_status_name(r->status));
    if (r->done < r->last)
        return tool_fail(common, "%s: stopped, %s; start again", path, tool_left(common, path));
    return AIRY_EXIT_OK;
}

/* All frames, so many at a time. Exit code. */
static int record_frames(const struct oct_sim_params *p, struct recording *r,
                         airy_frame_writer *writer, size_t batch, const char *path)
{
    int code = AIRY_EXIT_OK;
    pthread_mutex_init(&r->lock, NULL);
    progress_begin(&r->progress, &p->common, "blocks of lines");
    for (size_t frame = 0; frame < p->frames && code == AIRY_EXIT_OK; frame += batch) {
        const size_t count = p->frames - frame < batch ? p->frames - frame : batch;
        code = run_recording(p, r, frame, count, path);
        if (code == AIRY_EXIT_OK) {
            const airy_status status = airy_frame_writer_add(writer, r->memory, count);
            code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
        }
    }
    progress_end(&r->progress);
    pthread_mutex_destroy(&r->lock);
    return code;
}

/* .npy and .tif: [frames, lines, samples], packed ones [frames, lines, bytes]; else headerless. */
static int write_frames(const struct oct_sim_params *p, const struct simulated_oct *m,
                        const char *path)
{
    const struct common *common = &p->common;
    const size_t line = simulated_oct_line_bytes(m);
    const airy_frame_writer_params params = {.dtype = m->dtype,
                                             .height = m->lines,
                                             .width = line / airy_dtype_size(m->dtype),
                                             .force = common->force,
                                             .frames = p->frames,
                                             .headerless = !airy_frame_writer_has_format(path)};
    const size_t most = BATCH_BYTES / (m->lines * line), fit = most ? most : 1,
                 batch = p->frames < fit ? p->frames : fit;
    const size_t per_frame = (m->lines + BLOCK - 1) / BLOCK;
    struct recording r = {.model = m, .per_frame = per_frame, .blocks = per_frame * p->frames};
    airy_frame_writer *writer = NULL;
    tool_catch_interrupts(); /* from here on there is a partial file */
    airy_status status = airy_frame_writer_create(&writer, path, &params);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    r.memory = calloc(batch * m->lines, line);
    int code = r.memory ? record_frames(p, &r, writer, batch, path)
                        : tool_fail(common, "%s: out of memory for %zu frames of %zu lines", path,
                                    batch, m->lines);
    if (code == AIRY_EXIT_OK && (status = airy_frame_writer_finish(writer)) != AIRY_OK)
        code = tool_failed(common, status);
    airy_frame_writer_destroy(&writer);
    free(r.memory);
    return code;
}

static airy_status make_frame(void *user, size_t index, void *frame)
{
    const struct simulated_oct *m = user;
    struct oct_scratch scratch;
    const airy_status status = simulated_oct_scratch(m, &scratch)
                                   ? simulated_oct_lines(m, &scratch, index, 0, m->lines, frame)
                                   : AIRY_ERR_MEMORY;
    simulated_oct_release(&scratch);
    return status;
}

static int write_stack(const struct oct_sim_params *p, struct simulated_oct *m, const char *path)
{
    struct stack_out out = {
        .common = &p->common,
        .path = path,
        .writer = {.dtype = m->dtype,
                   .frames = p->frames,
                   .height = p->lines,
                   .width = simulated_oct_line_bytes(m) / airy_dtype_size(m->dtype)},
        .fill = {.make = make_frame, .source = m}};
    return stack_out_run(&out);
}

static int write_truth(const struct oct_sim_params *p, const struct simulated_oct *m)
{
    double *bins = malloc(m->count * sizeof(double));
    int32_t *numbers = malloc(m->count * sizeof(int32_t));
    int code = AIRY_EXIT_OK;
    if (!bins || !numbers) {
        code = tool_fail(&p->common, "out of memory");
    } else {
        for (size_t i = 0; i < m->count; i++) {
            bins[i] = simulated_oct_bin(m, m->reflectors[i].depth_um);
            numbers[i] = (int32_t)i;
        }
        const size_t step = sizeof(struct oct_reflector);
        const airy_column columns[] = {
            {.name = "reflector", .dtype = AIRY_DTYPE_I32, .data = numbers},
            {.name = "depth_um",
             .unit = "um",
             .description = "depth at the frame's left edge",
             .dtype = AIRY_DTYPE_F64,
             .data = &m->reflectors->depth_um,
             .step = step},
            {.name = "bin",
             .description = "the same in bins of the profile",
             .dtype = AIRY_DTYPE_F64,
             .data = bins},
            {.name = "reflectivity_db",
             .description = "power relative to the reference arm's, dB",
             .dtype = AIRY_DTYPE_F64,
             .data = &m->reflectors->db,
             .step = step},
            {.name = "slope_um",
             .unit = "um",
             .description = "growth of the depth from line to line",
             .dtype = AIRY_DTYPE_F64,
             .data = &m->reflectors->slope_um,
             .step = step},
        };
        const airy_table table = {.name = "REFLECTORS",
                                  .rows = m->count,
                                  .columns = sizeof(columns) / sizeof(columns[0]),
                                  .column = columns};
        const airy_status status = airy_table_write(&table, p->truth, p->common.force);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
    }
    free(bins);
    free(numbers);
    return code;
}

/* What airy oct makes profiles of the recording with. */
static int write_plan(const struct oct_sim_params *p, const struct simulated_oct *m)
{
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
    const airy_status status = airy_oct_config_write(&config, p->write_plan, p->common.force);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(&p->common, status);
}

static int report(const struct oct_sim_params *p, const struct simulated_oct *m, const char *path,
                  double seconds)
{
    const double lines = (double)p->frames * (double)p->lines,
                 bytes = lines * (double)simulated_oct_line_bytes(m);
    char text[32];
    if (p->common.json)
        return tool_print_json(&p->common,
                               json_pack("{s:o, s:I, s:I, s:I, s:s, s:i, s:o, s:o, s:o}", "output",
                                         tool_json_string(path), "frames", (json_int_t)p->frames,
                                         "lines", (json_int_t)p->lines, "samples",
                                         (json_int_t)p->samples, "dtype", airy_dtype_name(p->dtype),
                                         "bits", (int)p->bits, "bytes", tool_json_number(bytes),
                                         "depth_step_um", tool_json_number(5e5 / m->span),
                                         "seconds", tool_json_number(seconds)));
    tool_say(&p->common, "%s: %zu frame%s of %zu line%s of %zu samples, %s, %.0f lines/s", path,
             p->frames, tool_s(p->frames), p->lines, tool_s(p->lines), p->samples,
             tool_bytes(text, bytes), lines / seconds);
    return AIRY_EXIT_OK;
}

static int write_all(const struct oct_sim_params *p, struct simulated_oct *m, const char *path)
{
    const double start = tool_now();
    int code;
    if (tool_has_suffix(path, ".h5") || tool_has_suffix(path, ".hdf5") ||
        tool_has_suffix(path, ".nxs"))
        code = write_stack(p, m, path);
    else if (airy_image_has_format(path) && !airy_frame_writer_has_format(path))
        code = tool_usage(&p->common,
                          "output '%s': expected " FRAME_SUFFIXES
                          " or a suffix of no format for a headerless file",
                          path);
    else
        code = write_frames(p, m, path);
    if (code == AIRY_EXIT_OK && p->truth)
        code = write_truth(p, m);
    if (code == AIRY_EXIT_OK && p->write_plan)
        code = write_plan(p, m);
    return code == AIRY_EXIT_OK ? report(p, m, path, tool_now() - start) : code;
}

/* What no file says; reflectors and a polynomial of wavelengths are made again by the run. */
static int check_simulate_oct(void *user)
{
    struct oct_sim_params *p = user;
    double terms[WAVELENGTH_TERMS];
    size_t count = 0;
    fill_defaults(p);
    int code = check_kinds(p);
    p->wavelength = calloc(p->samples, sizeof(double));
    p->reflector = calloc(MOST_REFLECTORS, sizeof(*p->reflector));
    if (code == AIRY_EXIT_OK && (!p->wavelength || !p->reflector))
        code = tool_fail(&p->common, "out of memory");
    if (code == AIRY_EXIT_OK && p->wavelengths &&
        opt_numbers(p->wavelengths, terms, WAVELENGTH_TERMS))
        code = make_wavelengths(p);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < p->reflectors.count; i++)
        code = read_reflectors(p, p->reflectors.items[i], &count);
    free(p->wavelength);
    free(p->reflector);
    p->wavelength = NULL;
    p->reflector = NULL;
    return code;
}

static int run_simulate_oct(void *user)
{
    struct oct_sim_params *p = user;
    struct simulated_oct model = {0};
    int code = make_model(p, &model);
    if (code == AIRY_EXIT_OK && !simulated_oct_begin(&model))
        code = tool_fail(&p->common, "out of memory");
    if (code == AIRY_EXIT_OK)
        code = write_all(p, &model, p->common.inputs.items[0]);
    simulated_oct_end(&model);
    free(p->wavelength);
    free(p->envelope);
    free(p->reflector);
    return code;
}

const struct command cmd_simulate_oct = {
    .name = "simulate oct",
    .usage = "OUT [options]",
    .summary = "make interferograms of tissue with a vessel, or of given mirrors",
    .details =
        "Electrons of a reference arm and a sample arm that interfere, with shot noise, read noise "
        "and fixed pattern, through a converter. Without --reflectors the sample is tissue of "
        "five layers under a curved surface, whose scatterers make speckle, and a vessel in which "
        "the phase turns from line to line. The same options give the same bits on every machine. "
        "OUT ends in " FRAME_SUFFIXES ", or in no suffix of an image for a headerless file.",
    .examples = "  airy simulate oct tissue.raw --lines 1024 --write-plan plan.json\n"
                "  airy simulate oct mirror.npy --lines 64 --reflectors 800:-20 --dispersion "
                "30,-12 --truth mirror.csv\n"
                "  airy simulate oct flow.h5 --frames 16 --repeats 4 --flow 0.6\n",
    .tables = {recording_options, light_options},
    .takes = TAKES_THREADS,
    .params_size = sizeof(struct oct_sim_params),
    .min_inputs = 1,
    .max_inputs = 1,
    .writes = 1,
    .check = check_simulate_oct,
    .run = run_simulate_oct,
};
