/*
 * The job integrate in all its forms, run: stacks as arrays, files and streams, which it follows or
 * not, alone or as two ranks, into memory or a folder of its own. Values are mostly ones that the
 * description of their parameter allows. What must hold: a refused value names its parameter, a run
 * leaves no temporary files but OUT.partial, and no input is changed; a second run gives the same rows.
 *
 * Input: how it runs (1 byte), then steps: parameter, form of the value, and the value.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "airy/airy.h"
#include "fuzz.h"

enum { FRAMES = 3, HEIGHT = 8, WIDTH = 9, PIXELS = HEIGHT * WIDTH, STEPS = 24, MOST = 512 };
enum { TEXT = 256, COUNTERS = 16, SIZE = 2, ROOM = 1 << 20 };

static char folder[64];
static uint16_t frames[FRAMES * PIXELS];
static float image[PIXELS];
static const char *const inputs[] = {"in/stack.h5", "in/f_0.npy", "in/f_1.npy", "in/image.npy"};
enum { INPUTS = sizeof(inputs) / sizeof(inputs[0]) };
static uint8_t *stored[INPUTS];
static size_t stored_size[INPUTS];

/* ---- the folder ---- */

static void write_all(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static bool is_same(const char *path, const uint8_t *bytes, size_t size)
{
    static uint8_t read[ROOM];
    FILE *file = fopen(path, "rb");
    const bool same = file && fread(read, 1, sizeof(read), file) == size &&
                      memcmp(read, bytes, size) == 0;
    if (file)
        (void)fclose(file);
    return same;
}

static void keep(size_t i)
{
    FILE *file = fopen(inputs[i], "rb");
    stored[i] = malloc(ROOM);
    require(file && stored[i]);
    stored_size[i] = fread(stored[i], 1, ROOM, file);
    require(stored_size[i] > 0 && stored_size[i] < ROOM && fclose(file) == 0);
}

static void write_inputs(void)
{
    const airy_host_view view = {
        .data = frames, .dtype = AIRY_DTYPE_U16, .ndim = 3, .shape = {FRAMES, HEIGHT, WIDTH}};
    airy_job *job = NULL;
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
        frames[i] = (uint16_t)(i * 7919 % 53);
    for (size_t i = 0; i < PIXELS; i++)
        image[i] = (float)(i % 5) / 4;
    require(airy_job_create(&job, "compress", NULL, NULL) == AIRY_OK);
    require(airy_job_set_array(job, "stack", &view) == AIRY_OK);
    require(airy_job_set(job, "output", inputs[0]) == AIRY_OK && airy_job_run(job) == AIRY_OK);
    airy_job_destroy(&job);
    for (size_t i = 1; i < INPUTS; i++) {
        const airy_image file = {.dtype = i == 3 ? AIRY_DTYPE_F32 : AIRY_DTYPE_U16,
                                 .ndim = 2,
                                 .shape = {HEIGHT, WIDTH},
                                 .data = i == 3 ? (void *)image : frames + i * PIXELS};
        require(airy_image_write(&file, inputs[i], true) == AIRY_OK);
    }
    for (size_t i = 0; i < INPUTS; i++)
        keep(i);
}

static void begin_folder(void)
{
    if (folder[0])
        return;
    snprintf(folder, sizeof(folder), "/tmp/airy-fuzz-integrate-%d", (int)getpid());
    require(mkdir(folder, 0700) == 0 && chdir(folder) == 0 && mkdir("in", 0700) == 0);
    write_inputs();
}

static void empty_folder(const char *path)
{
    DIR *open = opendir(path);
    char name[1024];
    require(open != NULL);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (strcmp(path, ".") == 0 && strcmp(entry->d_name, "in") == 0))
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (unlink(name) != 0 && (errno == EISDIR || errno == EPERM)) {
            empty_folder(name);
            (void)rmdir(name);
        }
    }
    (void)closedir(open);
}

