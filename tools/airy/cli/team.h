/* The devices of a job and an integrator on each. */
#ifndef AIRY_TOOLS_CLI_TEAM_H
#define AIRY_TOOLS_CLI_TEAM_H

#include "airy/integrate.h"
#include "cli/tool.h"

/* Zeroed is closed. */
struct team {
    airy_device **devices;         /* [count] */
    airy_integrator **integrators; /* [count], or NULL */
    size_t count;
};

/* The devices that --device, or else AIRY_DEVICE, means. Close in any case. */
airy_status team_open(struct team *team, const struct common *common);
/* Each device makes its own at the same time. */
airy_status team_integrators(struct team *team, const airy_geometry *geometry,
                             const airy_integrator_params *params);
/* What team_integrators made; the devices stay open. */
void team_drop_integrators(struct team *team);
void team_close(struct team *team);
/* "gpu:0" or "gpu:0, gpu:1"; malloc'ed, NULL when memory is short. */
char *team_specs(const struct team *team);
/* --profile, device by device. Exit code. */
int team_profile(const struct team *team, const struct common *common);

#endif
