/* airy filter: every filter of the library by its name. */
#include <stdio.h>
#include <string.h>

#include "cli/job_command.h"
#include "cli/words.h"

struct filter_params {
    struct job_params job;
    bool list;
};

static const struct opt list_options[] = {
    {.name = "list",
     .type = OPT_FLAG,
     .offset = offsetof(struct filter_params, list),
     .help = "prints the filters' names, and stops; --json also prints what each takes"},
    {0},
};

/* What the words of the job's first parameter are, in their order. */
static const char *const help[] = {
    "of an even number of elements the upper",
    "grey erosion",
    "over the footprint as it is",
    "--percentile P",
    "element --rank N of the sorted ones",
    "erosion, then dilation",
    "dilation, then erosion",
    "image less its opening",
    "closing less the image",
    "outliers become the median: hot pixels, cosmic rays",
    "mean of a box",
    "derivative along --axis",
    "derivative along --axis, with weights 1 1 1",
    "size of the gradient, by Sobel",
    "sum of the second differences",
    "Laplacian of a Gaussian, --sigma S",
    "blur by --sigma S less blur by --sigma2 S",
};
enum { KINDS = sizeof(help) / sizeof(help[0]) };

static const char *name_of(size_t index)
{
    return airy_job_parameter_at("filter", 0)->words[index];
}

static bool filter_word(size_t index, struct opt_word *word)
{
    if (index < KINDS)
        *word = (struct opt_word){name_of(index), help[index]};
    return index < KINDS;
}

/* The parameter is one of this filter's. */
static bool is_for(const airy_parameter *parameter, const char *filter)
{
    const char *const *words = parameter->only_with.words;
    while (words && *words && strcmp(*words, filter) != 0)
        words++;
    return !words || *words;
}

/* The filter that is named, and only options that are for it. Exit code. */
static int check_name(const struct common *common)
{
    const char *name = common->inputs.items[0], *names[KINDS];
    bool known = false;
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = name_of(i);
        known |= strcmp(name, names[i]) == 0;
    }
    const char *near = tool_suggest(name, names, KINDS);
    if (!known && near)
        return tool_usage(common, "unknown filter '%s', did you mean '%s'?", name, near);
    if (!known)
        return tool_usage(common, "unknown filter '%s'; airy filter --list names them", name);
    for (size_t i = 0; i + 1 < common->given.count; i += 2) {
        const airy_parameter *parameter;
        for (size_t k = 0; (parameter = airy_job_parameter_at("filter", k)); k++)
            if (strcmp(parameter->name, common->given.items[i]) == 0 && !is_for(parameter, name))
                return tool_usage(common, "--%s is not for filter %s", parameter->name, name);
    }
    return AIRY_EXIT_OK;
}

static int check_filter(void *user)
{
    const struct filter_params *p = user;
    const struct common *common = &p->job.common;
    if (p->list)
        return tool_check_list(common);
    if (common->inputs.count < 1)
        return tool_usage(common, "NAME is missing; airy filter --list prints the names");
    const int code = check_name(common);
    if (code == AIRY_EXIT_OK && common->inputs.count < 2)
        return tool_usage(common, "IMAGE is missing");
    return code == AIRY_EXIT_OK ? job_check(user) : code;
}

/* The options of a filter. */
static json_t *list_options_of(const char *filter)
{
    json_t *options = json_array();
    for (const struct opt *opt = opt_table(&cmd_filter, 0); !opt_ends(opt); opt++)
        if (opt->parameter && is_for(opt->parameter, filter))
            json_array_append_new(options, json_string(opt->name));
    return options;
}

static int print_list(const struct common *common)
{
    json_t *list = json_array();
    for (size_t i = 0; i < KINDS; i++)
        if (common->json)
            json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", name_of(i), "help",
                                                  help[i], "options", list_options_of(name_of(i))));
        else
            printf("%-14s%s\n", name_of(i), help[i]);
    if (common->json)
        return tool_print_json(common, list);
    json_decref(list);
    return AIRY_EXIT_OK;
}

static int run_filter(void *user)
{
    const struct filter_params *p = user;
    return p->list ? print_list(&p->job.common) : job_run(user);
}

const struct command cmd_filter = {
    .name = "filter",
    .usage = "NAME IMAGE -o OUT [options]",
    .examples = "  airy filter median image.fits --size 5 -o smooth.fits\n"
                "  airy filter tophat image.npy --footprint ball=7 -o small.npy\n"
                "  airy filter hampel dark.fits --size 5 --kappa 6 -o clean.fits\n"
                "  airy filter median stack.h5 --size 3 --planes -o clean.h5\n"
                "  airy filter log volume.npy --sigma 1,2,2 -o blobs.npy\n",
    .words = "Filters",
    .word = filter_word,
    .job = "filter",
    .tables = {NULL, list_options},
    .takes = TAKES_COMPUTE | TAKES_COMPARE,
    .params_size = sizeof(struct filter_params),
    .word_first = true,
    .min_inputs = 0,
    .max_inputs = 2,
    .check = check_filter,
    .run = run_filter,
};
