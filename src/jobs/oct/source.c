/* Raw frames of the job oct: what plan and file say about them must agree. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "jobs/oct/oct.h"

#define REFUSE_IF(cond, ...)                                                                       \
    AIRY_FAIL_HINT_IF(cond, AIRY_ERR_SHAPE, AIRY_HINT_STATED, AIRY_SUBJECT_NONE, __VA_ARGS__)

bool airy_oct_goes_on(struct oct_patience *p)
{
    enum { APART_NS = 20 * 1000 * 1000 };
    const uint64_t now = airy_clock_ns();
    if (now - p->asked_ns >= APART_NS) {
        p->asked_ns = now;
        if (!airy_job_step(p->job, p->done, p->total))
            atomic_store(&p->stopped, true);
    }
    return !atomic_load(&p->stopped);
}

bool airy_oct_is_stopped(struct oct_patience *p)
{
    return p->has_camera ? atomic_load(&p->stopped) : !airy_oct_goes_on(p);
}

const char *airy_oct_ring_name(const struct airy_job_source *raw)
{
    return raw->path && strncmp(raw->path, "ring:", 5) == 0 ? raw->path + 5 : NULL;
}

bool airy_oct_is_live(const airy_job *job)
{
    const struct oct_values *v = job->values;
    return airy_job_is_set(job, "line-rate") || airy_job_is_set(job, "repeat") ||
           airy_oct_ring_name(&v->raw);
}

bool airy_oct_is_file(const struct oct_source *s)
{
    return s->input.stack && !s->input.info.is_pipe && !airy_oct_is_live(s->job);
}

size_t airy_oct_packed_bits(const airy_oct_params *plan)
{
    return plan->packing == AIRY_OCT_PACKING_10   ? 10
           : plan->packing == AIRY_OCT_PACKING_12 ? 12
                                                  : 0;
}

/* Elements of a line as they lie in a file. */
static size_t line_width(const airy_oct_params *plan)
{
    const size_t bits = airy_oct_packed_bits(plan);
    return bits ? (plan->samples * bits + 7) / 8 : plan->samples;
}

/* An array [..., lines, samples]; of two axes more lines than a frame has are several frames. */
static airy_status open_array(airy_stack **stack, const airy_host_view *view, size_t lines)
{
    const int ndim = view->ndim;
    AIRY_FAIL_ON_IF(ndim < 2, AIRY_ERR_SHAPE, AIRY_SUBJECT_PARAMETER,
                    "%s: the array has one axis, expected [lines, samples] or [frames, lines, "
                    "samples]",
                    "raw");
    size_t shape[3] = {1, view->shape[ndim - 2], view->shape[ndim - 1]};
    for (int i = 0; i + 2 < ndim; i++)
        shape[0] *= view->shape[i];
    if (ndim == 2 && lines && shape[1] % lines == 0) {
        shape[0] = shape[1] / lines;
        shape[1] = lines;
    }
    return airy_stack_create_array(stack, view->data, view->dtype, shape);
}

airy_status airy_oct_frames_open(struct oct_frames *f, const struct airy_job_source *from,
                                 const airy_stack_params *params)
{
    const char *path = from->path;
    *f = (struct oct_frames){.dtype = AIRY_DTYPE_F32, .name = path ? path : "array"};
    AIRY_TRY(from->is_array ? open_array(&f->stack, &from->view, params->npy_height)
                            : airy_stack_create_with(&f->stack, &path, 1, params));
    AIRY_TRY(airy_stack_get_info(f->stack, &f->info));
    const airy_dtype stored = f->info.dtype;
    const size_t count = f->info.height * f->info.width;
    AIRY_FAIL_ON_IF(stored == AIRY_DTYPE_U64 || stored == AIRY_DTYPE_I64, AIRY_ERR_UNSUPPORTED,
                    AIRY_SUBJECT_FILE,
                    "'%s': frames of %s, expected integers of at most 32 bits or floats", f->name,
                    airy_dtype_name(stored));
    if (stored == AIRY_DTYPE_U8 || stored == AIRY_DTYPE_U16 || stored == AIRY_DTYPE_I16)
        f->dtype = stored;
    f->frame_bytes = count * airy_dtype_size(f->dtype);
    if (f->dtype == stored)
        return AIRY_OK;
    f->stored = malloc(count * airy_dtype_size(stored));
    AIRY_FAIL_IF(!f->stored, AIRY_ERR_MEMORY, "out of memory for a frame");
    return AIRY_OK;
}

