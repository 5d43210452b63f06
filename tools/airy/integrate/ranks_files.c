/*
 * airy integrate --per-rank: a file a rank, and a master that shows them as one.
 *
 * Rank k's file OUT_000k.h5 holds a range of rows, and is one that a run by itself could write. Its
 * rank begins there; whoever is done goes on with the files of those that are behind. Until all are
 * complete the files and the master have ".partial" behind their names; the master is a valid file
 * all the time, and says how many files there are, so that any number of ranks can resume.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "integrate/ranks.h"
#include "result/patterns.h"

static bool is_there(const char *output, size_t number, const char *tail)
{
    char name[RANKS_FILE_NAME];
    ranks_file_name(name, output, number, tail);
    return tool_exists(name);
}

/* Files that OUT.partial is spread over; 0: it is one file, or not there. */
static size_t count_files(const char *output)
{
    char partial[RANKS_FILE_NAME], *text = NULL;
    snprintf(partial, sizeof(partial), "%s.partial", output);
    if (!tool_exists(partial) || patterns_read_text(&text, partial, "files") != AIRY_OK)
        return 0;
    size_t count = 1;
    for (const char *at = text; *at; at++)
        count += *at == '\n';
    free(text);
    return count;
}

/*
 * How many files a master of several shows, be it finished or not, as far as their names are ours:
 * OUT_0000.h5 and on, beside it. Of a symbolic link none, as only the link is replaced.
 */
static size_t count_shown(const char *output, const char *tail)
{
    char *text = NULL, name[RANKS_FILE_NAME], master[RANKS_FILE_NAME], *rest = NULL;
    struct stat is;
    snprintf(master, sizeof(master), "%s%s", output, tail);
    if (lstat(master, &is) != 0 || !S_ISREG(is.st_mode) ||
        patterns_read_text(&text, master, "files") != AIRY_OK)
        return 0;
    size_t count = 0;
    const char *slash = strrchr(output, '/');
    const size_t folder = slash ? (size_t)(slash - output) + 1 : 0;
    for (char *line = strtok_r(text, "\n", &rest); line && count < RANKS_FILES_MAX;
         line = strtok_r(NULL, "\n", &rest)) {
        ranks_file_name(name, output, count, "");
        const size_t length = strlen(name + folder);
        const bool ours = strncmp(line, name + folder, length) == 0 &&
                          (!line[length] || (*tail && strcmp(line + length, tail) == 0));
        if (!ours)
            break;
        count++;
    }
    free(text);
    return count;
}

int ranks_files_before(const struct integration *job, size_t *before)
{
    const struct integrate_params *p = job->params;
    int code = AIRY_EXIT_OK;
    *before = 0;
    if (!job->common->force || p->resume || !integrate_is_hdf5_name(p->output))
        return code;
    const size_t whole = count_shown(p->output, ""), begun = count_shown(p->output, ".partial");
    *before = whole > begun ? whole : begun;
    for (size_t i = job->files; i < *before && code == AIRY_EXIT_OK; i++) {
        char name[RANKS_FILE_NAME];
        ranks_file_name(name, p->output, i, "");
        if (!tool_exists(name))
            continue;
        code = tool_keep_inputs(job->common, name);
        if (code == AIRY_EXIT_OK)
            code = tool_keep_stack(job->common, name, job->stack);
    }
    return code;
}

static bool remove_regular(const char *name)
{
    struct stat is;
    return lstat(name, &is) == 0 && S_ISREG(is.st_mode) && unlink(name) == 0;
}

void ranks_files_surplus(const struct integration *job, size_t before)
{
    static const char *const tails[] = {"", ".partial"};
    char name[RANKS_FILE_NAME], first[RANKS_FILE_NAME] = "";
    size_t removed = 0;
    for (size_t i = 2 * job->files; i < 2 * before; i++) {
        ranks_file_name(name, job->params->output, i / 2, tails[i % 2]);
        if (remove_regular(name) && removed++ == 0)
            memcpy(first, name, sizeof(first));
    }
    if (removed)
        tool_say(job->common, "%zu file%s that only the earlier result showed %s removed, '%s'%s",
                 removed, tool_s(removed), removed > 1 ? "were" : "was", first,
                 removed > 1 ? " and on" : "");
}

