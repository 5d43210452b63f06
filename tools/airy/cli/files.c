/*
 * The files of a command line: what is read stays, no two outputs share a name, and what is there
 * already is only overwritten by force.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/file.h"
#include "cli/tool.h"
#include "cli/words.h"

/* stat of the file part of FILE::DATASET and FILE[EXT]. */
static bool stat_file(const char *path, struct stat *status)
{
    char name[4096];
    const char *dataset = strstr(path, "::");
    const int n = snprintf(name, sizeof(name), "%.*s",
                           (int)(dataset ? (size_t)(dataset - path) : strlen(path)), path);
    if (n <= 0 || (size_t)n >= sizeof(name))
        return false;
    char *bracket = name[n - 1] == ']' && stat(name, status) != 0 ? strrchr(name, '[') : NULL;
    if (bracket)
        *bracket = 0;
    return stat(name, status) == 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The file of an output FILE::DATASET. */
static void file_of(char file[4096], const char *output)
{
    const char *dataset = tool_exists(output) ? NULL : strstr(output, "::");
    snprintf(file, 4096, "%.*s", (int)(dataset ? (size_t)(dataset - output) : strlen(output)),
             output);
}

static int keep_input(const struct common *common, const char *output, const char *input)
{
    struct stat in, out;
    char partial[4200];
    if (!input || !stat_file(input, &in))
        return AIRY_EXIT_OK;
    snprintf(partial, sizeof(partial), "%s.partial", output);
    const char *const names[] = {output, partial};
    for (size_t i = 0; i < 2; i++)
        if (stat(names[i], &out) == 0 && is_same(&out, &in))
            return tool_fail(common,
                             "output '%s' is the same file as the input '%s', which would be lost; "
                             "choose another name",
                             names[i], input);
    return AIRY_EXIT_OK;
}

/* Is the argument at this place written? */
static bool is_output(const struct common *common, size_t place)
{
    return common->command->writes && place + 1 >= common->command->writes;
}

int tool_keep_inputs(const struct common *common, const char *output)
{
    struct opt_file files[OPT_FILES];
    const size_t count = opt_files(common, files);
    char file[4096];
    int code = AIRY_EXIT_OK;
    file_of(file, output);
    for (size_t i = 0; i < count && code == AIRY_EXIT_OK; i++)
        if (files[i].use == OPT_READ)
            code = keep_input(common, file, files[i].path);
    for (size_t i = 0; i < common->inputs.count && code == AIRY_EXIT_OK; i++)
        if (!is_output(common, i))
            code = keep_input(common, file, common->inputs.items[i]);
    return code;
}

int tool_keep_stack(const struct common *common, const char *output, const airy_stack *stack)
{
    char partial[4200];
    snprintf(partial, sizeof(partial), "%s.partial", output);
    const char *const names[] = {output, partial};
    for (size_t i = 0; i < 2; i++)
        if (airy_stack_uses(stack, names[i]))
            return tool_fail(common,
                             "output '%s' is a file that frames are read from; choose another name",
                             names[i]);
    return AIRY_EXIT_OK;
}

/* An output that is there already may be a file that an HDF5 input links to. */
static int keep_linked(const struct common *common, const char *output)
{
    static const airy_stack_params no_pixels = {.unverified = true};
    int code = AIRY_EXIT_OK;
    for (size_t i = 0; i < common->inputs.count && code == AIRY_EXIT_OK; i++) {
        const char *input = common->inputs.items[i];
        airy_stack *stack = NULL;
        struct stat status;
        if (!is_output(common, i) && stat_file(input, &status) && S_ISREG(status.st_mode) &&
            !airy_image_is_plain(input) &&
            airy_stack_create_with(&stack, &input, 1, &no_pixels) == AIRY_OK)
            code = tool_keep_stack(common, output, stack);
        airy_stack_destroy(&stack);
    }
    return code;
}

/* The folder that a file lies in; its last part. */
static const char *folder_of(char folder[4200], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, 4200, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return slash ? slash + 1 : path;
}

/* The folder's true name and the last part of path. */
static void full_name(char full[8400], const char *path)
{
    char folder[4200];
    const char *last = folder_of(folder, path);
    char *true_name = realpath(folder, NULL);
    snprintf(full, 8400, "%s/%s", true_name ? true_name : folder, last);
    free(true_name);
}

static bool one_name(const char *a, const char *b)
{
    struct stat status[2];
    char full[2][8400];
    if (stat(a, &status[0]) == 0 && stat(b, &status[1]) == 0)
        return is_same(&status[0], &status[1]);
    full_name(full[0], a);
    full_name(full[1], b);
    return strcmp(full[0], full[1]) == 0;
}

/* Two outputs of one name, or one that is the other's .partial. */
static bool outputs_clash(const char *output_a, const char *output_b)
{
    char a[4096], b[4096], partial[4200];
    file_of(a, output_a);
    file_of(b, output_b);
    bool clash = one_name(a, b);
    snprintf(partial, sizeof(partial), "%s.partial", a);
    clash = clash || one_name(partial, b);
    snprintf(partial, sizeof(partial), "%s.partial", b);
    return clash || one_name(a, partial);
}

int tool_exists_already(const struct common *common, const char *path)
{
    return tool_fail(common, "'%s' is there already; --force overwrites it", path);
}

int tool_check_format(const struct common *common, const char *output, airy_dtype dtype, int ndim)
{
    char why[1024];
    if (!output || !airy_image_has_format(output) ||
        airy_image_check_format(output, dtype, ndim) == AIRY_OK)
        return AIRY_EXIT_OK;
    snprintf(why, sizeof(why), "%s", airy_last_error());
    const bool one = ndim > 2 && opt_has(common->command, "frames") &&
                     airy_image_check_format(output, dtype, 2) == AIRY_OK;
    const bool picture = tool_has_suffix(output, ".png") && airy_dtype_size(dtype) > 2;
    tool_fail(common, "%s%s", why,
              one       ? "; --frames N takes one"
              : picture ? ", and 'airy view' draws pictures"
                        : "");
    return AIRY_EXIT_USAGE;
}

/* An image's name, of results of 1 + the dtype `holds`, or any (0). Exit code. */
static int check_image_name(const struct common *common, const char *path, int holds)
{
    char formats[TOOL_FORMATS];
    if (!airy_image_has_format(path)) {
        tool_image_suffixes(formats, holds ? (airy_dtype)(holds - 1) : AIRY_DTYPE_COUNT, 0);
        return tool_usage(common, "output '%s': expected a name that ends in %s", path, formats);
    }
    /* Of any it may be what every format holds, for those that this build lacks. */
    return tool_check_format(common, path, holds ? (airy_dtype)(holds - 1) : AIRY_DTYPE_U8, 0);
}

/* Each output by itself and beside the others; wrong use is told by exit code 2. */
static int check_names(const struct common *common, const struct opt_file *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = outputs[i].path;
        if (strcmp(path, "-") == 0)
            return tool_usage(common, "output '-': expected the name of a file, for results are no "
                                      "stream of bytes");
        if (outputs[i].use == OPT_WRITTEN_IMAGE &&
            (tool_has_suffix(path, ".gz") || tool_has_suffix(path, ".fz")))
            return tool_usage(common,
                              "output '%s': images are written plain, expected a name without its "
                              "last three characters",
                              path);
        const char *bracket = strrchr(path, '[');
        if (outputs[i].use == OPT_WRITTEN_IMAGE && bracket && path[strlen(path) - 1] == ']')
            return tool_usage(common,
                              "output '%s': an image is a file of its own, expected a name without "
                              "%s",
                              path, bracket);
        const int code = outputs[i].use == OPT_WRITTEN_IMAGE
                             ? check_image_name(common, path, outputs[i].holds)
                             : AIRY_EXIT_OK;
        if (code != AIRY_EXIT_OK)
            return code;
        for (size_t k = 0; k < i; k++)
            if (outputs_clash(path, outputs[k].path))
                return tool_usage(common, "'%s' and '%s' are one file; give each output its own",
                                  outputs[k].path, path);
    }
    return AIRY_EXIT_OK;
}