/* A temporary file has six random letters behind its name, or is the .partial of no result. */
static void check_folder(void)
{
    DIR *open = opendir(".");
    require(open != NULL);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;) {
        const char *tail = strstr(entry->d_name, ".partial");
        require(!tail || strstr(entry->d_name, ".h5") || strstr(entry->d_name, ".nxs"));
        require(!tail || tail[8] == 0 || strncmp(tail, ".partial.files", 14) == 0 ||
                strstr(tail, ".h5"));
    }
    (void)closedir(open);
    for (size_t i = 0; i < INPUTS; i++)
        require(is_same(inputs[i], stored[i], stored_size[i]));
}

/* ---- values ---- */

static const char *const texts[] = {"0",    "1",       "-1",      "nan",      "inf",         "",
                                    "1,2",  "0.5,1",   "2,1",     "1x1",      "3x2",         "50",
                                    "20x9", "0:2",     "1:",      "2",        "1:3:2",       "all",
                                    "none", "1e-300",  "1e300",   "%s%n",     "\xff\xfe",    "?",
                                    "Si",   "Si,1e-3", "9x8,u16", "eiger_4M", "Pilatus 100k"};
static const char *const units[] = {"q_nm^-1", "q_A^-1",        "2th_deg",   "r_mm",
                                    "chi_deg", "d_A",           "qip_nm^-1", "qoop_nm^-1",
                                    "2th_rad", "log(q.nm)_None"};
static const char *const paths[] = {"in/stack.h5", "in/f_0.npy",   "in/f_*.npy",
                                    "in/f_#.npy",  "in/image.npy", "none.h5",
                                    "none_*.npy",  "in",           "in/stack.h5::/entry/data/data",
                                    "out.h5"};
static const char *const outputs[] = {"out.h5",       "out.nxs",   "out.dat",   "out.xye",
                                      "out.xy",       "out.chi",   "no/out.h5", "out_{series}.h5",
                                      "{series}.dat", "in/out.dat"};
#define PICK(in, list) ((list)[take(in) % (sizeof(list) / sizeof((list)[0]))])

/* Any name within the folder, with one of the endings. */
static void name_output(char text[TEXT], struct input *in)
{
    size_t n = take(in) % 40;
    const char *ending = strchr(PICK(in, outputs), '.');
    for (size_t i = 0; i < n; i++) {
        text[i] = (char)take(in);
        if (text[i] == '/')
            text[i] = '_';
    }
    snprintf(text + n, TEXT - n, "%s", ending);
}

static double take_number(struct input *in, const airy_parameter *p)
{
    static const double some[] = {0, 1, 2, 3, 0.5, 0.1, 1e-10, 12.4, -0.25, 100};
    const unsigned kind = take(in) % 16;
    return kind == 0 && isfinite(p->lo)   ? p->lo
           : kind == 1 && isfinite(p->hi) ? p->hi
                                          : some[kind % 10];
}

