/* airy bench --against OTHER: this build and another in turn, and the ratio of each figure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* A figure is slower when its median ratio is below this and no round was as fast as the other. */
#define SLOWER 0.97

enum { MAX_ROUNDS = 100, OURS = 0, OTHERS = 1 };

/* One figure of all rounds; a round without it holds NaN. */
struct figure {
    json_t *row; /* of the first time that it came, borrowed */
    double values[2][MAX_ROUNDS], ratios[MAX_ROUNDS];
    bool is_time;
};

struct against {
    const struct bench_params *params;
    const struct common *common;
    struct bench_words words;
    struct figure *figures;
    size_t count, room, rounds, done;
    json_t *answers; /* keeps the rows alive */
};

/* Return whether an option is not for the two builds; value: its argument is the next word. */
static bool is_own(const char *word, bool *value)
{
    static const char *const own[] = {"--against", "--rounds", "--table", "--json", "--quiet"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        const size_t length = strlen(own[i]);
        *value = i < 2 && !word[length < strlen(word) ? length : strlen(word)];
        if (strncmp(word, own[i], length) == 0 && (!word[length] || (i < 2 && word[length] == '=')))
            return true;
    }
    return false;
}

/* Fill in "airy bench --quiet" with what follows on the command line. */
static void fill_words(struct against *a)
{
    bool options = true, value = false;
    bench_words_add(&a->words, "airy");
    bench_words_add(&a->words, "bench");
    bench_words_add(&a->words, "--quiet");
    for (int i = 0; i < a->common->argc; i++) {
        const char *word = a->common->argv[i];
        if (options && is_own(word, &value)) {
            i += value ? 1 : 0;
            continue;
        }
        options = options && strcmp(word, "--") != 0;
        bench_words_add(&a->words, "%s", word);
    }
}

static const char *string_of(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value ? value : "";
}

static bool is_time(const char *unit)
{
    static const char *const units[] = {"s", "ms", "us", "ns"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static bool same_figure(const json_t *one, const json_t *other)
{
    static const char *const keys[] = {"name", "case", "device", "unit"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(string_of(one, keys[i]), string_of(other, keys[i])) != 0)
            return false;
    return true;
}

static bool make_room(struct against *a)
{
    const size_t room = a->room ? 2 * a->room : 64;
    struct figure *figures = realloc(a->figures, room * sizeof(*figures));
    if (!figures)
        return false;
    a->figures = figures;
    a->room = room;
    return true;
}

/* Find the figure of a row; again: how many rows like it the answer has before it. NULL: memory is short. */
static struct figure *find_figure(struct against *a, json_t *row, size_t again)
{
    for (size_t i = 0; i < a->count; i++)
        if (same_figure(a->figures[i].row, row) && again-- == 0)
            return &a->figures[i];
    if (a->count == a->room && !make_room(a))
        return NULL;
    struct figure *figure = &a->figures[a->count++];
    figure->row = row;
    figure->is_time = is_time(string_of(row, "unit"));
    for (size_t i = 0; i < MAX_ROUNDS; i++)
        figure->values[OURS][i] = figure->values[OTHERS][i] = figure->ratios[i] = NAN;
    return figure;
}

static int add_answer(struct against *a, const json_t *answer, int build)
{
    const size_t count = json_array_size(answer);
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_array_get(answer, i);
        size_t again = 0;
        for (size_t k = 0; k < i; k++)
            again += same_figure(json_array_get(answer, k), row);
        struct figure *figure = find_figure(a, row, again);
        const json_t *value = json_object_get(row, "value");
        if (!figure)
            return tool_fail(a->common, "out of memory for the figures of %zu rows", count);
        if (json_is_number(value))
            figure->values[build][a->done] = json_number_value(value);
    }
    return AIRY_EXIT_OK;
}

static int run_build(struct against *a, int build)
{
    const char *const name = build == OURS ? "this build" : a->params->against;
    struct bench_child child;
    int code = AIRY_EXIT_OK, status = 0;
    const int failed = bench_child_start(&child, build == OURS ? NULL : a->params->against,
                                         STDERR_FILENO, &a->words);
    json_t *answer = failed ? NULL : bench_child_end(&child, &status);
    if (failed)
        code = tool_fail(a->common, "%s cannot be started: %s", name, strerror(failed));
    else if (tool_interrupted())
        code = tool_fail(a->common, "cancelled in round %zu of %zu", a->done + 1, a->rounds);
    else if (status != 0)
        code =
            tool_fail(a->common, "%s failed in round %zu; its message is above", name, a->done + 1);
    else if (!json_is_array(answer))
        code = tool_fail(a->common, "%s printed no rows of a benchmark", name);
    else
        code = add_answer(a, answer, build);
    if (answer)
        json_array_append_new(a->answers, answer);
    return code;
}

/* Bring the values other than NaN to the front, in ascending order. Returns how many there are. */
static size_t sort_values(double *values, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[n++] = values[i];
    tool_sort(values, n);
    for (size_t i = n; i < count; i++)
        values[i] = NAN;
    return n;
}

static double median(double *values, size_t count)
{
    const size_t n = sort_values(values, count);
    return n ? 0.5 * (values[(n - 1) / 2] + values[n / 2]) : NAN;
}

/* Make the row of a figure; slower: see SLOWER. */
static json_t *make_row(const struct against *a, struct figure *figure, bool *slower)
{
    for (size_t i = 0; i < a->rounds; i++) {
        const double ours = figure->values[OURS][i], others = figure->values[OTHERS][i];
        figure->ratios[i] = figure->is_time ? others / ours : ours / others;
    }
    const double ratio = median(figure->ratios, a->rounds);
    const size_t n = sort_values(figure->ratios, a->rounds);
    const char *unit = string_of(figure->row, "unit");
    const bool is_rate = strchr(unit, '/') != NULL;
    *slower = n > 0 && (is_rate || figure->is_time) && ratio < SLOWER && figure->ratios[n - 1] < 1;
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:b}", "name",
                     string_of(figure->row, "name"), "case", string_of(figure->row, "case"),
                     "device", string_of(figure->row, "device"), "unit", unit, "value",
                     tool_json_number(median(figure->values[OURS], a->rounds)), "other",
                     tool_json_number(median(figure->values[OTHERS], a->rounds)), "ratio",
                     tool_json_number(ratio), "ratio_low",
                     tool_json_number(n ? figure->ratios[0] : NAN), "ratio_high",
                     tool_json_number(n ? figure->ratios[n - 1] : NAN), "rounds", (int)n, "slower",
                     *slower);
}