/* What the user asks for and what is there. */
static int choose(struct integration *job, size_t *files)
{
    const struct integrate_params *p = job->params;
    const struct common *common = job->common;
    const size_t there = p->resume ? count_files(p->output) : 0, rows = integration_rows(job),
                 ranks = world_alone(p->world) ? 1 : (size_t)p->world->place.size;
    char partial[RANKS_FILE_NAME];
    snprintf(partial, sizeof(partial), "%s.partial", p->output);
    *files = there;
    if (there > RANKS_FILES_MAX || there > rows)
        return tool_fail(common, "%s is spread over %zu files, expected at most %zu", partial,
                         there, rows < RANKS_FILES_MAX ? rows : (size_t)RANKS_FILES_MAX);
    if (there || !p->per_rank)
        return AIRY_EXIT_OK;
    if (p->resume && tool_exists(partial))
        return tool_fail(common, "--per-rank: %s is one file; resume it without --per-rank",
                         partial);
    if (ranks == 1)
        return tool_usage(common, "--per-rank is for several ranks: start them by mpirun or srun");
    *files = ranks < RANKS_FILES_MAX ? ranks : RANKS_FILES_MAX;
    /* Not one of a single frame where rows are groups: it would be laid out otherwise. */
    const size_t most = job->run.group > 1 ? rows / 2 : rows;
    *files = *files < most ? *files : most ? most : 1;
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < *files && code == AIRY_EXIT_OK; i++) {
        char name[RANKS_FILE_NAME];
        ranks_file_name(name, p->output, i, "");
        code = tool_keep_stack(common, name, job->stack);
    }
    return code;
}

int ranks_choose_files(struct integration *job)
{
    struct world *world = job->params->world;
    size_t files = 0;
    int code = AIRY_EXIT_OK;
    if (world_first(world) && !job->common->explain && job->params->output)
        code = choose(job, &files);
    if (code == AIRY_EXIT_OK)
        code = world_tell(world, &files, sizeof(files));
    job->files = files;
    return code;
}

/* The run of one file. */
struct part {
    airy_run_params run;
    size_t rows, frames;
    char path[RANKS_FILE_NAME];
};

static void make_part(struct part *part, const struct integration *job, size_t number)
{
    const size_t rows = integration_rows(job), files = job->files;
    const size_t from = rows * number / files, to = rows * (number + 1) / files;
    const size_t frames = job->run.group < job->frames ? job->run.group : job->frames;
    const size_t step = (frames ? frames : 1) * job->run.step;
    *part = (struct part){.run = job->run, .rows = to - from};
    part->run.first = job->run.first + from * step;
    part->run.last = to == rows ? job->run.last : job->run.first + to * step;
    part->frames = (part->run.last - part->run.first - 1) / job->run.step + 1;
    ranks_file_name(part->path, job->params->output, number, "");
}

/* Fail unless a complete file is a part of this run: of its configuration, and of these frames. */
static int check_complete(const struct integration *job, const struct part *part)
{
    char *text = NULL;
    airy_image index = {0};
    const bool same = patterns_read_text(&text, part->path, "configuration") == AIRY_OK &&
                      strcmp(text, job->run.configuration ? job->run.configuration : "{}") == 0 &&
                      patterns_read_column(&index, part->path, "index") == AIRY_OK &&
                      tool_count(index.shape, index.ndim) == part->rows &&
                      airy_image_value(&index, 0) == (double)part->run.first;
    free(text);
    airy_image_free(&index);
    return same ? AIRY_EXIT_OK
                : tool_fail(job->common,
                            "'%s' is there already and is no part of this run, whose '%s.partial' "
                            "is missing; --force without --resume starts anew",
                            part->path, part->path);
}

/* Make it, or see how far it is; *resumed grows by frames that are done. */
static int create_part(const struct ranks_run *run, size_t number, size_t *resumed)
{
    const struct integration *job = run->job;
    struct part part;
    airy_run_info info;
    make_part(&part, job, number);
    const bool partial = is_there(job->params->output, number, ".partial");
    if (job->run.resume && !partial && tool_exists(part.path)) { /* it was finished already */
        const int code = check_complete(job, &part);
        if (code != AIRY_EXIT_OK)
            return code;
        world_add(run->world, RANKS_CELL_NEXT + number, (int64_t)part.rows);
        *resumed += part.frames;
        return AIRY_EXIT_OK;
    }
    part.run.resume = job->run.resume && partial;
    const airy_status status =
        airy_run_create(part.path, job->stack, job->integrator, &part.run, &info);
    *resumed += info.resumed;
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
}

/* Is this file the task of this rank, for what one rank has to do? */
static bool is_mine(const struct ranks_run *run, size_t number)
{
    return world_alone(run->world) ||
           number % (size_t)run->world->place.size == (size_t)run->world->place.rank;
}

/* The master; of complete files, or of what there is of them. */
static int write_master(const struct ranks_run *run, bool complete)
{
    const struct integration *job = run->job;
    const size_t count = job->files;
    const char *output = job->params->output;
    char(*names)[RANKS_FILE_NAME] = calloc(count, sizeof(*names));
    const char **list = calloc(count, sizeof(*list));
    char partial[RANKS_FILE_NAME];
    int code = names && list ? AIRY_EXIT_OK : tool_fail(job->common, "out of memory");
    snprintf(partial, sizeof(partial), "%s.partial", output);
    for (size_t i = 0; code == AIRY_EXIT_OK && i < count; i++) {
        ranks_file_name(names[i], output, i, is_there(output, i, ".partial") ? ".partial" : "");
        list[i] = names[i];
    }
    if (code == AIRY_EXIT_OK) {
        const airy_status status = airy_patterns_link(complete ? output : partial, list, count,
                                                      complete ? job->common->force : true);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
    }
    if (code == AIRY_EXIT_OK && complete)
        unlink(partial);
    free(list);
    free(names);
    return code;
}