static void make_value(char text[TEXT], struct input *in, const airy_parameter *p)
{
    size_t n = 0, words = 0;
    const unsigned form = take(in) % 8;
    while (p->words && p->words[words])
        words++;
    if (form == 0)
        snprintf(text, TEXT, "%s", PICK(in, texts));
    else if (p->type == AIRY_PARAMETER_PATH && p->role == AIRY_ROLE_WRITTEN)
        form < 3 ? name_output(text, in) : (void)snprintf(text, TEXT, "%s", PICK(in, outputs));
    else if (p->type == AIRY_PARAMETER_PATH)
        snprintf(text, TEXT, "%s", PICK(in, paths));
    else if (words && (p->type != AIRY_PARAMETER_WHOLE || form == 1))
        snprintf(text, TEXT, "%s", p->words[take(in) % words]);
    else if (p->argument && strcmp(p->argument, "UNIT") == 0)
        snprintf(text, TEXT, "%s", PICK(in, units));
    else if (p->type == AIRY_PARAMETER_FLAG)
        snprintf(text, TEXT, "%s", form & 1 ? "on" : "off");
    else if (p->type == AIRY_PARAMETER_REAL)
        snprintf(text, TEXT, "%.17g", take_number(in, p));
    else if (p->type == AIRY_PARAMETER_WHOLE)
        snprintf(text, TEXT, "%.0f", take_number(in, p));
    else if (p->type == AIRY_PARAMETER_SHAPE)
        snprintf(text, TEXT, "%ux%u", take(in) % 32, take(in) % 16);
    else if (p->type == AIRY_PARAMETER_RANGE)
        snprintf(text, TEXT, "%u:%u:%u", take(in) % 4, take(in) % 5, 1 + take(in) % 3);
    else if (p->type == AIRY_PARAMETER_TUPLE)
        for (size_t i = 0; i < p->least + form % (p->most - p->least + 1); i++)
            n += (size_t)snprintf(text + n, TEXT - n, "%s%.17g", i ? "," : "", take_number(in, p));
    else
        snprintf(text, TEXT, "%s", PICK(in, texts));
}

static void check_refusal(airy_status status)
{
    airy_error error;
    airy_error_get(&error);
    if (status < AIRY_OK && status != AIRY_ERR_MEMORY)
        require(error.status == status && error.text[0] && error.subject != AIRY_SUBJECT_NONE &&
                error.name[0]);
}

static void set_array(airy_job *job, const airy_parameter *p, struct input *in)
{
    const unsigned form = take(in);
    const bool stack = p->role == AIRY_ROLE_INPUT;
    airy_host_view view = {.data = stack ? (const void *)frames : image,
                           .dtype = stack ? AIRY_DTYPE_U16 : AIRY_DTYPE_F32,
                           .ndim = stack ? 3 : 2,
                           .shape = {HEIGHT, WIDTH}};
    if (stack)
        memcpy(view.shape, (const size_t[]){FRAMES, HEIGHT, WIDTH}, 3 * sizeof(size_t));
    if (form % 8 == 7)
        view.shape[take(in) % 2]--;
    if (form % 16 == 6)
        view.ndim--;
    const airy_status status = airy_job_set_array(job, p->name, &view);
    check_refusal(status);
}

static const char *const dangerous[] = {"device",  "threads",        "publish",     "curve-key",
                                        "poni",    "allow",          "curve-allow", "curve-server",
                                        "profile", "external-folder"};

static void step(airy_job *job, struct input *in, const airy_job_info *info)
{
    char text[TEXT] = "", json[TEXT * 2];
    const airy_parameter *p = airy_job_parameter_at(info->name, take(in) % info->parameters);
    const unsigned form = take(in) % 8;
    for (size_t i = 0; i < sizeof(dangerous) / sizeof(dangerous[0]); i++)
        if (strcmp(p->name, dangerous[i]) == 0)
            return;
    if (p->array && form < 5) {
        set_array(job, p, in);
        return;
    }
    if (form == 7) {
        require(airy_job_reset(job, p->name) == AIRY_OK);
        return;
    }
    make_value(text, in, p);
    if (form == 6 && !strpbrk(text, "\"\\") && strlen(text) < TEXT - 1) {
        snprintf(json, sizeof(json), p->list ? "{\"%s\": [\"%s\"]}" : "{\"%s\": \"%s\"}", p->name,
                 text);
        (void)airy_job_set_json(job, json);
    } else {
        check_refusal(airy_job_set(job, p->name, text));
    }
}

