/* Adding all frames of a dataset, which may be virtual or hold channels, to a stack. */
#include <stdio.h>
#include <string.h>

#include "io/hdf5/scaling.h"
#include "io/stack/internal.h"

/* All frames of the dataset. */
static airy_status add_frames(airy_stack *stack, hid_t dataset, const struct stack_facts *facts,
                              const char *path, const char *name)
{
    bool resolved;
    AIRY_TRY(airy_stack_add_virtual(stack, &resolved, dataset, path, name));
    if (resolved)
        return AIRY_OK;
    size_t segment;
    AIRY_TRY(airy_stack_add_segment(stack, &segment, dataset, path, name));
    AIRY_TRY(
        airy_stack_add_run(stack, (struct stack_run){stack->frames, facts->frames, segment, 0}));
    stack->frames += facts->frames;
    return AIRY_OK;
}

static airy_status add_opened(airy_stack *stack, hid_t file, hid_t dataset, const char *path,
                              const char *name)
{
    struct stack_facts facts;
    struct stack_channel channel;
    char full[1024];
    snprintf(full, sizeof(full), "%s::%s", path, name);
    AIRY_TRY(airy_stack_get_facts(&facts, dataset, full));
    AIRY_TRY(airy_stack_find_channel(stack, &channel, file, path, name, facts.ndim, facts.shape));
    AIRY_TRY(airy_stack_settle_frame(stack, facts.height, facts.width, facts.dtype, full, full));
    const size_t runs = stack->run_count, first = stack->frames;
    if (first == 0 && !stack->unverified) /* else pixels are not read, or were before */
        airy_hdf5_say_scaling(dataset, full);
    AIRY_TRY(add_frames(stack, dataset, &facts, path, name));
    return airy_stack_take_channel(stack, &channel, runs, first);
}

/* Right after the dataset could not be opened. */
static airy_status fail_open(hid_t file, const char *path, const char *name)
{
    enum { LONGEST = 4096 };
    char why[400];
    airy_hdf5_message(why, sizeof(why));
    const airy_hint hint = airy_hdf5_hint(AIRY_ERR_NOT_FOUND);
    H5L_info_t info;
    char value[LONGEST];
    const char *other = NULL;
    if (!airy_hdf5_exists(file, name) || H5Lget_info(file, name, &info, H5P_DEFAULT) < 0 ||
        info.type != H5L_TYPE_EXTERNAL || info.u.val_size > LONGEST ||
        H5Lget_val(file, name, value, LONGEST, H5P_DEFAULT) < 0 ||
        H5Lunpack_elink_val(value, info.u.val_size, NULL, &other, NULL) < 0)
        return airy_hinted(hint, airy_about(AIRY_SUBJECT_DATASET, name,
                                            airy_fail(AIRY_ERR_NOT_FOUND,
                                                      "%s::%s cannot be opened as a dataset: %s",
                                                      path, name, why)));
    /* What that says already, whatever is wrong with the file. */
    const bool says = strncmp(why, "unable to open external file", 28) != 0;
    return airy_hinted(AIRY_HINT_DATA_FILE, airy_fail_on(AIRY_ERR_NOT_FOUND, AIRY_SUBJECT_FILE,
                                                         "data file '%s' is missing or cut%s%s",
                                                         other, says ? ": " : "", says ? why : ""));
}

airy_status airy_stack_add(airy_stack *stack, hid_t file, const char *path, const char *name)
{
    const hid_t dataset = airy_hdf5_dataset_own(file, name);
    if (dataset < 0)
        return fail_open(file, path, name);
    const airy_status status = add_opened(stack, file, dataset, path, name);
    H5Dclose(dataset);
    return status;
}
