/*
 * per-rank: a file a rank, and a master that shows them as one.
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

#include "airy/result.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/size.h"
#include "jobs/configuration.h"
#include "jobs/integrate/ranks.h"
#include "jobs/integrate/resume.h"

/* Files that there can be. */
static size_t most_files(const struct airy_integration *it)
{
    return airy_world_counters(&it->world) - AIRY_RANKS_NEXT;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static bool is_there(const char *output, size_t number, const char *tail)
{
    char name[AIRY_RANKS_NAME];
    airy_ranks_name(name, output, number, tail);
    return exists(name);
}

static airy_status read_text(char **text, const char *path, const char *name)
{
    airy_result *result = NULL;
    *text = NULL;
    AIRY_TRY(airy_result_open(&result, path));
    const airy_status status = airy_result_get_text(result, name, text);
    airy_result_close(&result);
    return status;
}

/* Files that OUT.partial is spread over; 0: it is one file, or not there. */
static size_t count_files(const char *partial)
{
    char *text = NULL;
    if (!exists(partial) || read_text(&text, partial, "files") != AIRY_OK)
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
static size_t count_shown(const struct airy_integration *it, const char *tail)
{
    const char *output = it->v->output, *slash = strrchr(output, '/');
    char *text = NULL, name[AIRY_RANKS_NAME], master[AIRY_RANKS_NAME], *rest = NULL;
    struct stat is;
    snprintf(master, sizeof(master), "%s%s", output, tail);
    if (lstat(master, &is) != 0 || !S_ISREG(is.st_mode) ||
        read_text(&text, master, "files") != AIRY_OK)
        return 0;
    size_t count = 0;
    const size_t folder = slash ? (size_t)(slash - output) + 1 : 0;
    for (char *line = strtok_r(text, "\n", &rest); line && count < most_files(it);
         line = strtok_r(NULL, "\n", &rest)) {
        airy_ranks_name(name, output, count, "");
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

/*
 * With `force` an earlier result of several files may have more of them than the new one. One that the
 * new result does not replace must be no input.
 */
static airy_status find_surplus(struct airy_integration *it)
{
    char name[AIRY_RANKS_NAME];
    if (!it->v->force || it->v->resume)
        return AIRY_OK;
    it->shown = airy_max_size(count_shown(it, ""), count_shown(it, ".partial"));
    for (size_t i = it->files; i < it->shown; i++) {
        airy_ranks_name(name, it->v->output, i, "");
        if (!exists(name))
            continue;
        AIRY_TRY(airy_job_keep_inputs(it->job, name));
        AIRY_TRY(airy_job_keep_stack(it->stack, name));
    }
    return AIRY_OK;
}

/* Only patterns that nobody is writing: another file may have come to stand under the name. */
static bool remove_patterns(const char *name)
{
    struct stat is;
    airy_result *result = NULL;
    airy_result_info info;
    if (lstat(name, &is) != 0 || !S_ISREG(is.st_mode) || airy_result_is_written(name))
        return false;
    const bool is_ours = airy_result_open(&result, name) == AIRY_OK &&
                         airy_result_get_info(result, &info) == AIRY_OK &&
                         info.kind == AIRY_RESULT_PATTERNS;
    airy_result_close(&result);
    return is_ours && unlink(name) == 0;
}

void airy_ranks_remove_surplus(const struct airy_integration *it)
{
    static const char *const tails[] = {"", ".partial"};
    char name[AIRY_RANKS_NAME], first[AIRY_RANKS_NAME] = "";
    size_t removed = 0;
    for (size_t i = 2 * it->files; i < 2 * it->shown; i++) {
        airy_ranks_name(name, it->v->output, i / 2, tails[i % 2]);
        if (remove_patterns(name) && removed++ == 0)
            memcpy(first, name, sizeof(first));
    }
    if (removed)
        airy_job_message(it->job, AIRY_LOG_WARN,
                         "%zu file%s that only the earlier result showed %s removed, '%s'%s",
                         removed, removed == 1 ? "" : "s", removed > 1 ? "were" : "was", first,
                         removed > 1 ? " and on" : "");
}

/* What the user asks for. */
static airy_status choose_new(struct airy_integration *it, const char *partial)
{
    const size_t ranks = airy_world_size(&it->world);
    char name[AIRY_RANKS_NAME];
    AIRY_FAIL_ON_IF(it->v->resume && exists(partial), AIRY_ERR_EXISTS, AIRY_SUBJECT_PARAMETER,
                    "%s: %s is one file; resume it without per-rank", "per-rank", partial);
    AIRY_FAIL_ON_IF(ranks == 1, AIRY_ERR_UNSUPPORTED, AIRY_SUBJECT_PARAMETER,
                    "%s is for several ranks: start them by mpirun or srun", "per-rank");
    AIRY_FAIL_ON_IF(!it->v->force && exists(it->v->output), AIRY_ERR_EXISTS, AIRY_SUBJECT_FILE,
                    "'%s' is there already", it->v->output);
    /* Not one of a single frame where rows are groups: it would be laid out otherwise. */
    const size_t most = it->run.group > 1 ? it->rows / 2 : it->rows;
    it->files = airy_min_size(airy_min_size(ranks, most_files(it)), airy_max_size(most, 1));
    for (size_t i = 0; i < it->files; i++) {
        airy_ranks_name(name, it->v->output, i, "");
        AIRY_TRY(airy_job_keep_inputs(it->job, name));
        AIRY_TRY(airy_job_keep_stack(it->stack, name));
    }
    return AIRY_OK;
}

airy_status airy_ranks_choose_files(struct airy_integration *it)
{
    char partial[AIRY_PARTIAL_PATH];
    const size_t most = airy_min_size(it->rows, most_files(it));
    AIRY_TRY(airy_job_partial_path(partial, it->v->output));
    AIRY_TRY(airy_job_keep_inputs(it->job, it->v->output));
    it->files = it->v->resume ? count_files(partial) : 0;
    AIRY_FAIL_ON_IF(it->files > most, AIRY_ERR_FORMAT, AIRY_SUBJECT_FILE,
                    "%s is spread over %zu files, expected at most %zu", partial, it->files, most);
    if (!it->files && it->v->ranks.per_rank)
        AIRY_TRY(choose_new(it, partial));
    return find_surplus(it);
}

/* The run of one file. */
struct part {
    airy_run_params run;
    size_t rows, frames;
    char path[AIRY_RANKS_NAME];
};

static void make_part(struct part *part, const struct airy_integration *it, size_t number)
{
    const size_t rows = it->rows, files = it->files;
    const size_t from = rows * number / files, to = rows * (number + 1) / files;
    const size_t frames = airy_min_size(it->run.group, it->frames);
    const size_t step = airy_max_size(frames, 1) * it->run.step;
    *part = (struct part){.run = it->run, .rows = to - from};
    part->run.first = it->run.first + from * step;
    part->run.last = to == rows ? it->run.last : it->run.first + to * step;
    part->frames = (part->run.last - part->run.first - 1) / it->run.step + 1;
    airy_ranks_name(part->path, it->v->output, number, "");
}

/* Read a number of each row. */
/* Fail unless a complete file is a part of this run: of its configuration, and of these frames. */
static airy_status check_complete(const struct airy_integration *it, const struct part *part)
{
    char *text = NULL;
    double *index = NULL;
    size_t rows = 0;
    const bool same = read_text(&text, part->path, "configuration") == AIRY_OK &&
                      strcmp(text, it->run.configuration ? it->run.configuration : "{}") == 0 &&
                      airy_integration_read_column(&index, &rows, part->path, "frame/index") ==
                          AIRY_OK &&
                      rows == part->rows && index[0] == (double)part->run.first;
    free(text);
    free(index);
    AIRY_FAIL_HINT_IF(!same, AIRY_ERR_EXISTS, AIRY_HINT_STATED, AIRY_SUBJECT_FILE,
                      "'%s' is there already and is no part of this run, whose partial file is "
                      "missing; force=on without resume=on starts anew",
                      part->path);
    return AIRY_OK;
}

/* Make it, or see how far it is; *resumed grows by frames that are done. */
static airy_status create_part(const struct airy_ranks_run *run, size_t number, size_t *resumed)
{
    const struct airy_integration *it = run->it;
    struct part part;
    airy_run_info info = {0};
    make_part(&part, it, number);
    const bool partial = is_there(it->v->output, number, ".partial");
    if (it->run.resume && !partial && exists(part.path)) { /* it was finished already */
        AIRY_TRY(check_complete(it, &part));
        airy_world_add(run->world, AIRY_RANKS_NEXT + number, (int64_t)part.rows);
        *resumed += part.frames;
        return AIRY_OK;
    }
    part.run.resume = it->run.resume && partial;
    const airy_status status =
        airy_run_create(part.path, it->stack, it->integrators[0], &part.run, &info);
    *resumed += info.resumed;
    return status;
}

/* Is this file the task of this rank, for what one rank has to do? */
static bool is_mine(const struct airy_ranks_run *run, size_t number)
{
    return number % airy_world_size(run->world) == airy_world_rank(run->world);
}

static airy_status link_files(const struct airy_integration *it, bool complete,
                              char (*names)[AIRY_RANKS_NAME], const char **list)
{
    const char *output = it->v->output;
    char partial[AIRY_PARTIAL_PATH];
    AIRY_TRY(airy_job_partial_path(partial, output));
    for (size_t i = 0; i < it->files; i++) {
        airy_ranks_name(names[i], output, i, is_there(output, i, ".partial") ? ".partial" : "");
        list[i] = names[i];
    }
    AIRY_TRY(airy_patterns_link(complete ? output : partial, list, it->files,
                                complete ? it->v->force : true));
    if (complete)
        unlink(partial);
    return AIRY_OK;
}

/* The master; of complete files, or of what there is of them. */
static airy_status write_master(const struct airy_integration *it, bool complete)
{
    char(*names)[AIRY_RANKS_NAME] = NULL;
    const char **list = NULL;
    airy_status status =
        airy_memory_calloc((void **)&names, it->files, sizeof(*names), "names of files");
    if (status == AIRY_OK)
        status = airy_memory_calloc((void **)&list, it->files, sizeof(*list), "names of files");
    if (status == AIRY_OK)
        status = link_files(it, complete, names, list);
    free(list);
    free(names);
    return status;
}

static airy_status create(struct airy_ranks_run *run)
{
    struct airy_world *world = run->world;
    size_t resumed = 0;
    airy_status status = AIRY_OK;
    for (size_t i = 0; i < run->it->files && status == AIRY_OK; i++)
        if (is_mine(run, i))
            status = create_part(run, i, &resumed);
    airy_world_add(world, AIRY_RANKS_RESUMED, (int64_t)resumed);
    AIRY_TRY(airy_world_agree(world, status, NULL, NULL));
    if (airy_world_is_first(world))
        status = write_master(run->it, false);
    AIRY_TRY(airy_world_agree(world, status, NULL, NULL));
    run->resumed = (size_t)airy_world_add(world, AIRY_RANKS_RESUMED, 0);
    return AIRY_OK;
}

/* Rows of this file that nobody has claimed. */
static airy_status work_on(struct airy_ranks_run *run, size_t number, airy_run_info *info)
{
    struct airy_integration *it = run->it;
    struct part part;
    airy_run_info one = {0};
    make_part(&part, it, number);
    run->counter = AIRY_RANKS_NEXT + number;
    run->rows = part.rows;
    run->first_row = it->rows * number / it->files;
    run->seen = (size_t)airy_world_add(run->world, run->counter, 0);
    if (run->seen >= part.rows)
        return AIRY_OK;
    airy_ranks_take(run, &part.run);
    run->base = info->frames;
    const airy_status status =
        airy_run_work(part.path, it->stack, it->integrators, it->count, &part.run, &one);
    airy_ranks_add(info, &one);
    run->base = 0;
    info->stopped |= status == AIRY_ERR_CANCELLED;
    return status == AIRY_ERR_CANCELLED ? AIRY_OK : status;
}

static airy_status work(struct airy_ranks_run *run, airy_run_info *info)
{
    const size_t files = run->it->files,
                 first = airy_world_rank(run->world) * files / airy_world_size(run->world);
    airy_status status = AIRY_OK;
    for (size_t k = 0; k < files && status == AIRY_OK && !run->stop && !info->stopped; k++)
        status = work_on(run, (first + k) % files, info);
    return status;
}

/* Has a good frame pixels left out of its own? Then all rows of all files have normalizations. */
static airy_status any_differs(const struct airy_integration *it, bool *differs)
{
    double *states = NULL, *invalid = NULL;
    size_t rows = 0, others = 0;
    char partial[AIRY_PARTIAL_PATH];
    airy_status status = airy_job_partial_path(partial, it->v->output);
    if (status == AIRY_OK)
        status = airy_integration_read_column(&states, &rows, partial, "frame/status");
    if (status == AIRY_OK)
        status = airy_integration_read_column(&invalid, &others, partial, "frame/invalid");
    for (size_t i = 0; i < rows && i < others; i++)
        *differs |= states[i] == 0 && invalid[i] > 0;
    free(states);
    free(invalid);
    return status;
}

static airy_status finish(struct airy_ranks_run *run)
{
    struct airy_integration *it = run->it;
    struct airy_world *world = run->world;
    bool differs = false;
    airy_status status = airy_world_is_first(world) ? any_differs(it, &differs) : AIRY_OK;
    AIRY_TRY(airy_world_agree(world, status, NULL, NULL));
    AIRY_TRY(airy_world_tell(world, &differs, sizeof(differs)));
    for (size_t i = 0; i < it->files && status == AIRY_OK; i++) {
        struct part part;
        if (!is_mine(run, i) || !is_there(it->v->output, i, ".partial"))
            continue;
        make_part(&part, it, i);
        part.run.own_normalizations = differs;
        status = airy_run_finish(part.path, it->stack, it->integrators[0], &part.run, NULL);
    }
    AIRY_TRY(airy_world_agree(world, status, airy_ranks_wait, run));
    return airy_world_is_first(world) ? write_master(it, true) : AIRY_OK;
}

airy_status airy_ranks_run_files(struct airy_ranks_run *run, airy_run_info *info)
{
    const uint64_t start = airy_clock_ns();
    AIRY_TRY(create(run));
    airy_status status = work(run, info);
    status = airy_ranks_gather(run, info, status);
    if (status == AIRY_OK)
        status = finish(run);
    info->seconds = (double)(airy_clock_ns() - start) * 1e-9;
    return status;
}