/* Links lead to what a process has open, as those of /dev/stderr do: a file must not replace them. */
static bool is_of_process(const char *path)
{
    char at[8400], full[8400], target[4096];
    snprintf(at, sizeof(at), "%s", path);
    for (int i = 0; i < 40; i++) { /* as many as the system follows */
        full_name(full, at);
        if (strncmp(full, "/proc/", 6) == 0)
            return true;
        const ssize_t n = readlink(full, target, sizeof(target) - 1);
        if (n < 0)
            return false;
        target[n] = 0;
        const int folder = target[0] == '/' ? 0 : (int)(strrchr(full, '/') - full) + 1;
        if (snprintf(at, sizeof(at), "%.*s%s", folder, full, target) >= (int)sizeof(at))
            return false;
    }
    return false;
}

/* What is written at the end of a run must not fail for its folder, or because it is one. */
static int check_folder(const struct common *common, const char *file)
{
    char folder[4200];
    struct stat status;
    folder_of(folder, file);
    if (!stat_file(folder, &status) || !S_ISDIR(status.st_mode))
        return tool_fail(common, "'%s': there is no folder '%s'; make it first", file, folder);
    const bool there = stat_file(file, &status);
    if (there && S_ISDIR(status.st_mode))
        return tool_fail(common, "output '%s' is a folder; add the name of a file", file);
    if ((there && !S_ISREG(status.st_mode)) || is_of_process(file))
        return tool_fail(common, "output '%s' is a device or a pipe; name a file", file);
    if (access(folder, W_OK | X_OK) != 0 && !tool_exists(file))
        return tool_fail(common, "'%s': nothing can be written into '%s'; choose another folder",
                         file, folder);
    return AIRY_EXIT_OK;
}