/* What decides how long a run takes, whatever was set. */
static void set_limits(airy_job *job, bool streams)
{
    static const char *const limits[][2] = {{"device", "cpu"},        {"threads", "2"},
                                            {"memory-limit", "256M"}, {"follow-timeout", "0.1"},
                                            {"poll", "0.02"},         {"timeout", "0.05"}};
    airy_job_origin follow = AIRY_ORIGIN_DEFAULT;
    (void)airy_job_get_origin(job, "follow", &follow);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const bool of_follow = i == 3 || i == 4, of_stream = i == 5;
        (void)airy_job_reset(job, limits[i][0]);
        if ((!of_follow || follow != AIRY_ORIGIN_DEFAULT) && (!of_stream || streams))
            (void)airy_job_set(job, limits[i][0], limits[i][1]);
    }
}

static void set_geometry(airy_job *job)
{
    static const char *const values[][2] = {{"pixel", "1e-4,1e-4"},  {"dist", "0.1"},
                                            {"poni1", "0.0004"},     {"poni2", "0.0003"},
                                            {"wavelength", "1e-10"}, {"bins", "20"}};
    airy_job_origin origin;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (airy_job_get_origin(job, values[i][0], &origin) == AIRY_OK &&
            origin == AIRY_ORIGIN_DEFAULT)
            require(airy_job_set(job, values[i][0], values[i][1]) == AIRY_OK);
}

/* ---- ranks ---- */

struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int size, here;
    unsigned round;
    const void *parts[SIZE];
    int64_t counters[COUNTERS];
};

struct rank {
    struct meeting *meeting;
    airy_job_ranks ranks;
    airy_job *job;
    airy_status status;
};

static int64_t add(void *user, size_t counter, int64_t amount)
{
    struct meeting *m = ((struct rank *)user)->meeting;
    require(counter < COUNTERS);
    pthread_mutex_lock(&m->lock);
    const int64_t before = m->counters[counter];
    m->counters[counter] += amount;
    pthread_mutex_unlock(&m->lock);
    return before;
}