static int create(struct ranks_run *run)
{
    struct world *world = run->world;
    size_t resumed = 0;
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < run->job->files && code == AIRY_EXIT_OK; i++)
        if (is_mine(run, i))
            code = create_part(run, i, &resumed);
    world_add(world, RANKS_CELL_RESUMED, (int64_t)resumed);
    code = world_agree(world, code, NULL, NULL);
    if (code == AIRY_EXIT_OK && world_first(world))
        code = write_master(run, false);
    code = world_agree(world, code, NULL, NULL);
    run->resumed = (size_t)world_add(world, RANKS_CELL_RESUMED, 0);
    return code;
}

/* Rows of this file that nobody has claimed. */
static int work_on(struct ranks_run *run, size_t number, airy_run_info *info)
{
    struct integration *job = run->job;
    struct part part;
    airy_run_info one = {0};
    make_part(&part, job, number);
    run->cell = RANKS_CELL_NEXT + number;
    run->rows = part.rows;
    run->seen = (size_t)world_add(run->world, run->cell, 0);
    if (run->seen >= part.rows)
        return AIRY_EXIT_OK;
    ranks_take(run, &part.run);
    run->base = info->frames;
    const airy_status status = airy_run_work(part.path, job->stack, job->team.integrators,
                                             job->team.count, &part.run, &one);
    ranks_add(info, &one);
    run->base = 0;
    if (status == AIRY_OK || status == AIRY_ERR_CANCELLED)
        return AIRY_EXIT_OK;
    return tool_failed(job->common, status);
}

static int work(struct ranks_run *run, airy_run_info *info)
{
    const size_t files = run->job->files,
                 ranks = world_alone(run->world) ? 1 : (size_t)run->world->place.size,
                 first = (world_alone(run->world) ? 0 : (size_t)run->world->place.rank) * files /
                         ranks;
    int code = AIRY_EXIT_OK;
    for (size_t k = 0; k < files && code == AIRY_EXIT_OK && !run->stop && !info->stopped; k++)
        code = work_on(run, (first + k) % files, info);
    return code;
}

/* Has a good frame pixels left out of its own? Then all rows of all files have normalizations. */
static int any_differs(const struct ranks_run *run, bool *differs)
{
    static const char *const names[] = {"status", "invalid"};
    airy_image images[2] = {{0}, {0}};
    airy_status status = AIRY_OK;
    char partial[RANKS_FILE_NAME];
    snprintf(partial, sizeof(partial), "%s.partial", run->job->params->output);
    for (size_t i = 0; i < 2 && status == AIRY_OK; i++)
        status = patterns_read_column(&images[i], partial, names[i]);
    const size_t rows = status == AIRY_OK ? tool_count(images[1].shape, images[1].ndim) : 0;
    for (size_t i = 0; i < rows; i++)
        *differs |= airy_image_value(&images[0], i) == 0 && airy_image_value(&images[1], i) > 0;
    for (size_t i = 0; i < 2; i++)
        airy_image_free(&images[i]);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(run->job->common, status);
}

static int finish(struct ranks_run *run)
{
    struct integration *job = run->job;
    struct world *world = run->world;
    bool differs = false;
    int code = world_first(world) ? any_differs(run, &differs) : AIRY_EXIT_OK;
    if (code == AIRY_EXIT_OK)
        code = world_tell(world, &differs, sizeof(differs));
    for (size_t i = 0; i < job->files && code == AIRY_EXIT_OK; i++) {
        struct part part;
        if (!is_mine(run, i) || !is_there(job->params->output, i, ".partial"))
            continue;
        make_part(&part, job, i);
        part.run.own_normalizations = differs;
        const airy_status status =
            airy_run_finish(part.path, job->stack, job->integrator, &part.run, NULL);
        code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(job->common, status);
    }
    code = world_agree(world, code, ranks_idle, run);
    if (code == AIRY_EXIT_OK && world_first(world))
        code = write_master(run, true);
    return code;
}

int ranks_files_run(struct ranks_run *run, airy_run_info *info)
{
    const double start = tool_now();
    int code = create(run);
    if (code != AIRY_EXIT_OK)
        return code;
    code = work(run, info);
    code = ranks_gather(run, info, code);
    if (code == AIRY_EXIT_OK)
        code = finish(run);
    info->seconds = tool_now() - start;
    info->resumed = run->resumed;
    return code;
}