int tool_check_waiting(const struct common *common, const char *output)
{
    struct opt_file files[OPT_FILES];
    struct stat status;
    const size_t count = opt_files(common, files);
    for (size_t i = 0; i < count; i++)
        if (files[i].use == OPT_READ && files[i].path && !stat_file(files[i].path, &status))
            return tool_fail(common, "cannot open '%s': %s; check the path", files[i].path,
                             strerror(errno));
    return output ? check_folder(common, output) : AIRY_EXIT_OK;
}

/* An output that is there: what else a file of FILE::DATASET holds, force does not overwrite. */
static int check_loss(const struct common *common, const char *output, const char *file)
{
    const airy_status status = airy_image_check_others(output);
    if (status != AIRY_OK)
        return tool_failed(common, status);
    return common->force ? keep_linked(common, file) : tool_exists_already(common, file);
}

/* '-' is standard input for one command alone, unless there is a file of that name. Exit code. */
static int check_inputs(const struct common *common)
{
    for (size_t i = 0; i < common->inputs.count && !common->command->reads_pipe; i++)
        if (strcmp(common->inputs.items[i], "-") == 0 && !is_output(common, i) && !tool_exists("-"))
            return tool_usage(common, "input '-': expected the name of a file; 'airy oct' alone "
                                      "reads standard input, and lists and tables may come from "
                                      "/dev/stdin");
    return AIRY_EXIT_OK;
}