static void meet(struct meeting *m)
{
    pthread_mutex_lock(&m->lock);
    const unsigned round = m->round;
    if (++m->here == m->size) {
        m->here = 0;
        m->round++;
        pthread_cond_broadcast(&m->changed);
    }
    while (m->round == round)
        pthread_cond_wait(&m->changed, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static int gather(void *user, const void *mine, size_t bytes, void *all, void (*wait)(void *),
                  void *wait_user)
{
    const struct rank *rank = user;
    struct meeting *m = rank->meeting;
    if (wait)
        wait(wait_user);
    m->parts[rank->ranks.rank] = mine;
    meet(m);
    for (int i = 0; i < m->size; i++)
        memcpy((char *)all + (size_t)i * bytes, m->parts[i], bytes);
    meet(m);
    return 0;
}

/* ---- a run ---- */

struct hooks {
    struct input in;
    bool stops;
    airy_job *destroyed;
};

static bool take_event(void *user, const airy_job_event *event)
{
    struct hooks *h = user;
    double sum = 0;
    for (size_t i = 0; event->intensity && i < event->radial_bins; i++)
        sum += event->intensity[i] + event->radial[i];
    require(event->text != NULL && !(sum > 1e308));
    return !h->stops || take(&h->in) % 8;
}

static bool take_step(void *user, size_t done, size_t total)
{
    struct hooks *h = user;
    (void)done;
    (void)total;
    return !h->stops || take(&h->in) % 8;
}

static void take_message(void *user, airy_log_level level, const char *text)
{
    (void)user;
    (void)level;
    require(text && text[0]);
}

/* Started, and ended early where nothing comes: a stream is waited for without end. */
static airy_status run_started(airy_job *job, unsigned fetched)
{
    const airy_job_event *event = NULL;
    airy_status status = airy_job_start(job);
    if (status != AIRY_OK)
        return status;
    for (unsigned i = 0; i < fetched; i++) {
        status = airy_job_next(job, &event, 0.05);
        if ((status == AIRY_OK && !event) || status == AIRY_ERR_TIMED_OUT)
            break;
    }
    if (status == AIRY_ERR_TIMED_OUT)
        airy_job_cancel(job);
    return airy_job_finish(job);
}

static void look_at_results(airy_job *job, const airy_job_info *info)
{
    airy_host_view view;
    char *json = NULL;
    unsigned sum = 0;
    for (size_t i = 0; i < info->results; i++) {
        if (airy_job_get_array(job, airy_job_result_at(info->name, i)->name, &view) != AIRY_OK)
            continue;
        size_t size = airy_dtype_size(view.dtype);
        for (int k = 0; k < view.ndim; k++)
            size *= view.shape[k];
        for (size_t k = 0; k < size; k++)
            sum += ((const uint8_t *)view.data)[k];
    }
    require(airy_job_results_json(job, &json) == AIRY_OK && json && sum != 1u << 31);
    airy_job_text_free(json);
    require(airy_job_summary(job) != NULL);
}

/* The configuration of a result is one that the job takes. */
static void replay(const airy_job *job, const char *name)
{
    const char *text = NULL;
    airy_job *other = NULL;
    if (airy_job_get_text(job, "configuration", &text) != AIRY_OK)
        return;
    require(airy_job_create(&other, name, NULL, NULL) == AIRY_OK);
    require(airy_job_set_configuration(other, text) == AIRY_OK);
    airy_job_destroy(&other);
}

/* The same rows again, but for those of a hook that has stopped. */
static void run_again(airy_job *job)
{
    airy_host_view view;
    if (airy_job_get_array(job, "intensity", &view) != AIRY_OK)
        return;
    const size_t size = sizeof(float) * view.shape[0] * view.shape[1] *
                        (view.ndim > 2 ? view.shape[2] : 1);
    void *first = malloc(size);
    require(first != NULL);
    memcpy(first, view.data, size);
    if (airy_job_run(job) >= AIRY_OK && airy_job_get_array(job, "intensity", &view) == AIRY_OK)
        require(memcmp(first, view.data, size) == 0);
    free(first);
}

static airy_job *make_job(struct input in, const airy_job_info *info, const airy_job_hooks *hooks,
                          const char *stream)
{
    airy_job *job = NULL;
    require(airy_job_create(&job, info->name, NULL, hooks) == AIRY_OK);
    for (int i = 0; i < STEPS && in.left > 0; i++)
        step(job, &in, info);
    if (stream) {
        (void)airy_job_reset(job, "stack");
        require(airy_job_set(job, "stack", stream) == AIRY_OK);
    }
    set_limits(job, stream != NULL);
    set_geometry(job);
    return job;
}

static void *run_rank(void *user)
{
    struct rank *rank = user;
    rank->status = airy_job_run(rank->job);
    return NULL;
}

static void run_ranks(struct input in, const airy_job_info *info)
{
    struct meeting m = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .size = SIZE};
    struct rank ranks[SIZE];
    pthread_t threads[SIZE];
    for (int i = 0; i < SIZE; i++) {
        ranks[i] = (struct rank){.meeting = &m};
        ranks[i].ranks = (airy_job_ranks){.rank = i,
                                          .size = SIZE,
                                          .local_rank = i,
                                          .local_size = SIZE,
                                          .host = "host",
                                          .add = add,
                                          .counters = COUNTERS,
                                          .gather = gather,
                                          .user = &ranks[i]};
        const airy_job_hooks hooks = {.message = take_message, .ranks = &ranks[i].ranks};
        ranks[i].job = make_job(in, info, &hooks, NULL);
    }
    for (int i = 0; i < SIZE; i++)
        require(pthread_create(&threads[i], NULL, run_rank, &ranks[i]) == 0);
    for (int i = 0; i < SIZE; i++)
        pthread_join(threads[i], NULL);
    require(ranks[0].status == ranks[1].status);
    for (int i = 0; i < SIZE; i++)
        airy_job_destroy(&ranks[i].job);
}

/* ---- a detector ---- */

struct detector {
    airy_stream_sender *sender;
    struct input in;
};

static void *send_series(void *user)
{
    enum { PATIENCE_NS = 100000000 };
    struct detector *d = user;
    const size_t size = PIXELS * sizeof(uint16_t);
    const airy_codec_params plain = {.codec = AIRY_CODEC_NONE};
    const airy_stream_series series = {.id = take(&d->in),
                                       .unique_id = "u",
                                       .images = 1 + take(&d->in) % 5,
                                       .height = HEIGHT,
                                       .width = WIDTH,
                                       .dtype = AIRY_DTYPE_U16};
    bool sent = false;
    if (airy_stream_send_start(d->sender, &series, PATIENCE_NS, &sent) != AIRY_OK || !sent)
        return NULL;
    for (size_t i = 0; i < FRAMES && sent; i++) {
        airy_stream_image *message = NULL;
        const airy_stream_exposure exposure = {.image_id = take(&d->in) % 8 ? i : take(&d->in) % 6,
                                               .stop_ns = i};
        require(airy_stream_image_create(&message, &series, &plain, &size) == AIRY_OK);
        memcpy(airy_stream_image_data(message, 0), frames + i * PIXELS, size);
        if (airy_stream_send_image(d->sender, message, &series, &exposure, PATIENCE_NS, &sent) !=
            AIRY_OK)
            sent = false;
        airy_stream_image_destroy(&message);
    }
    if (sent && take(&d->in) % 4)
        (void)airy_stream_send_end(d->sender, &series, PATIENCE_NS, &sent);
    return NULL;
}

static void run_stream(struct input in, const airy_job_info *info, const airy_job_hooks *hooks)
{
    const airy_stream_sender_params params = {.url = "tcp://127.0.0.1:*"};
    struct detector d = {.in = in};
    pthread_t thread;
    require(airy_stream_sender_create(&d.sender, &params) == AIRY_OK);
    airy_job *job = make_job(in, info, hooks, airy_stream_sender_url(d.sender));
    if (airy_job_check(job) == AIRY_OK) {
        require(pthread_create(&thread, NULL, send_series, &d) == 0);
        (void)run_started(job, 1000);
        pthread_join(thread, NULL);
        look_at_results(job, info);
    }
    airy_job_destroy(&job);
    airy_stream_sender_destroy(&d.sender, 0);
}

static void run_alone(struct input in, const airy_job_info *info, const airy_job_hooks *hooks,
                      unsigned how)
{
    airy_job *job = make_job(in, info, hooks, NULL);
    char *plan = NULL;
    check_refusal(airy_job_check(job));
    if (how & 1)
        (void)airy_job_resolve(job);
    require(airy_job_get_plan(job, &plan) == AIRY_OK);
    airy_job_text_free(plan);
    const airy_status status = how & 2 ? run_started(job, how & 4 ? 2 : 1000) : airy_job_run(job);
    require(status >= AIRY_OK || airy_last_error()[0]);
    look_at_results(job, info);
    if (status == AIRY_OK) {
        replay(job, info->name);
        run_again(job);
    }
    airy_job_destroy(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size < MOST ? size : MOST};
    airy_job_info info = {0};
    begin_folder();
    for (size_t i = 0; i < INPUTS; i++)
        if (!is_same(inputs[i], stored[i], stored_size[i]))
            write_all(inputs[i], stored[i], stored_size[i]);
    const unsigned how = take(&in);
    struct hooks user = {.in = {data, size}, .stops = how & 8};
    const airy_job_hooks hooks = {
        .event = take_event, .progress = take_step, .message = take_message, .user = &user};
    require(airy_job_describe(&info, "integrate") == AIRY_OK);
    if (how >> 4 == 1)
        run_ranks(in, &info);
    else if (how >> 4 == 2)
        run_stream(in, &info, &hooks);
    else
        run_alone(in, &info, &hooks, how);
    check_folder();
    empty_folder(".");
    return 0;
}