airy_status airy_oct_frames_read(const struct oct_frames *f, size_t number, void *frame)
{
    const size_t count = f->info.height * f->info.width;
    const airy_image one = {.dtype = f->info.dtype, .ndim = 1, .shape = {count}, .data = f->stored};
    AIRY_TRY(airy_stack_read(f->stack, number, f->stored ? f->stored : frame,
                             count * airy_dtype_size(f->info.dtype)));
    for (size_t i = 0; i < count && f->stored; i++)
        ((float *)frame)[i] = (float)airy_image_value(&one, i);
    return AIRY_OK;
}

void airy_oct_frames_close(struct oct_frames *f)
{
    airy_stack_destroy(&f->stack);
    free(f->stored);
    f->stored = NULL;
}

static void tell_converted(const struct oct_source *s, airy_dtype dtype)
{
    airy_job_message(s->job, AIRY_LOG_WARN, "%s: %s is converted to float32", s->input.name,
                     airy_dtype_name(dtype));
}

/* A headerless file is what the plan says. */
static airy_status check_raw(const struct oct_source *s)
{
    const airy_oct_params *p = &s->config.params;
    const airy_dtype converted = s->config.converted;
    const char *missing = p->samples == 0        ? "samples"
                          : p->lines == 0        ? "lines"
                          : !s->config.has_dtype ? "dtype"
                                                 : NULL,
               *plan = s->v->plan, *path = s->v->raw.path;
    REFUSE_IF(missing,
              "%s is headerless, and plan %s lacks %s; add it (samples, lines and dtype are "
              "needed)",
              path, plan, missing);
    REFUSE_IF(converted && p->big_endian,
              "plan %s: byte_order = big with dtype = %s, which is read in the machine's order "
              "only; swap the bytes of %s",
              plan, airy_dtype_name(converted), path);
    REFUSE_IF(converted && airy_oct_ring_name(&s->v->raw),
              "plan %s: dtype = %s, but frames of a ring buffer are not converted, expected u8, "
              "u16, i16 or f32",
              plan, airy_dtype_name(converted));
    if (converted)
        tell_converted(s, converted);
    return AIRY_OK;
}

/* The plan's number of samples, or the table that it is taken from, must be that of the file. */
static airy_status check_width(const struct oct_source *s)
{
    const airy_oct_params *p = &s->config.params;
    const char *from = s->config.samples_from;
    const size_t bits = airy_oct_packed_bits(p);
    char what[256], packed[32] = "";
    if (bits)
        snprintf(packed, sizeof(packed), " of %zu bits", bits);
    if (strcmp(from, "samples") == 0)
        snprintf(what, sizeof(what), "%s = %zu%s", from, p->samples, packed);
    else
        snprintf(what, sizeof(what), "%s has %zu numbers%s", from, p->samples, packed);
    REFUSE_IF(line_width(p) != s->input.info.width, "plan %s: %s, but %s has lines of %zu %s",
              s->v->plan, what, s->input.name, s->input.info.width, bits ? "bytes" : "samples");
    return AIRY_OK;
}

/* What says its shape completes the plan, or agrees with it. */
static airy_status complete_plan(struct oct_source *s)
{
    airy_oct_params *p = &s->config.params;
    const airy_stack_info *info = &s->input.info;
    const char *plan = s->v->plan, *name = s->input.name;
    const size_t bits = airy_oct_packed_bits(p);
    REFUSE_IF(s->config.header_bytes,
              "plan %s: header_bytes = %llu, but %s is no headerless file; leave it out", plan,
              (unsigned long long)s->config.header_bytes, name);
    if (p->samples == 0)
        p->samples = bits ? info->width * 8 / bits : info->width;
    AIRY_TRY(check_width(s));
    if (p->lines == 0)
        p->lines = info->height;
    REFUSE_IF(p->lines != info->height, "plan %s: lines = %zu, but %s has frames of %zu lines",
              plan, p->lines, name, info->height);
    const airy_dtype dtype = s->config.converted ? s->config.converted : p->dtype;
    REFUSE_IF(s->config.has_dtype && dtype != info->dtype, "plan %s: dtype = %s%s, but %s has %s",
              plan, airy_dtype_name(dtype), bits ? " for packed samples" : "", name,
              airy_dtype_name(info->dtype));
    if (s->input.stored)
        tell_converted(s, info->dtype);
    s->config.converted = AIRY_DTYPE_F32; /* the file says it */
    p->dtype = s->input.dtype;
    p->big_endian = bits && p->big_endian; /* numbers come in the machine's order */
    s->config.has_dtype = true;
    return AIRY_OK;
}