static void print_table(const json_t *rows)
{
    printf("%-36s %-14s %10s %10s %-9s %6s %6s %6s\n", "job", "case", "this", "other", "unit",
           "ratio", "low", "high");
    const size_t count = json_array_size(rows);
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, i);
        printf("%-36s %-14s", tool_json_shown(row, "name"), bench_shown_case(row));
        bench_print_number(row, "value", 10);
        bench_print_number(row, "other", 10);
        printf(" %-9s", tool_json_shown(row, "unit"));
        bench_print_number(row, "ratio", 6);
        bench_print_number(row, "ratio_low", 6);
        bench_print_number(row, "ratio_high", 6);
        printf("%s\n", json_is_true(json_object_get(row, "slower")) ? "  slower" : "");
    }
}

static int report(struct against *a)
{
    json_t *rows = json_array();
    size_t slower = 0;
    const char *first = "";
    for (size_t i = 0; i < a->count; i++) {
        bool is_slower = false;
        json_array_append_new(rows, make_row(a, &a->figures[i], &is_slower));
        if (is_slower && slower++ == 0)
            first = string_of(a->figures[i].row, "name");
    }
    int code = AIRY_EXIT_OK;
    if (a->params->table)
        print_table(rows);
    else
        code = tool_print_json(a->common, json_incref(rows));
    json_decref(rows);
    fflush(stdout);
    if (code == AIRY_EXIT_OK && slower)
        code = tool_fail(a->common, "%zu of %zu figures %s slower than those of %s, such as '%s'",
                         slower, a->count, slower == 1 ? "is" : "are", a->params->against, first);
    return code;
}

int bench_against(const struct bench_params *params)
{
    struct against a = {.params = params,
                        .common = &params->job.common,
                        .rounds = params->has_rounds ? params->rounds : 5,
                        .answers = json_array()};
    fill_words(&a);
    int code = !a.words.lost ? AIRY_EXIT_OK : tool_fail(a.common, "out of memory");
    tool_catch_interrupts();
    for (; code == AIRY_EXIT_OK && a.done < a.rounds; a.done++) {
        tool_say(a.common, "round %zu of %zu", a.done + 1, a.rounds);
        const int begins = a.done % 2 ? OTHERS
                                      : OURS; /* no build is always the one that warms up */
        code = run_build(&a, begins);
        if (code == AIRY_EXIT_OK)
            code = run_build(&a, begins == OURS ? OTHERS : OURS);
    }
    if (code == AIRY_EXIT_OK)
        code = report(&a);
    json_decref(a.answers);
    bench_words_free(&a.words);
    free(a.figures);
    return code;
}
