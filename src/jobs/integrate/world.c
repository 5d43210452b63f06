#include "jobs/integrate/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { COUNTERS_ALONE = 4112 };

void airy_world_open(struct airy_world *world, const airy_job *job)
{
    *world = (struct airy_world){.ranks = airy_job_has_ranks(job) ? job->hooks.ranks : NULL};
}

void airy_world_close(struct airy_world *world)
{
    free(world->counters);
    world->counters = NULL;
}

bool airy_world_is_alone(const struct airy_world *world)
{
    return !world->ranks;
}

bool airy_world_is_first(const struct airy_world *world)
{
    return !world->ranks || world->ranks->rank == 0;
}

size_t airy_world_rank(const struct airy_world *world)
{
    return world->ranks ? (size_t)world->ranks->rank : 0;
}

size_t airy_world_size(const struct airy_world *world)
{
    return world->ranks ? (size_t)world->ranks->size : 1;
}

/* A rank that cannot reach the others ends by itself. */
static airy_status gather(struct airy_world *world, const void *mine, size_t bytes, void *all,
                          void (*wait)(void *), void *user)
{
    const airy_job_ranks *ranks = world->ranks;
    if (ranks->gather(ranks->user, mine, bytes, all, wait, user) == 0)
        return AIRY_OK;
    world->ended = true;
    return airy_fail(AIRY_ERR_IO, "rank %d of %d: the other ranks cannot be reached", ranks->rank,
                     ranks->size);
}

/* What a rank reports of itself. */
struct verdict {
    airy_error error; /* status AIRY_OK: none */
    bool partly;
    char host[64];
};

/* Texts end, and a failure is one, whatever came. */
static void tidy(struct verdict *v)
{
    v->error.text[sizeof(v->error.text) - 1] = 0;
    v->error.name[sizeof(v->error.name) - 1] = 0;
    v->host[sizeof(v->host) - 1] = 0;
    if (v->error.status > AIRY_OK || v->error.status < AIRY_ERR_ENDED)
        v->error.status = AIRY_ERR_IO;
}

static airy_status settle(struct airy_world *world, struct verdict *all)
{
    const int size = world->ranks->size;
    int failed = 0, same = 0;
    bool partly = false;
    for (int i = 0; i < size; i++)
        tidy(&all[i]);
    while (failed < size && all[failed].error.status == AIRY_OK)
        partly |= all[failed++].partly;
    if (failed == size)
        return partly ? AIRY_PARTLY : AIRY_OK;
    world->ended = true;
    const airy_error *first = &all[failed].error;
    for (int i = 0; i < size; i++)
        same += all[i].error.status == first->status && strcmp(all[i].error.text, first->text) == 0;
    (void)airy_error_restore(first);
    return same == size ? first->status
                        : airy_fail_context(first->status, "rank %d of %d (%s)", failed, size,
                                            all[failed].host);
}

airy_status airy_world_agree(struct airy_world *world, airy_status status, void (*wait)(void *),
                             void *user)
{
    if (airy_world_is_alone(world) || world->ended)
        return status;
    struct verdict mine = {.partly = status == AIRY_PARTLY}, *all;
    if (status < AIRY_OK)
        (void)airy_error_first(&mine.error, status);
    snprintf(mine.host, sizeof(mine.host), "%.63s", world->ranks->host ? world->ranks->host : "");
    airy_status agreed = airy_memory_calloc((void **)&all, airy_world_size(world), sizeof(*all),
                                            "the answers of all ranks");
    if (agreed != AIRY_OK) {
        world->ended = true;
        return agreed;
    }
    agreed = gather(world, &mine, sizeof(mine), all, wait, user);
    if (agreed == AIRY_OK)
        agreed = settle(world, all);
    free(all);
    return agreed;
}

airy_status airy_world_gather(struct airy_world *world, const void *mine, size_t bytes, void *all)
{
    AIRY_TRY(airy_world_agree(world, AIRY_OK, NULL, NULL));
    if (!airy_world_is_alone(world))
        return gather(world, mine, bytes, all, NULL, NULL);
    memcpy(all, mine, bytes);
    return AIRY_OK;
}

airy_status airy_world_tell(struct airy_world *world, void *data, size_t bytes)
{
    char *all = NULL;
    if (airy_world_is_alone(world))
        return AIRY_OK;
    airy_status status = airy_memory_calloc((void **)&all, airy_world_size(world), bytes,
                                            "what ranks send to each other");
    status = airy_world_agree(world, status, NULL, NULL);
    if (status == AIRY_OK)
        status = gather(world, data, bytes, all, NULL, NULL);
    if (status == AIRY_OK)
        memcpy(data, all, bytes);
    free(all);
    return status;
}

airy_status airy_world_tell_text(struct airy_world *world, char **text)
{
    const bool first = airy_world_is_first(world);
    uint64_t size = *text ? strlen(*text) + 1 : 0;
    char *copy = first ? *text : NULL;
    if (airy_world_is_alone(world))
        return AIRY_OK;
    AIRY_TRY(airy_world_tell(world, &size, sizeof(size)));
    if (size == 0)
        return AIRY_OK;
    airy_status status = first ? AIRY_OK : airy_memory_calloc((void **)&copy, size, 1, "a text");
    status = airy_world_agree(world, status, NULL, NULL);
    if (status == AIRY_OK)
        status = airy_world_tell(world, copy, size);
    if (first)
        return status;
    if (status != AIRY_OK) {
        free(copy);
        return status;
    }
    free(*text);
    *text = copy;
    return AIRY_OK;
}

size_t airy_world_counters(const struct airy_world *world)
{
    return world->ranks ? world->ranks->counters : COUNTERS_ALONE;
}

/* Counters of an earlier run are not 0. All have left that one when rank 0 comes to look. */
airy_status airy_world_begin(struct airy_world *world, size_t counters)
{
    if (airy_world_is_alone(world)) {
        airy_world_close(world);
        return airy_memory_calloc((void **)&world->counters, counters, sizeof(*world->counters),
                                  "counters");
    }
    AIRY_TRY(airy_world_agree(world, AIRY_OK, NULL, NULL));
    for (size_t i = 0; airy_world_is_first(world) && i < counters; i++)
        airy_world_add(world, i, -airy_world_add(world, i, 0));
    return airy_world_agree(world, AIRY_OK, NULL, NULL);
}

int64_t airy_world_add(struct airy_world *world, size_t counter, int64_t amount)
{
    const airy_job_ranks *ranks = world->ranks;
    return ranks ? ranks->add(ranks->user, counter, amount)
                 : atomic_fetch_add(&world->counters[counter], amount);
}
