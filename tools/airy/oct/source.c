/* Raw frames of `airy oct`: what plan and file say about them must agree. */
#include <stdlib.h>
#include <string.h>

#include "oct/oct.h"

const char *oct_ring_name(const char *path)
{
    return strncmp(path, "ring:", 5) == 0 ? path + 5 : NULL;
}

size_t oct_packed_bits(const airy_oct_params *plan)
{
    return plan->packing == AIRY_OCT_PACKING_10   ? 10
           : plan->packing == AIRY_OCT_PACKING_12 ? 12
                                                  : 0;
}

/* Elements of a line as they lie in a file. */
static size_t line_width(const airy_oct_params *plan)
{
    const size_t bits = oct_packed_bits(plan);
    return bits ? (plan->samples * bits + 7) / 8 : plan->samples;
}

static airy_status refuse_type(const char *path, airy_dtype dtype)
{
    airy_error error = {.status = AIRY_ERR_UNSUPPORTED, .subject = AIRY_SUBJECT_FILE};
    snprintf(error.name, sizeof(error.name), "%s", path);
    snprintf(error.text, sizeof(error.text),
             "'%s': frames of %s, expected integers of at most 32 bits or floats", path,
             airy_dtype_name(dtype));
    return airy_error_restore(&error);
}

airy_status oct_frames_open(struct oct_frames *f, const char *path, const airy_stack_params *params)
{
    *f = (struct oct_frames){.dtype = AIRY_DTYPE_F32};
    airy_status status = airy_stack_create_with(&f->stack, &path, 1, params);
    if (status == AIRY_OK)
        status = airy_stack_get_info(f->stack, &f->info);
    if (status != AIRY_OK)
        return status;
    const airy_dtype stored = f->info.dtype;
    const size_t count = f->info.height * f->info.width;
    if (stored == AIRY_DTYPE_U64 || stored == AIRY_DTYPE_I64)
        return refuse_type(path, stored);
    if (stored == AIRY_DTYPE_U8 || stored == AIRY_DTYPE_U16 || stored == AIRY_DTYPE_I16)
        f->dtype = stored;
    f->frame_bytes = count * airy_dtype_size(f->dtype);
    if (f->dtype != stored && !(f->stored = malloc(count * airy_dtype_size(stored))))
        return AIRY_ERR_MEMORY;
    return AIRY_OK;
}

airy_status oct_frames_read(const struct oct_frames *f, size_t number, void *frame)
{
    const size_t count = f->info.height * f->info.width;
    const airy_image one = {.dtype = f->info.dtype, .ndim = 1, .shape = {count}, .data = f->stored};
    const airy_status status = airy_stack_read(f->stack, number, f->stored ? f->stored : frame,
                                               count * airy_dtype_size(f->info.dtype));
    for (size_t i = 0; i < count && f->stored && status == AIRY_OK; i++)
        ((float *)frame)[i] = (float)airy_image_value(&one, i);
    return status;
}

void oct_frames_close(struct oct_frames *f)
{
    airy_stack_destroy(&f->stack);
    free(f->stored);
    f->stored = NULL;
}

/* A headerless file is what the plan says. */
static int check_raw(const struct oct_source *s, const char *plan)
{
    const airy_oct_params *p = &s->config.params;
    const char *missing = p->samples == 0        ? "samples"
                          : p->lines == 0        ? "lines"
                          : !s->config.has_dtype ? "dtype"
                                                 : NULL;
    if (!missing && s->config.converted && p->big_endian)
        return tool_fail(
            s->common,
            "plan %s: byte_order = big with dtype = %s, which is read in the machine's "
            "order only; swap the bytes of %s",
            plan, airy_dtype_name(s->config.converted), s->path);
    if (!missing && s->config.converted && !s->ring)
        tool_say(s->common, "%s: %s is converted to float32", s->path,
                 airy_dtype_name(s->config.converted));
    if (!missing)
        return AIRY_EXIT_OK;
    return tool_fail(s->common,
                     "%s is headerless, and plan %s lacks %s; add it (samples, lines and dtype are "
                     "needed)",
                     s->path, plan, missing);
}

