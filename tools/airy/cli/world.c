#include "cli/world.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How this process was started. */
struct launch {
    const char *by; /* NULL: by hand */
    long rank, size;
    bool pmi; /* MPI can find the other ones */
};

static bool number(const char *name, long *value)
{
    const char *text = getenv(name);
    char *end = NULL;
    if (!text || !*text)
        return false;
    *value = strtol(text, &end, 10);
    return !*end && *value >= 0 && *value < INT_MAX;
}

/*
 * What launchers set for each process. SLURM_NTASKS and SLURM_JOB_ID are also there in a shell
 * inside an allocation, where nothing was launched: SLURM_STEP_NUM_TASKS counts a step's own.
 */
static struct launch find_launch(void)
{
    struct launch l = {NULL, 0, 1, true};
    if (number("OMPI_COMM_WORLD_SIZE", &l.size) && number("OMPI_COMM_WORLD_RANK", &l.rank))
        l.by = "Open MPI's mpirun";
    else if (number("PMI_SIZE", &l.size) && number("PMI_RANK", &l.rank))
        l.by = "a launcher with PMI";
    else if (number("SLURM_STEP_NUM_TASKS", &l.size) && l.size > 1 &&
             number("SLURM_PROCID", &l.rank)) {
        l.by = "srun";
        l.pmi = getenv("PMIX_RANK") != NULL;
    }
    if (!l.by)
        l = (struct launch){NULL, 0, 1, false};
    return l;
}

const char *world_parse(void *field, const char *text)
{
    static const char *const words[] = {"on", "off", NULL};
    static const enum world_wish wishes[] = {WORLD_ON, WORLD_OFF};
    int which = 0;
    const char *expected = opt_word(text, words, &which);
    *(enum world_wish *)field = wishes[which];
    return expected;
}

void world_hush(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--mpi=off") == 0)
            return;
    if (find_launch().rank > 0)
        tool_hold(true, true);
}