/* Read the frames of a pipe that come before the first one that is wanted. */
static airy_status skip(const struct oct_source *s)
{
    airy_status status = AIRY_OK;
    void *frame = malloc(s->input.frame_bytes);
    AIRY_FAIL_IF(!frame, AIRY_ERR_MEMORY, "out of memory for a frame");
    for (size_t i = 0; i < s->first && status == AIRY_OK; i++)
        status = airy_oct_frames_read(&s->input, i, frame);
    free(frame);
    return status;
}

/* The parameter frames, of what is there. */
static airy_status choose_frames(struct oct_source *s)
{
    const airy_stack_info *info = &s->input.info;
    const size_t *frames = s->v->frames.frames, there = info->is_pipe ? SIZE_MAX : info->frames,
                 bytes = info->height * info->width * airy_dtype_size(info->dtype);
    const bool to_end = frames[1] == 0;
    size_t count = SIZE_MAX;
    char advice[80] = "";
    if (there)
        snprintf(advice, sizeof(advice), "; frames=0:%zu takes the whole ones", there);
    REFUSE_IF(info->rest_bytes && to_end,
              "%s: ends inside frame %zu, %llu of %zu bytes: the file is cut, or samples = %zu, "
              "lines = %zu, dtype or header_bytes = %llu of the plan are wrong%s",
              s->input.name, there, (unsigned long long)info->rest_bytes, bytes,
              s->config.params.samples, s->config.params.lines,
              (unsigned long long)s->config.header_bytes, advice);
    REFUSE_IF(there == 0, "%s: no frame is in it, one has %zu bytes", s->input.name, bytes);
    if (!info->is_pipe)
        AIRY_TRY(airy_job_choose_frames(&count, &s->v->frames, there, s->input.name));
    else if (!to_end)
        count = frames[1] - frames[0];
    s->first = s->number = frames[0];
    s->frames = count == SIZE_MAX ? UINT64_MAX : count;
    return info->is_pipe && s->first ? skip(s) : AIRY_OK;
}

/* Wait for the producer of a ring, ten seconds. */
static airy_status wait_ring(struct oct_source *s)
{
    enum { LOOKS = 100, LOOK_NS = 100 * 1000 * 1000 };
    airy_status status = AIRY_ERR_NOT_FOUND;
    for (int i = 0; i < LOOKS && status == AIRY_ERR_NOT_FOUND; i++) {
        AIRY_FAIL_IF(airy_oct_is_stopped(s->patience), AIRY_ERR_CANCELLED,
                     "cancelled before %s was there", s->v->raw.path);
        status = airy_ring_open(&s->ring, airy_oct_ring_name(&s->v->raw), LOOK_NS);
    }
    return status;
}

/* Frames that another process puts are what the plan says, as headerless files are. */
static airy_status open_ring(struct oct_source *s)
{
    const airy_oct_params *plan = &s->config.params;
    airy_ring_info info;
    AIRY_TRY(check_raw(s));
    AIRY_TRY(wait_ring(s));
    AIRY_TRY(airy_ring_get_info(s->ring, &info));
    s->input = (struct oct_frames){
        .name = s->v->raw.path,
        .dtype = plan->dtype,
        .frame_bytes = plan->lines * line_width(plan) *
                       (airy_oct_packed_bits(plan) ? 1 : airy_dtype_size(plan->dtype))};
    REFUSE_IF(s->input.frame_bytes != info.frame_bytes,
              "%s has frames of %zu bytes, those of plan %s have %zu", s->v->raw.path,
              info.frame_bytes, s->v->plan, s->input.frame_bytes);
    s->frames = UINT64_MAX;
    return AIRY_OK;
}

