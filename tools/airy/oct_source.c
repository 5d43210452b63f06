/* Raw frames of `airy oct`: what plan and file say about them must agree. */
#include <stdlib.h>
#include <string.h>

#include "cmd_oct.h"

static size_t packed_bits(const airy_oct_params *plan)
{
    return plan->packing == AIRY_OCT_PACKING_10   ? 10
           : plan->packing == AIRY_OCT_PACKING_12 ? 12
                                                  : 0;
}

/* Elements of a line as they lie in a file. */
static size_t line_width(const airy_oct_params *plan)
{
    const size_t bits = packed_bits(plan);
    return bits ? (plan->samples * bits + 7) / 8 : plan->samples;
}

/* A headerless file is what the plan says. */
static int check_raw(const struct oct_source *s, const char *plan)
{
    const airy_oct_params *p = &s->config.params;
    const char *missing = p->samples == 0        ? "samples"
                          : p->lines == 0        ? "lines"
                          : !s->config.has_dtype ? "dtype"
                                                 : NULL;
    if (!missing)
        return AIRY_EXIT_OK;
    return tool_fail(s->common,
                     "%s is headerless, and plan %s lacks %s; add it (samples, lines and dtype are "
                     "needed)",
                     s->path, plan, missing);
}

/* A file that says its shape: it completes the plan, or agrees with it. */
static int complete_plan(struct oct_source *s, const char *plan)
{
    airy_oct_params *p = &s->config.params;
    const airy_frame_reader_info *info = &s->info;
    const size_t bits = packed_bits(p);
    if (s->config.header_bytes)
        return tool_fail(s->common,
                         "plan %s: header_bytes = %llu, but %s is no headerless file; leave it out",
                         plan, (unsigned long long)s->config.header_bytes, s->path);
    if (p->samples == 0)
        p->samples = bits ? info->width * 8 / bits : info->width;
    if (line_width(p) != info->width)
        return tool_fail(
            s->common,
            "plan %s: lines of %zu samples%s (or tables of as many numbers), but %s has "
            "lines of %zu %s",
            plan, p->samples,
            bits == 10 ? " of 10 bits"
            : bits     ? " of 12 bits"
                       : "",
            s->path, info->width, bits ? "bytes" : "samples");
    if (p->lines == 0)
        p->lines = info->height;
    if (p->lines != info->height)
        return tool_fail(s->common, "plan %s: lines = %zu, but %s has frames of %zu lines", plan,
                         p->lines, s->path, info->height);
    if (s->config.has_dtype && p->dtype != info->stored)
        return tool_fail(s->common, "plan %s: dtype = %s%s, but %s has %s", plan,
                         airy_dtype_name(p->dtype), bits ? " for packed samples" : "", s->path,
                         airy_dtype_name(info->stored));
    if (info->dtype != info->stored)
        tool_say(s->common, "%s: %s is converted to float32", s->path,
                 airy_dtype_name(info->stored));
    p->dtype = info->dtype;
    p->big_endian = bits && p->big_endian; /* numbers come in the machine's order */
    s->config.has_dtype = true;
    return AIRY_EXIT_OK;
}

/* --frames A:B of what is there. */
static int choose_frames(struct oct_source *s, const struct oct_params *p)
{
    const struct common *common = s->common;
    const airy_frame_reader_info *info = &s->info;
    const bool to_end = !p->has_frames || p->frames[1] == 0;
    const unsigned long long there = info->frames;
    if (p->has_frames && p->frames[2] != 1)
        return tool_usage(common,
                          "--frames %zu:%zu:%zu: expected FIRST:LAST, frames follow each "
                          "other",
                          p->frames[0], p->frames[1], p->frames[2]);
    if (info->stray_bytes && to_end) {
        char advice[80] = "";
        if (there)
            snprintf(advice, sizeof(advice), "; --frames 0:%llu takes the whole ones", there);
        return tool_fail(common,
                         "%s: ends inside frame %llu, %llu of %zu bytes: the file is cut, or "
                         "samples = %zu, lines = %zu, dtype or header_bytes = %llu of the plan are "
                         "wrong%s",
                         s->path, there, (unsigned long long)info->stray_bytes, info->frame_bytes,
                         s->config.params.samples, s->config.params.lines,
                         (unsigned long long)s->config.header_bytes, advice);
    }
    if (there == 0)
        return tool_fail(common, "%s: no frame is in it, one has %zu bytes", s->path,
                         info->frame_bytes);
    s->first = p->has_frames ? p->frames[0] : 0;
    const uint64_t last = to_end ? info->frames : p->frames[1];
    if (info->frames != UINT64_MAX && (last > info->frames || s->first >= info->frames))
        return tool_fail(common, "--frames %zu:%llu: %s has %llu frame%s, numbered from 0",
                         p->frames[0], (unsigned long long)last, s->path, there, tool_s(there));
    s->frames = last == UINT64_MAX ? last : last - s->first;
    const airy_status status = airy_frame_reader_skip(s->reader, s->first);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
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
    const airy_frame_reader_params raw = {.dtype = plan->dtype,
                                          .height = plan->lines,
                                          .width = line_width(plan),
                                          .header_bytes = s->config.header_bytes};
    status = airy_frame_reader_create(&s->reader, s->path, &raw);
    if (status == AIRY_ERR_PARAM && (raw.height == 0 || raw.width == 0))
        return check_raw(s, p->plan);
    if (status == AIRY_OK)
        status = airy_frame_reader_get_info(s->reader, &s->info);
    if (status != AIRY_OK)
        return tool_failed(s->common, status);
    const int code = s->info.format == AIRY_FRAMES_RAW ? check_raw(s, p->plan)
                                                       : complete_plan(s, p->plan);
    return code == AIRY_EXIT_OK ? choose_frames(s, p) : code;
}

airy_status oct_source_peek(struct oct_source *s, const void **frames, size_t count, size_t *got)
{
    const size_t most = count < s->frames ? count : (size_t)s->frames;
    s->head = malloc(most * s->info.frame_bytes + 1);
    if (!s->head)
        return AIRY_ERR_MEMORY;
    const airy_status status = airy_frame_reader_read(s->reader, s->head, most, &s->head_count);
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
        memcpy(to, s->head + s->head_at * s->info.frame_bytes, first * s->info.frame_bytes);
    s->head_at += first;
    size_t more = 0;
    airy_status status = AIRY_OK;
    if (want > first)
        status = airy_frame_reader_read(s->reader, to + first * s->info.frame_bytes, want - first,
                                        &more);
    *got = first + more;
    s->taken += *got;
    return status;
}

void oct_source_close(struct oct_source *s)
{
    airy_frame_reader_destroy(&s->reader);
    airy_oct_config_free(&s->config);
    free(s->head);
    *s = (struct oct_source){.common = NULL};
}