/* Beside the program (a build), or where it was installed, wherever that has been moved to. */
static bool find_module(char path[PATH_MAX])
{
    static const char *const places[] = {"", "../" AIRY_LIBDIR "/airy/", "../lib/airy/"};
    char program[PATH_MAX - 64];
    const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (n <= 0)
        return false;
    program[n] = 0;
    *strrchr(program, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        if ((size_t)snprintf(path, PATH_MAX, "%s/%sairy-mpi.so", program, places[i]) < PATH_MAX &&
            access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* why: of a failure. */
static const struct mpi_module *open_module(char *why, size_t size)
{
    char path[PATH_MAX];
    if (!find_module(path)) {
        snprintf(why, size, "airy-mpi.so is not installed");
        return NULL;
    }
    /* Its symbols must be seen by the plug-ins that Open MPI itself opens. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    const struct mpi_module *module = library ? dlsym(library, MPI_MODULE_SYMBOL) : NULL;
    if (!module) {
        snprintf(why, size, "%s cannot be opened: %s", path, dlerror());
    } else if (module->version != MPI_MODULE_VERSION) {
        snprintf(why, size, "%s is of another version of Airy", path);
        module = NULL;
    }
    return module;
}

void world_describe(char *text, size_t size)
{
    char why[PATH_MAX + 256];
    const struct mpi_module *module = open_module(why, sizeof(why));
    if (module)
        snprintf(text, size, "mpi: %s (airy-mpi.so, opened under mpirun and srun)",
                 module->implementation());
    else
        snprintf(text, size, "mpi: no (%s)", why);
}

bool world_alone(const struct world *world)
{
    return !world->mpi;
}

bool world_first(const struct world *world)
{
    return world_alone(world) || world->place.rank == 0;
}

/* Ranks of one job were given the same: FNV-1a of the words, each with its end. */
static uint64_t hash_words(const struct common *common)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < common->argc; i++)
        for (const char *c = common->argv[i], *end = c + strlen(c); c <= end; c++)
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash;
}

static int check_words(struct world *world)
{
    const uint64_t mine = hash_words(world->common);
    uint64_t *all = calloc((size_t)world->place.size, sizeof(*all));
    int code = all ? AIRY_EXIT_OK : tool_fail(world->common, "out of memory");
    if (code == AIRY_EXIT_OK)
        code = world_gather(world, &mine, sizeof(mine), all);
    for (int i = 0; code == AIRY_EXIT_OK && i < world->place.size; i++)
        if (all[i] != all[0])
            code = tool_usage(world->common,
                              "rank %d was given other words than rank 0: ranks do one job "
                              "together; with --mpi=off each does its own",
                              i);
    free(all);
    return code;
}

int world_join(struct world *world, const struct common *common, enum world_wish wish)
{
    const struct launch launch = find_launch();
    const bool several = launch.by && launch.size > 1;
    char why[PATH_MAX + 256];
    *world = (struct world){.common = common};
    if (gethostname(world->host, sizeof(world->host) - 1) != 0)
        world->host[0] = 0;
    world->idle = wish != WORLD_OFF && common->explain && launch.rank > 0;
    if (wish == WORLD_OFF || common->explain || (wish == WORLD_AUTO && !several))
        return AIRY_EXIT_OK;
    if (launch.by && !launch.pmi)
        return tool_fail(common,
                         "started by srun as one of %ld tasks without a PMI, so that they cannot "
                         "find each other; give srun --mpi=pmix or --mpi=pmi2 ('srun --mpi=list' "
                         "lists those that it has), or airy --mpi=off for jobs side by side",
                         launch.size);
    const struct mpi_module *module = open_module(why, sizeof(why));
    if (!module && several && wish == WORLD_AUTO)
        return tool_fail(common,
                         "started by %s as one of %ld processes, but %s; install the package "
                         "airy-mpi, or build with -Dmpi=enabled; --mpi=off is for jobs side by "
                         "side",
                         launch.by, launch.size, why);
    if (!module)
        return tool_fail(
            common, "--mpi: %s; install the package airy-mpi, or build with -Dmpi=enabled", why);
    tool_hold(true, launch.rank > 0);
    if (module->open(&world->place, WORLD_CELLS, STDERR_FILENO) != 0) {
        tool_hold(false, false);
        return tool_fail(common, "%s", module->error());
    }
    world->mpi = module;
    if (several && world->place.size == 1) {
        world->mpi = NULL;
        module->close();
        tool_hold(launch.rank > 0, launch.rank > 0);
        return tool_fail(common,
                         "started by %s as one of %ld processes, but %s, for which airy-mpi.so was "
                         "built, sees this one only; use its own launcher",
                         launch.by, launch.size, world->place.implementation);
    }
    return check_words(world);
}

/* What a rank says of itself. */
struct verdict {
    int32_t code;
    char host[64], line[1900];
};

/* One line: of the first that failed, with its name where it is not the same for all. */
static void print_verdict(const struct world *world, const struct verdict *all, int failed)
{
    bool same = true;
    for (int i = 0; i < world->place.size; i++)
        same = same && all[i].code == all[0].code && strcmp(all[i].line, all[0].line) == 0;
    const char *line = *all[failed].line ? all[failed].line : "failed without a message";
    const char *command = world->common->command->name;
    if (same)
        tool_line(command, "%s", line);
    else
        tool_line(command, "rank %d of %d (%s): %s", failed, world->place.size, all[failed].host,
                  line);
}

/* A rank that cannot go on with the others ends them. */
static void end_all(const struct world *world, const char *why)
{
    tool_line(world->common->command->name, "rank %d of %d: %s", world->place.rank,
              world->place.size, why);
    world->mpi->abort(AIRY_EXIT_FAILED);
}

static int agree(struct world *world, int code)
{
    if (world_alone(world) || world->ended)
        return code;
    struct verdict mine = {.code = code}, *all = calloc((size_t)world->place.size, sizeof(*all));
    memcpy(mine.host, world->host, sizeof(mine.host));
    snprintf(mine.line, sizeof(mine.line), "%.1899s", tool_held());
    if (!all || world->mpi->gather(&mine, sizeof(mine), all, NULL, NULL) != 0) {
        end_all(world, all ? world->mpi->error() : "out of memory");
        return AIRY_EXIT_FAILED;
    }
    int failed = -1, common = AIRY_EXIT_OK;
    for (int i = 0; i < world->place.size; i++) {
        const bool bad = all[i].code != AIRY_EXIT_OK && all[i].code != AIRY_EXIT_PARTLY;
        failed = failed < 0 && bad ? i : failed;
        common = all[i].code > common ? all[i].code : common;
    }
    world->ended = failed >= 0;
    if (world->ended) {
        common = all[failed].code;
        if (world->place.rank == 0)
            print_verdict(world, all, failed);
    }
    free(all);
    return common;
}

int world_leave(struct world *world, int code)
{
    if (world_alone(world))
        return code;
    code = agree(world, code);
    const bool quiet = world->place.rank > 0;
    world->mpi->close();
    world->mpi = NULL;
    tool_hold(quiet, quiet);
    return code;
}

int world_gather(struct world *world, const void *mine, size_t bytes, void *all)
{
    const int code = agree(world, AIRY_EXIT_OK);
    if (code != AIRY_EXIT_OK)
        return code;
    return world->mpi->gather(mine, bytes, all, NULL, NULL) == 0
               ? AIRY_EXIT_OK
               : tool_fail(world->common, "%s", world->mpi->error());
}

static int64_t add(void *user, size_t counter, int64_t amount)
{
    const struct world *world = user;
    int64_t before = 0;
    if (world->mpi->add(counter, amount, &before) != 0)
        end_all(world, world->mpi->error());
    return before;
}

static int gather(void *user, const void *mine, size_t bytes, void *all, void (*wait)(void *),
                  void *wait_user)
{
    const struct world *world = user;
    const int code = world->mpi->gather(mine, bytes, all, wait, wait_user);
    if (code != 0)
        end_all(world, world->mpi->error());
    return code;
}

airy_job_ranks world_ranks(struct world *world)
{
    if (world_alone(world))
        return (airy_job_ranks){.size = 0};
    const struct mpi_place *place = &world->place;
    return (airy_job_ranks){.rank = place->rank,
                            .size = place->size,
                            .local_rank = place->local_rank,
                            .local_size = place->local_size,
                            .node = place->node,
                            .host = world->host,
                            .add = add,
                            .counters = WORLD_CELLS,
                            .gather = gather,
                            .user = world};
}