/* What the ring's producer dropped behind the last frame that it gave. */
static airy_status count_missing(struct oct_source *s)
{
    airy_ring_info info;
    AIRY_TRY(airy_ring_get_info(s->ring, &info));
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
    while (*got < count && !ended && !airy_oct_is_stopped(s->patience)) {
        airy_ring_frame frame;
        AIRY_TRY(
            airy_ring_copy(s->ring, to + *got * s->input.frame_bytes, &frame, PATIENCE_NS, &ended));
        if (ended && *got == 0)
            return count_missing(s);
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
        AIRY_TRY(airy_ring_release(s->ring));
    }
    return AIRY_OK;
}

/*
 * Frames of the stack or the array. Whole frames of a pipe that ends inside the next one, also because
 * the run was stopped there, are kept.
 */
static airy_status read_frames(struct oct_source *s, char *frames, size_t count, size_t *got)
{
    const bool is_pipe = s->input.info.is_pipe;
    airy_status status = AIRY_OK;
    for (*got = 0; *got < count; ++*got, s->number++) {
        status = airy_oct_frames_read(&s->input, (size_t)s->number,
                                      frames + *got * s->input.frame_bytes);
        if (status != AIRY_OK)
            break;
    }
    s->whole += is_pipe ? *got : 0;
    if (status == AIRY_ERR_CORRUPT && s->whole) {
        snprintf(s->cut, sizeof(s->cut),
                 "%s%s, and are kept; the part of the last frame is left out",
                 atomic_load(&s->patience->stopped) ? "cancelled: " : "", airy_last_error());
        return AIRY_OK;
    }
    if (status == AIRY_ERR_ENDED || (is_pipe && *got))
        return AIRY_OK;
    *got = status == AIRY_OK ? *got : 0;
    return status;
}

static airy_status read_more(struct oct_source *s, void *frames, size_t count, size_t *got)
{
    return s->ring ? read_ring(s, frames, count, got) : read_frames(s, frames, count, got);
}

/* Of a silent pipe: nobody waits for it any more. */
static bool is_unwanted(void *user)
{
    const struct oct_source *s = user;
    return airy_oct_is_stopped(s->patience);
}

airy_status airy_oct_source_open(struct oct_source *s)
{
    const struct oct_values *v = s->v;
    AIRY_TRY(airy_oct_config_read(&s->config, v->plan));
    if (airy_job_is_set(s->job, "compat"))
        s->config.params.compat = (airy_oct_compat)v->compat;
    const airy_oct_params *plan = &s->config.params;
    s->input.name = v->raw.path;
    if (airy_oct_ring_name(&v->raw))
        return open_ring(s);
    const airy_dtype converted = s->config.converted;
    const airy_raw_frames raw = {.dtype = converted ? converted : plan->dtype,
                                 .height = plan->lines,
                                 .width = line_width(plan),
                                 .offset = s->config.header_bytes};
    const airy_stack_params params = {.raw = &raw,
                                      .raw_if_headerless = true,
                                      .raw_rest = true,
                                      .npy_height = plan->lines,
                                      .pipe = true,
                                      .stop = is_unwanted,
                                      .stop_user = s};
    const airy_status status = airy_oct_frames_open(&s->input, &v->raw, &params);
    if (status == AIRY_ERR_PARAM && (raw.height == 0 || raw.width == 0))
        return check_raw(s);
    AIRY_TRY(status);
    AIRY_TRY(s->input.info.headerless ? check_raw(s) : complete_plan(s));
    return choose_frames(s);
}

airy_status airy_oct_source_peek(struct oct_source *s, const void **frames, size_t count,
                                 size_t *got)
{
    const size_t most = count < s->frames ? count : (size_t)s->frames;
    s->head = most < SIZE_MAX / s->input.frame_bytes ? malloc(most * s->input.frame_bytes + 1)
                                                     : NULL;
    AIRY_FAIL_IF(!s->head, AIRY_ERR_MEMORY, "out of memory for %zu frames", most);
    const airy_status status = read_more(s, s->head, most, &s->head_count);
    *frames = s->head;
    *got = s->head_count;
    return status;
}

airy_status airy_oct_source_read(struct oct_source *s, void *frames, size_t count, size_t *got)
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
        status = read_more(s, to + first * s->input.frame_bytes, want - first, &more);
    *got = first + more;
    s->taken += *got;
    return status;
}

void airy_oct_source_close(struct oct_source *s)
{
    airy_oct_frames_close(&s->input);
    airy_ring_destroy(&s->ring);
    airy_oct_config_free(&s->config);
    free(s->head);
    *s = (struct oct_source){.job = NULL};
}
