/* What pattern is made of a frame, on the command line: rows that several commands take. */
#ifndef AIRY_TOOLS_CLI_PATTERN_OPT_H
#define AIRY_TOOLS_CLI_PATTERN_OPT_H

#include "airy/integrate_params.h"
#include "cli/geometry_opt.h"

struct pattern_params {
    struct pattern_bins {
        size_t radius, azimuth; /* azimuth 0: one dimension */
    } bins;
    size_t batch;              /* 0: chosen */
    airy_unit unit, azimuthal; /* azimuthal 0: chi_deg */
    airy_split split;
    airy_method method;
    airy_error_model error_model;
    airy_integrator_params rings; /* clip and quantile */
    airy_sample_params sample;
    bool has_unit;
};

/* How the params struct of a command begins that takes pattern_options. */
struct pattern_head {
    struct geometry_params geometry;
    struct pattern_params pattern;
};
#define PATTERN_HEAD_FITS(type)                                                                    \
    _Static_assert(offsetof(type, geometry) == offsetof(struct pattern_head, geometry) &&          \
                       offsetof(type, pattern) == offsetof(struct pattern_head, pattern),          \
                   #type " does not begin as pattern_options expects")

extern const struct opt pattern_options[];

/* Options that contradict each other: AIRY_EXIT_USAGE after a line on stderr. */
int pattern_check(const struct common *common, const airy_integrator_params *integrator,
                  const airy_sample_params *sample, bool has_variance);
/* What the options of pattern_options say. */
airy_integrator_params pattern_integrator(const struct pattern_params *params);
/* --clip and --quantile: a line of its own on stdout, or "clip": [T, cycles], "quantile": [A, B]. */
void pattern_print_rings(const struct pattern_params *params);
void pattern_rings_json(json_t *json, const struct pattern_params *params);
#endif