/* The plan's number of samples, or the table that it is taken from, is not that of the file. */
static int refuse_width(const struct oct_source *s, const char *plan)
{
    const airy_oct_params *p = &s->config.params;
    const char *from = s->config.samples_from;
    const size_t bits = oct_packed_bits(p);
    char said[256], packed[32] = "";
    if (bits)
        snprintf(packed, sizeof(packed), " of %zu bits", bits);
    snprintf(said, sizeof(said),
             strcmp(from, "samples") == 0 ? "%s = %zu%s" : "%s has %zu numbers%s", from, p->samples,
             packed);
    return tool_fail(s->common, "plan %s: %s, but %s has lines of %zu %s", plan, said, s->path,
                     s->input.info.width, bits ? "bytes" : "samples");
}

/* A file that says its shape: it completes the plan, or agrees with it. */
static int complete_plan(struct oct_source *s, const char *plan)
{
    airy_oct_params *p = &s->config.params;
    const airy_stack_info *info = &s->input.info;
    const size_t bits = oct_packed_bits(p);
    if (s->config.header_bytes)
        return tool_fail(s->common,
                         "plan %s: header_bytes = %llu, but %s is no headerless file; leave it out",
                         plan, (unsigned long long)s->config.header_bytes, s->path);
    if (p->samples == 0)
        p->samples = bits ? info->width * 8 / bits : info->width;
    if (line_width(p) != info->width)
        return refuse_width(s, plan);
    if (p->lines == 0)
        p->lines = info->height;
    if (p->lines != info->height)
        return tool_fail(s->common, "plan %s: lines = %zu, but %s has frames of %zu lines", plan,
                         p->lines, s->path, info->height);
    const airy_dtype said = s->config.converted ? s->config.converted : p->dtype;
    if (s->config.has_dtype && said != info->dtype)
        return tool_fail(s->common, "plan %s: dtype = %s%s, but %s has %s", plan,
                         airy_dtype_name(said), bits ? " for packed samples" : "", s->path,
                         airy_dtype_name(info->dtype));
    if (s->input.stored)
        tool_say(s->common, "%s: %s is converted to float32", s->path,
                 airy_dtype_name(info->dtype));
    s->config.converted = AIRY_DTYPE_F32; /* the file says it */
    p->dtype = s->input.dtype;
    p->big_endian = bits && p->big_endian; /* numbers come in the machine's order */
    s->config.has_dtype = true;
    return AIRY_EXIT_OK;
}

/* Frames of a pipe that come before the first one that is wanted. */
static airy_status skip(const struct oct_source *s)
{
    airy_status status = AIRY_OK;
    void *frame = malloc(s->input.frame_bytes);
    if (!frame)
        return AIRY_ERR_MEMORY;
    for (size_t i = 0; i < s->first && status == AIRY_OK; i++)
        status = oct_frames_read(&s->input, i, frame);
    free(frame);
    return status;
}

