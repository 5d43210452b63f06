/* airy sky: pixels to sky coordinates and back. */
#include <math.h>

#include "cli/job_command.h"

/* That of a point which has no partner may have a sign, which says nothing. */
static double value(const airy_column *column, size_t row)
{
    const double v = ((const double *)column->data)[row];
    return isnan(v) ? fabs(v) : v;
}

static int print_json(const struct common *common, const airy_table *table)
{
    const airy_column *c = table->column;
    json_t *list = json_array();
    for (size_t i = 0; i < table->rows; i++)
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o}", c[0].name,
                                              tool_json_number(value(&c[0], i)), c[1].name,
                                              tool_json_number(value(&c[1], i)), c[2].name,
                                              tool_json_number(value(&c[2], i)), c[3].name,
                                              tool_json_number(value(&c[3], i))));
    return tool_print_json(common, list);
}

static int show_points(void *params)
{
    const struct job_params *p = params;
    const airy_table *table;
    const airy_status status = airy_job_get_table(p->job, "points", &table);
    if (status != AIRY_OK)
        return tool_failed(&p->common, status);
    if (p->common.json)
        return print_json(&p->common, table);
    const airy_column *c = table->column;
    printf("%s,%s,%s,%s\n", c[0].name, c[1].name, c[2].name, c[3].name);
    for (size_t i = 0; i < table->rows; i++)
        printf("%.15g,%.15g,%.15g,%.15g\n", value(&c[0], i), value(&c[1], i), value(&c[2], i),
               value(&c[3], i));
    return AIRY_EXIT_OK;
}

const struct command cmd_sky = {
    .name = "sky",
    .usage = "IMAGE --pixels X,Y|FILE [options]",
    .examples = "  airy sky image.fits --pixels 511.5,511.5\n"
                "  airy sky image.fits --pixels sources.csv\n"
                "  airy sky 'mosaic.fits[SCI]' --radec 83.633,22.0145 --json\n"
                "  airy sky image.fits --radec '05:34:31.9 +22:00:52'\n"
                "  airy sky image.fits --pixels sextractor.cat\n",
    JOB_COMMAND("sky"),
    .show = show_points,
    .shows_json = true,
    .min_inputs = 1,
    .max_inputs = 1,
};
