/*
 * All messages of a run, kept in memory: those of the run by its hook, other warnings of the
 * library by the log of the process. Nothing is printed but what this program prints.
 *
 * Build: cc messages.c $(pkg-config --cflags --libs airy)
 * Run:   ./messages STACK.h5 GEOMETRY.poni
 */
#include <airy/geometry.h>
#include <airy/pipeline.h>
#include <stdio.h>
#include <stdlib.h>

struct messages {
    size_t count;
    char text[100][200];
};

static void keep(void *user, airy_log_level level, const char *text)
{
    static const char *const names[AIRY_LOG_COUNT] = {"", "error", "warning", "info", "debug"};
    struct messages *m = user;
    if (m->count < sizeof(m->text) / sizeof(m->text[0]))
        snprintf(m->text[m->count++], sizeof(m->text[0]), "%s: %s", names[level], text);
}

static airy_status integrate(const char *path, const char *poni, struct messages *of_run)
{
    airy_device *device = NULL;
    airy_stack *stack = NULL;
    airy_integrator *integrator = NULL;
    airy_geometry geometry;
    airy_stack_info frames;
    double *monitor = NULL;
    airy_run_params params = {.skip_bad = true, .message = keep, .user = of_run};
    airy_status status;

    if ((status = airy_device_create(&device, "cpu", NULL)) != AIRY_OK ||
        (status = airy_stack_create(&stack, &path, 1)) != AIRY_OK ||
        (status = airy_stack_get_info(stack, &frames)) != AIRY_OK ||
        (status = airy_geometry_read(&geometry, poni)) != AIRY_OK ||
        (status = airy_integrator_create(&integrator, device, &geometry, NULL)) != AIRY_OK)
        goto out;
    monitor = calloc(frames.frames, sizeof(*monitor));
    status = monitor ? AIRY_OK : AIRY_ERR_MEMORY;
    for (size_t i = 1; monitor && i < frames.frames; i++)
        monitor[i] = 1; /* that of frame 0 stays 0, so that this frame is left out */
    params.monitor = monitor;
    if (status == AIRY_OK)
        status = airy_integrate_stack(NULL, stack, &integrator, 1, &params, NULL);
out:
    free(monitor);
    airy_integrator_destroy(&integrator);
    airy_stack_destroy(&stack);
    airy_device_destroy(&device);
    return status;
}

int main(int argc, char **argv)
{
    static struct messages of_run, of_library; /* two threads may write at the same time */
    if (argc < 3)
        return EXIT_FAILURE;
    airy_log_set(keep, &of_library);
    airy_log_set_level(AIRY_LOG_INFO);
    const airy_status status = integrate(argv[1], argv[2], &of_run);
    airy_log_set(NULL, NULL);
    for (size_t i = 0; i < of_run.count; i++)
        printf("run: %s\n", of_run.text[i]);
    for (size_t i = 0; i < of_library.count; i++)
        printf("library: %s\n", of_library.text[i]);
    if (status != AIRY_OK)
        fprintf(stderr, "messages: %s: %s\n", airy_status_name(status), airy_last_error());
    return status == AIRY_OK && of_run.count ? EXIT_SUCCESS : EXIT_FAILURE;
}
