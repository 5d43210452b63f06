/* airy merge: results of several runs as one, from their sums. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integrate/integrate.h"
#include "integrate/overlap.h"
#include "result/patterns.h"

struct merge_params {
    struct common common;
    const char *output;
    bool average, sum;
    size_t rebin;
    double empty;
    bool has_empty;
};

#define FIELD(member) .offset = offsetof(struct merge_params, member)
#define SEEN(member)  .seen = offsetof(struct merge_params, member)

static const struct opt merge_options[] = {
    {.heading = "Result"},
    {.name = "output",
     .letter = 'o',
     .type = OPT_STRING,
     FIELD(output),
     .use = OPT_WRITTEN,
     .argument = "OUT.h5",
     .help = "the result, laid out as those of 'airy integrate'"},
    {.name = "average",
     .type = OPT_FLAG,
     FIELD(average),
     .help = "all patterns as one: their weighted mean"},
    {.name = "sum",
     .type = OPT_FLAG,
     FIELD(sum),
     .help = "all patterns as one: that of the sum of the frames"},
    {.name = "rebin",
     .type = OPT_COUNT,
     FIELD(rebin),
     .lo = 1,
     .hi = 1000000,
     .argument = "K",
     .fallback = "1",
     .help = "K neighbouring bins of the radius become one; bins left over at the upper end are "
             "dropped"},
    {.name = "empty",
     .type = OPT_PARSED,
     FIELD(empty),
     SEEN(has_empty),
     .parse = opt_any_number,
     .argument = "V",
     .fallback = "NaN",
     .help = "value of bins without pixels"},
    {0},
};

/* The configuration of a result, or NULL after a message. */
static json_t *read_configuration(const struct common *common, const char *path)
{
    airy_status status;
    json_t *json = patterns_read_configuration(&status, path);
    if (status != AIRY_OK)
        tool_failed(common, status);
    if (status != AIRY_OK)
        return NULL;
    if (!json_is_object(json)) {
        json_decref(json);
        tool_fail(common, "%s: its configuration is not one of this program", path);
        return NULL;
    }
    /* What was merged once has that of its first input. */
    json_t *first = json_incref(json_object_get(json, "of"));
    if (!first)
        return json;
    json_decref(json);
    return first;
}

static int describe(char **text, const struct merge_params *p, const json_t *of)
{
    const struct opt_list *list = &p->common.inputs;
    int code = AIRY_EXIT_OK;
    json_t *inputs = json_array();
    for (size_t i = 0; inputs && i < list->count; i++)
        tool_json_append(&inputs, tool_file_json(&p->common, list->items[i], &code));
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:O}", "program", "airy", "version",
                             airy_version(), "command", "merge", "inputs", inputs, "rows",
                             p->average ? "average"
                             : p->sum   ? "sum"
                                        : "all",
                             "rebin", (json_int_t)(p->rebin ? p->rebin : 1), "of", of);
    *text = json ? tool_json_text(json) : NULL;
    json_decref(json);
    return *text || code != AIRY_EXIT_OK
               ? code
               : tool_fail(&p->common, "out of memory for the configuration");
}

static int report(const struct merge_params *p, const airy_patterns_info *info)
{
    const struct common *common = &p->common;
    char bad[64] = "";
    if (common->json)
        return tool_print_json(
            common,
            json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "output", tool_json_string(p->output),
                      "files", (json_int_t)common->inputs.count, "rows", (json_int_t)info->rows,
                      "bad", (json_int_t)info->bad, "written", (json_int_t)info->written, "bins",
                      (json_int_t)info->bins));
    if (info->bad)
        snprintf(bad, sizeof(bad), ", %zu of them bad", info->bad);
    tool_say(common, "%s: %zu pattern%s of %zu file%s%s, as %zu of %zu bins", p->output, info->rows,
             tool_s(info->rows), common->inputs.count, tool_s(common->inputs.count), bad,
             info->written, info->bins);
    return AIRY_EXIT_OK;
}

static int check_merge(void *user)
{
    const struct merge_params *p = user;
    const struct common *common = &p->common;
    if (!p->output)
        return tool_usage(common, "no output: give -o OUT.h5");
    if (!tool_has_suffix(p->output, ".h5") && !tool_has_suffix(p->output, ".hdf5") &&
        !tool_has_suffix(p->output, ".nxs"))
        return tool_usage(common, "output '%s': expected a name that ends in .h5", p->output);
    if (p->average && p->sum)
        return tool_usage(common, "--average and --sum: give one of them");
    return AIRY_EXIT_OK;
}

static int run_merge(void *user)
{
    const struct merge_params *p = user;
    const struct common *common = &p->common;
    json_t *of = NULL;
    char *text = NULL;
    if (!(of = read_configuration(common, common->inputs.items[0])))
        return AIRY_EXIT_FAILED;
    int code = describe(&text, p, of);
    const char *model = json_string_value(json_object_get(of, "error_model"));
    airy_patterns_params params = {.join = p->average || p->sum,
                                   .merge = p->sum ? AIRY_MERGE_SUM : AIRY_MERGE_AVERAGE,
                                   .rebin = p->rebin,
                                   .has_empty = p->has_empty,
                                   .empty = p->empty,
                                   .force = common->force,
                                   .configuration = text};
    airy_status status = AIRY_OK;
    if (code == AIRY_EXIT_OK && model)
        status = airy_error_model_parse(&params.model, model);
    airy_patterns_info info = {0};
    if (code == AIRY_EXIT_OK && status == AIRY_OK)
        status = airy_patterns_merge(p->output, common->inputs.items, common->inputs.count, &params,
                                     &info);
    if (status != AIRY_OK)
        code = tool_failed(common, status);
    if (code == AIRY_EXIT_OK && common->inputs.count > 1)
        overlap_say(common);
    if (code == AIRY_EXIT_OK)
        code = report(p, &info);
    if (code == AIRY_EXIT_OK && info.bad)
        code = AIRY_EXIT_PARTLY;
    json_decref(of);
    free(text);
    return code;
}

const struct command cmd_merge = {
    .name = "merge",
    .usage = "RESULT.h5... -o OUT.h5 [--average | --sum] [--rebin K]",
    .summary = "patterns of several runs as one file, or as one pattern",
    .details = "Results of 'airy integrate' with the same geometry, corrections and axes. Their "
               "sums are added, so that nothing is lost: the average of two halves of a run is "
               "that of the whole run. Without --average and --sum all rows follow one another.",
    .examples = "  airy merge run1.h5 run2.h5 -o both.h5\n"
                "  airy merge run1.h5 run2.h5 --average -o mean.h5\n"
                "  airy merge fine.h5 --rebin 4 -o coarse.h5\n",
    .tables = {merge_options},
    .params_size = sizeof(struct merge_params),
    .min_inputs = 1,
    .max_inputs = 10000,
    .check = check_merge,
    .run = run_merge,
};