int tool_check_files(const struct common *common)
{
    struct opt_file outputs[2 * OPT_FILES];
    const size_t named = opt_files(common, outputs);
    size_t count = 0;
    for (size_t i = 0; i < named; i++)
        if (outputs[i].use != OPT_READ)
            outputs[count++] = outputs[i];
    for (size_t i = 0; i < common->inputs.count && count < 2 * OPT_FILES; i++)
        if (is_output(common, i))
            outputs[count++] = (struct opt_file){
                .path = common->inputs.items[i],
                .use = common->command->writes_image ? OPT_WRITTEN_IMAGE : OPT_WRITTEN,
                .holds = common->command->writes_holds};
    int code = check_inputs(common);
    if (code == AIRY_EXIT_OK)
        code = check_names(common, outputs, count);
    for (size_t i = 0; i < count && code == AIRY_EXIT_OK; i++) {
        char file[4096];
        file_of(file, outputs[i].path);
        code = tool_keep_inputs(common, file);
        if (code == AIRY_EXIT_OK)
            code = check_folder(common, file);
        if (code == AIRY_EXIT_OK && outputs[i].use != OPT_WRITTEN_OWN && !common->explain &&
            tool_exists(file))
            code = check_loss(common, outputs[i].path, file);
        if (code == AIRY_EXIT_OK && !common->explain)
            airy_file_remove_left(file);
    }
    return code;
}

int tool_failed_open(const struct common *common, const char *option)
{
    airy_error error;
    airy_error_get(&error);
    if (*option)
        snprintf(error.text, sizeof(error.text), "%.*s: %s", (int)strcspn(option, " "), option,
                 airy_last_error());
    return tool_failed_as(common, &error);
}

FILE *tool_open_text(const struct common *common, const char *option, const char *path)
{
    int fd = -1;
    if (airy_file_open_text(&fd, path) == AIRY_OK) {
        FILE *file = fdopen(fd, "r");
        if (file)
            return file;
        close(fd);
        tool_fail(common, "%s%s: out of memory", option, path);
        return NULL;
    }
    (void)tool_failed_open(common, option);
    return NULL;
}

static airy_status open_file(struct tool_file *file, const struct common *common, const char *path)
{
    int fd;
    *file = (struct tool_file){.common = common, .path = path};
    const airy_status status = airy_file_create(&fd, &file->partial, path);
    if (status != AIRY_OK)
        return status;
    file->file = fdopen(fd, "w");
    if (file->file)
        return AIRY_OK;
    airy_error error = {.status = AIRY_ERR_MEMORY};
    snprintf(error.text, sizeof(error.text), "%s: out of memory", path);
    close(fd);
    tool_file_drop(file);
    return airy_error_restore(&error);
}

int tool_file_begin(struct tool_file *file, const struct common *common, const char *path)
{
    if (!common->force && tool_exists(path))
        return tool_exists_already(common, path);
    const airy_status status = open_file(file, common, path);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(common, status);
}

/* The bytes of a file did not all reach it; fd: still open, or -1. */
static airy_status fail_written(struct tool_file *file, int fd, int why)
{
    airy_error error = {
        .status = AIRY_ERR_IO,
        .subject = AIRY_SUBJECT_FILE,
        .hint = why == ENOSPC || why == EDQUOT ? AIRY_HINT_SPACE : AIRY_HINT_ACCESS,
    };
    if (fd >= 0)
        close(fd);
    snprintf(error.name, sizeof(error.name), "%s", file->path);
    snprintf(error.text, sizeof(error.text), "'%s': it cannot be written: %s", file->path,
             strerror(why));
    tool_file_drop(file);
    return airy_error_restore(&error);
}

static airy_status close_file(struct tool_file *file, bool sync)
{
    FILE *printed = file->file;
    int why = fflush(printed) != 0 ? errno : ferror(printed) ? EIO : 0;
    const int fd = why ? -1 : fcntl(fileno(printed), F_DUPFD_CLOEXEC, 0);
    if (!why && fd < 0)
        why = errno;
    file->file = NULL;
    if (fclose(printed) != 0 && !why)
        why = errno;
    if (why)
        return fail_written(file, fd, why);
    return airy_file_commit(fd, file->partial, file->path, file->common->force, sync);
}

int tool_file_end(struct tool_file *file, bool sync)
{
    const airy_status status = close_file(file, sync);
    return status == AIRY_OK ? AIRY_EXIT_OK : tool_failed(file->common, status);
}

void tool_file_drop(struct tool_file *file)
{
    if (file->file)
        (void)fclose(file->file);
    airy_file_remove(file->partial);
    free(file->partial);
}