/* --frames A:B of what is there. */
static int choose_frames(struct oct_source *s, const struct oct_params *p)
{
    const struct common *common = s->common;
    const airy_stack_info *info = &s->input.info;
    const size_t frame_bytes = info->height * info->width * airy_dtype_size(info->dtype);
    const bool to_end = !p->has_frames || p->frames[1] == 0;
    const unsigned long long there = info->is_pipe ? UINT64_MAX : info->frames;
    if (p->has_frames && p->frames[2] != 1)
        return tool_usage(common,
                          "--frames %zu:%zu:%zu: expected FIRST:LAST, frames follow each "
                          "other",
                          p->frames[0], p->frames[1], p->frames[2]);
    if (info->rest_bytes && to_end) {
        char advice[80] = "";
        if (there)
            snprintf(advice, sizeof(advice), "; --frames 0:%llu takes the whole ones", there);
        return tool_fail(common,
                         "%s: ends inside frame %llu, %llu of %zu bytes: the file is cut, or "
                         "samples = %zu, lines = %zu, dtype or header_bytes = %llu of the plan are "
                         "wrong%s",
                         s->path, there, (unsigned long long)info->rest_bytes, frame_bytes,
                         s->config.params.samples, s->config.params.lines,
                         (unsigned long long)s->config.header_bytes, advice);
    }
    if (there == 0)
        return tool_fail(common, "%s: no frame is in it, one has %zu bytes", s->path, frame_bytes);
    s->first = p->has_frames ? p->frames[0] : 0;
    const uint64_t last = to_end ? there : p->frames[1];
    if (!info->is_pipe && (last > there || s->first >= there))
        return tool_fail(common, "--frames %s: %s has %llu frame%s, numbered from 0",
                         opt_given(common, "frames", "all"), s->path, there, tool_s(there));
    s->frames = last == UINT64_MAX ? last : last - s->first;
    s->number = s->first;
    const airy_status status = info->is_pipe && s->first ? skip(s) : AIRY_OK;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* Frames that another process puts are what the plan says, as headerless files are. */
static int open_ring(struct oct_source *s, const struct oct_params *p)
{
    const uint64_t patience_ns = 10000000000u;
    const airy_oct_params *plan = &s->config.params;
    airy_ring_info info;
    const int code = check_raw(s, p->plan);
    if (code != AIRY_EXIT_OK)
        return code;
    if (s->config.converted)
        return tool_fail(s->common,
                         "plan %s: dtype = %s, but frames of a ring buffer are not "
                         "converted, expected u8, u16, i16 or f32",
                         p->plan, airy_dtype_name(s->config.converted));
    airy_status status = airy_ring_open(&s->ring, oct_ring_name(s->path), patience_ns);
    if (status == AIRY_OK)
        status = airy_ring_get_info(s->ring, &info);
    if (status != AIRY_OK)
        return tool_failed(s->common, status);
    s->input = (struct oct_frames){
        .dtype = plan->dtype,
        .frame_bytes = plan->lines * line_width(plan) *
                       (oct_packed_bits(plan) ? 1 : airy_dtype_size(plan->dtype))};
    if (s->input.frame_bytes != info.frame_bytes)
        return tool_fail(s->common, "%s has frames of %zu bytes, those of plan %s have %zu",
                         s->path, info.frame_bytes, p->plan, s->input.frame_bytes);
    s->frames = UINT64_MAX;
    return AIRY_EXIT_OK;
}

/* What the ring's producer dropped behind the last frame that it gave. */
static airy_status count_lost(struct oct_source *s)
{
    airy_ring_info info;
    const airy_status status = airy_ring_get_info(s->ring, &info);
    if (status != AIRY_OK)
        return status;
    const uint64_t behind = info.given + info.dropped - s->next;
    if (s->numbered && behind < UINT64_C(1) << 40) {
        s->skipped += behind;
        s->next += behind;
    }
    return AIRY_OK;
}

/*
 * What comes within a tenth of a second, again and again until something has come or nothing will;
 * up to a gap in the numbers.
 */
static airy_status read_ring(struct oct_source *s, char *to, size_t count, size_t *got)
{
    enum { PATIENCE_NS = 100 * 1000 * 1000 };
    bool ended = false;
    *got = 0;
    while (*got < count && !ended && !tool_interrupted() && !(s->stop && atomic_load(s->stop))) {
        airy_ring_frame frame;
        airy_status status =
            airy_ring_copy(s->ring, to + *got * s->input.frame_bytes, &frame, PATIENCE_NS, &ended);
        if (status != AIRY_OK)
            return status;
        if (ended && *got == 0)
            return count_lost(s);
        if (!frame.data)
            continue;
        const uint64_t gap = s->numbered ? frame.number - s->next : 0;
        if (gap && *got)
            break; /* the frame stays in the ring */
        /* A number that runs backwards is a gap, too, of unknown length. */
        s->skipped += gap < UINT64_C(1) << 40 ? gap : 0;
        s->numbered = true;
        s->next = frame.number + 1;
        (*got)++;
        status = airy_ring_release(s->ring);
        if (status != AIRY_OK)
            return status;
    }
    return AIRY_OK;
}

/* Frames of the stack. Behind whole frames of a pipe the next call says what is wrong with the one
 * behind them. */
static airy_status read_stack(struct oct_source *s, char *frames, size_t count, size_t *got)
{
    airy_status status = AIRY_OK;
    for (*got = 0; *got < count; ++*got, s->number++) {
        status =
            oct_frames_read(&s->input, (size_t)s->number, frames + *got * s->input.frame_bytes);
        if (status != AIRY_OK)
            break;
    }
    if (status == AIRY_ERR_ENDED || (s->input.info.is_pipe && *got))
        return AIRY_OK;
    *got = status == AIRY_OK ? *got : 0;
    return status;
}

static airy_status read_frames(struct oct_source *s, void *frames, size_t count, size_t *got)
{
    if (s->ring)
        return read_ring(s, frames, count, got);
    const airy_status status = read_stack(s, frames, count, got);
    if (status != AIRY_ERR_CORRUPT || !s->input.info.is_pipe || s->whole == 0) {
        s->whole += status == AIRY_OK ? *got : 0;
        return status;
    }
    /* Ctrl-C ends whoever writes into the pipe, too, inside a frame or not. */
    if (!tool_interrupted())
        snprintf(s->cut, sizeof(s->cut), "%s, and are kept", airy_last_error());
    *got = 0;
    return AIRY_OK;
}

/* Of a silent pipe: nobody waits for it any more. */
static bool is_unwanted(void *user)
{
    const struct oct_source *s = user;
    return tool_interrupted() || (s->stop && atomic_load(s->stop));
}

int oct_source_open(struct oct_source *s, const struct oct_params *p)
{
    *s = (struct oct_source){.common = &p->common, .path = p->common.inputs.items[0]};
    airy_status status = airy_oct_config_read(&s->config, p->plan);
    if (status != AIRY_OK)
        return tool_failed(s->common, status);
    if (p->has_compat)
        s->config.params.compat = p->compat;
    const airy_oct_params *plan = &s->config.params;
    if (oct_ring_name(s->path))
        return open_ring(s, p);
    const airy_dtype converted = s->config.converted;
    const airy_raw_frames raw = {.dtype = converted ? converted : plan->dtype,
                                 .height = plan->lines,
                                 .width = line_width(plan),
                                 .offset = s->config.header_bytes};
    status = oct_frames_open(&s->input, s->path,
                             &(airy_stack_params){.raw = &raw,
                                                  .raw_if_headerless = true,
                                                  .raw_rest = true,
                                                  .npy_height = plan->lines,
                                                  .pipe = true,
                                                  .stop = is_unwanted,
                                                  .stop_user = s});
    if (status == AIRY_ERR_PARAM && (raw.height == 0 || raw.width == 0))
        return check_raw(s, p->plan);
    if (status != AIRY_OK)
        return tool_failed(s->common, status);
    const int code = s->input.info.headerless ? check_raw(s, p->plan) : complete_plan(s, p->plan);
    return code == AIRY_EXIT_OK ? choose_frames(s, p) : code;
}

airy_status oct_source_peek(struct oct_source *s, const void **frames, size_t count, size_t *got)
{
    const size_t most = count < s->frames ? count : (size_t)s->frames;
    s->head = most < SIZE_MAX / s->input.frame_bytes ? malloc(most * s->input.frame_bytes + 1)
                                                     : NULL;
    if (!s->head)
        return AIRY_ERR_MEMORY;
    const airy_status status = read_frames(s, s->head, most, &s->head_count);
    *frames = s->head;
    *got = s->head_count;
    return status;
}

airy_status oct_source_read(struct oct_source *s, void *frames, size_t count, size_t *got)
{
    char *to = frames;
    const uint64_t left = s->frames - s->taken;
    const size_t want = left < count ? (size_t)left : count, kept = s->head_count - s->head_at;
    const size_t first = want < kept ? want : kept;
    if (first)
        memcpy(to, s->head + s->head_at * s->input.frame_bytes, first * s->input.frame_bytes);
    s->head_at += first;
    size_t more = 0;
    airy_status status = AIRY_OK;
    if (want > first)
        status = read_frames(s, to + first * s->input.frame_bytes, want - first, &more);
    *got = first + more;
    s->taken += *got;
    return status;
}

void oct_source_close(struct oct_source *s)
{
    oct_frames_close(&s->input);
    airy_ring_destroy(&s->ring);
    airy_oct_config_free(&s->config);
    free(s->head);
    *s = (struct oct_source){.common = NULL};
}
