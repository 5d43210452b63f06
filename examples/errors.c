/*
 * Errors: ten failures, what each is about, and what to do next as a command, a C program and a
 * program with keyword arguments say it.
 *
 * Build: cc errors.c $(pkg-config --cflags --libs airy)
 * Run:   ./errors FILE          a text file, which holds no frames
 */
#include <airy/airy.h>
#include <stdio.h>
#include <string.h>

/* "--force", "--on-error skip", "'airy info'"; this command has one input. */
static bool command_style(void *user, char *text, size_t size, const char *name, const char *value)
{
    const bool flag = !value || strcmp(value, "on") == 0;
    (void)user;
    if (strchr(name, '('))
        snprintf(text, size, "'airy %.*s'", (int)strcspn(name, "("), name);
    else
        snprintf(text, size, "--%s%s%s", name, flag ? "" : " ", flag ? "" : value);
    return strcmp(name, "inputs") != 0;
}

static airy_status fail(int which, const char *path)
{
    static const char *const unreadable[] = {"nowhere.tif", "/tmp", "tcp://detector:31001"};
    static uint8_t pixel;
    static double centers[195 * 487];
    airy_image image = {.data = &pixel, .ndim = 2, .shape = {1, 1}, .dtype = AIRY_DTYPE_U8};
    airy_geometry geometry = {.dist = 0.1};
    const airy_codec_params codec = {.codec = AIRY_CODEC_BSLZ4, .elem_size = 4};
    airy_stack *stack = NULL;
    airy_device *device = NULL;
    airy_status status;
    if (which < 3)
        return airy_image_read(&image, unreadable[which]);
    switch (which) {
    case 3: /* it is there already */
        (void)airy_image_write(&image, "errors.npy", true);
        status = airy_image_write(&image, "errors.npy", false);
        remove("errors.npy");
        return status;
    case 4:
        return airy_stack_create(&stack, &path, 1);
    case 5:
        return airy_detector_find(&geometry.detector, "nosuch");
    case 6: /* q needs a wavelength */
        (void)airy_detector_find(&geometry.detector, "Pilatus100k");
        return airy_geometry_centers(&geometry, AIRY_UNIT_Q_NM, centers);
    case 7:
        return airy_device_create(&device, "cpu", &(airy_device_params){.threads = 100000});
    case 8:
        return airy_ring_open(&(airy_ring *){NULL}, "nobody", 0);
    default:
        return airy_decode(centers, sizeof(centers), "no chunk at all", 15, &codec);
    }
}

static void show(const char *face, airy_hint hint, airy_hint_style style)
{
    char text[AIRY_HINT_TEXT];
    if (airy_hint_render(text, sizeof(text), hint, style, NULL) > 0)
        printf("   %-8s %s\n", face, text);
}

int main(int argc, char **argv)
{
    for (int i = 0; i < 10; i++) {
        airy_error error;
        if (fail(i, argc > 1 ? argv[1] : __FILE__) == AIRY_OK)
            return 1;
        airy_error_get(&error);
        printf("%s: %s\n   about    %s %s\n", airy_status_name(error.status), error.text,
               airy_subject_name(error.subject), error.name);
        show("command", error.hint, command_style);
        show("C", error.hint, airy_hint_c);
        show("keyword", error.hint, airy_hint_keyword);
    }
    return 0;
}
