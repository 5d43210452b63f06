/* The devices of a bench. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

airy_status team_open(struct team *team, const struct common *common)
{
    const airy_device_params params = {.threads = (uint32_t)common->threads,
                                       .profile = common->profile,
                                       .memory_limit = common->memory_limit,
                                       .background = true};
    return airy_device_create_all(&team->devices, &team->count, common->device, &params);
}

airy_status team_integrators(struct team *team, const airy_geometry *geometry,
                             const airy_integrator_params *params)
{
    team->integrators = calloc(team->count, sizeof(airy_integrator *));
    return team->integrators ? airy_integrator_create_all(team->integrators, team->devices,
                                                          team->count, geometry, params)
                             : AIRY_ERR_MEMORY;
}

void team_close(struct team *team)
{
    for (size_t i = 0; team->integrators && i < team->count; i++)
        airy_integrator_destroy(&team->integrators[i]);
    free(team->integrators);
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
