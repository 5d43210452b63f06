#include "cli/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

airy_status team_open(struct team *team, const struct common *common)
{
    const airy_device_params params = {.threads = (uint32_t)common->threads,
                                       .profile = common->profile,
                                       .memory_limit = common->memory_limit,
                                       .background = true};
    return airy_device_create_all(&team->devices, &team->count, common->device, &params);
}

struct making {
    airy_integrator **integrator;
    airy_device *device;
    const airy_geometry *geometry;
    const airy_integrator_params *params;
    airy_error error; /* the library's is the thread's own */
};

static void *make(void *arg)
{
    struct making *m = arg;
    if (airy_integrator_create(m->integrator, m->device, m->geometry, m->params) != AIRY_OK)
        airy_error_get(&m->error);
    return NULL;
}

airy_status team_integrators(struct team *team, const airy_geometry *geometry,
                             const airy_integrator_params *params)
{
    struct making *all = calloc(team->count, sizeof(*all));
    pthread_t *threads = calloc(team->count, sizeof(*threads));
    team->integrators = calloc(team->count, sizeof(airy_integrator *));
    airy_status status = all && threads && team->integrators ? AIRY_OK : AIRY_ERR_MEMORY;
    size_t started = 0, failed = 0;
    for (size_t i = 0; status == AIRY_OK && i < team->count; i++)
        all[i] = (struct making){.integrator = &team->integrators[i],
                                 .device = team->devices[i],
                                 .geometry = geometry,
                                 .params = params};
    while (status == AIRY_OK && started + 1 < team->count &&
           pthread_create(&threads[started], NULL, make, &all[started]) == 0)
        started++;
    for (size_t i = started; status == AIRY_OK && i < team->count; i++)
        make(&all[i]);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    while (status == AIRY_OK && failed < team->count && all[failed].error.status == AIRY_OK)
        failed++;
    if (status == AIRY_OK && failed < team->count)
        status = airy_error_restore(&all[failed].error);
    free(threads);
    free(all);
    return status;
}

void team_drop_integrators(struct team *team)
{
    for (size_t i = 0; team->integrators && i < team->count; i++)
        airy_integrator_destroy(&team->integrators[i]);
    free(team->integrators);
    team->integrators = NULL;
}

void team_close(struct team *team)
{
    team_drop_integrators(team);
    airy_device_destroy_all(&team->devices, team->count);
    *team = (struct team){0};
}

char *team_specs(const struct team *team)
{
    char *text = calloc(team->count, 80);
    size_t used = 0;
    for (size_t i = 0; text && i < team->count; i++)
        used += (size_t)snprintf(text + used, 80, "%s%.70s", i ? ", " : "",
                                 airy_device_spec(team->devices[i]));
    return text;
}

int team_profile(const struct team *team, const struct common *common)
{
    if (team->count == 1)
        return tool_profile(common, team->devices[0]);
    if (!common->profile)
        return AIRY_EXIT_OK;
    json_t *all = json_array();
    airy_status status = AIRY_OK;
    for (size_t i = 0; status == AIRY_OK && i < team->count; i++) {
        const char *spec = airy_device_spec(team->devices[i]);
        json_t *rows = tool_profile_rows(team->devices[i]), *row;
        size_t k;
        json_array_foreach(rows, k, row)
        {
            json_object_set_new(row, "device", json_string(spec));
        }
        if (!rows || json_array_extend(all, rows) != 0)
            status = AIRY_ERR_MEMORY;
        json_decref(rows);
        if (status == AIRY_OK && !common->profile_file) {
            fprintf(stderr, "device %s\n", spec);
            status = tool_print_profile(team->devices[i]);
        }
    }
    int code = status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
    if (code == AIRY_EXIT_OK && common->profile_file)
        code = tool_write_profile(common, all);
    json_decref(all);
    return code;
}
