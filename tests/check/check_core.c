#include "check_core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "core/objects.h"
#include "core/registry.h"

/* Devices that are not there, for the rules of specs. */
static void make_entries(struct airy_device_entry entries[6])
{
    static const struct {
        const char *spec, *native, *name, *why;
        bool gpu;
    } rows[6] = {
        {"cpu", "cpu", "Acme Core 9", "", false},
        {"opencl:0:0", "opencl:0:0", "pthread-Acme Core 9", "", false},
        {"gpu:0", "opencl:1:0", "Borg B100", "no double precision", true},
        {"gpu:1", "opencl:1:1", "Borg B200", "", true},
        {"gpu:2", "opencl:1:2", "Borg B200", "", true},
        {"opencl:2", "opencl:2", "Old platform", "it is broken", false},
    };
    memset(entries, 0, 6 * sizeof(entries[0]));
    for (int i = 0; i < 6; i++) {
        snprintf(entries[i].info.spec, sizeof(entries[i].info.spec), "%s", rows[i].spec);
        snprintf(entries[i].native, sizeof(entries[i].native), "%s", rows[i].native);
        snprintf(entries[i].info.name, sizeof(entries[i].info.name), "%s", rows[i].name);
        snprintf(entries[i].info.why, sizeof(entries[i].info.why), "%s", rows[i].why);
        entries[i].info.usable = !*rows[i].why;
        entries[i].info.gpu = rows[i].gpu;
    }
}

static void check_spec_rules(struct check *c)
{
    if (!check_case(c, "spec_rules"))
        return;
    static const struct {
        const char *spec;
        size_t want;
    } good[] = {{NULL, 3},      {"cpu", 0},         {"CPU", 0},        {"gpu", 3},
                {"gpu:1", 3},   {"GPU:2", 4},       {"opencl:0:0", 1}, {"opencl:1:2", 4},
                {"pthread", 1}, {"PTHREAD-acme", 1}};
    static const struct {
        const char *spec;
        airy_status status;
        const char *part;
    } bad[] = {
        {"", AIRY_ERR_PARAM, "empty"},
        {"gpu:", AIRY_ERR_PARAM, "gpu:N"},
        {"gpu:all", AIRY_ERR_PARAM, "gpu:all"},
        {"gpu:-1", AIRY_ERR_PARAM, "gpu:N"},
        {"gpu:12345", AIRY_ERR_PARAM, "gpu:N"},
        {"opencl:1", AIRY_ERR_PARAM, "opencl:PLATFORM:DEVICE"},
        {"opencl:1:0:0", AIRY_ERR_PARAM, "opencl:PLATFORM:DEVICE"},
        {"opencl:a:b", AIRY_ERR_PARAM, "opencl:PLATFORM:DEVICE"},
        {"gpu:7", AIRY_ERR_DEVICE,
         "there is no device 'gpu:7'; there are: cpu (Acme Core 9), opencl:0:0"},
        {"opencl:9:9", AIRY_ERR_DEVICE, "there is no device"},
        {"nvidia", AIRY_ERR_DEVICE, "not usable: it is broken"},
        {"gpu:0", AIRY_ERR_DEVICE, "device gpu:0 (Borg B100) cannot be used: no double precision"},
        {"b100", AIRY_ERR_DEVICE, "cannot be used"},
        {"opencl", AIRY_ERR_DEVICE, "'opencl' means more than one device: opencl:0:0 (pthread"},
        {"b200", AIRY_ERR_DEVICE,
         "'b200' means more than one device: gpu:1 (Borg B200), gpu:2 (Borg B200)"},
        {"acme", AIRY_ERR_DEVICE, "more than one device"},
        {"Old", AIRY_ERR_DEVICE, "it is broken"},
    };
    struct airy_device_entry entries[6];
    make_entries(entries);
    size_t index = 99;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        CHECK_OK(c, airy_device_match(&index, entries, 6, good[i].spec));
        if (index != good[i].want)
            check_failed(c, __FILE__, __LINE__, "%s: entry %zu, want %zu", good[i].spec, index,
                         good[i].want);
    }
    index = 99;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_FAILS(c, airy_device_match(&index, entries, 6, bad[i].spec), bad[i].status,
                    bad[i].part);
    CHECK(c, index == 99);
    CHECK_OK(c, airy_device_match(&index, entries, 3, "OpenCL"));
    CHECK(c, index == 1);
    CHECK_FAILS(c, airy_device_match(&index, entries, 1, "opencl"), AIRY_ERR_DEVICE,
                "there is no device 'opencl'; there are: cpu");
    /* Without a usable GPU the CPU is the default, and "gpu" is an error. */
    CHECK_OK(c, airy_device_match(&index, entries, 3, NULL));
    CHECK(c, index == 0);
    CHECK_FAILS(c, airy_device_match(&index, entries, 3, "gpu"), AIRY_ERR_DEVICE,
                "no usable GPU; there are: cpu");
    CHECK_FAILS(c, airy_device_match(&index, &entries[5], 1, NULL), AIRY_ERR_DEVICE,
                "no usable device");
}

static void check_device_list(struct check *c)
{
    if (!check_case(c, "device_list"))
        return;
    airy_device_info *list = NULL, info;
    size_t count = 0, defaults = 0;
    bool found = false;
    CHECK_FAILS(c, airy_device_list(NULL, &count), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_list(&list, NULL), AIRY_ERR_PARAM, "NULL");
    if (!CHECK_OK(c, airy_device_list(&list, &count)))
        return;
    CHECK(c, count >= 1 && strcmp(list[0].spec, "cpu") == 0 && list[0].usable);
    for (size_t i = 0; i < count; i++) {
        defaults += list[i].is_default;
        found = found || strcmp(list[i].spec, c->spec) == 0;
        CHECK(c, list[i].usable == (list[i].why[0] == 0));
        CHECK(c, !list[i].usable ||
                     (list[i].memory > 0 && list[i].max_alloc > 0 && list[i].units > 0));
    }
    CHECK(c, defaults <= 1 && found);
    airy_device_list_free(list);
    airy_device_list_free(NULL);
    CHECK_OK(c, airy_device_get_info(c->device, &info));
    CHECK(c, strcmp(info.spec, c->spec) == 0 && info.usable && info.memory > 0 &&
                 info.memory_free <= info.memory);
    CHECK_FAILS(c, airy_device_get_info(NULL, &info), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_get_info(c->device, NULL), AIRY_ERR_PARAM, "NULL");
}

static void check_create_all(struct check *c)
{
    if (!check_case(c, "device_create_all"))
        return;
    airy_device **devices = NULL;
    size_t count = 0;
    const airy_device_params three = {.threads = 3};
    CHECK_FAILS(c, airy_device_create_all(NULL, &count, "cpu", NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_create_all(&devices, NULL, "cpu", NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_create_all(&devices, &count, "cpu,CPU", NULL), AIRY_ERR_PARAM,
                "both device cpu");
    CHECK_FAILS(c, airy_device_create_all(&devices, &count, "cpu,", NULL), AIRY_ERR_PARAM, "empty");
    CHECK_FAILS(c, airy_device_create_all(&devices, &count, "cpu,gpu:9999", NULL), AIRY_ERR_DEVICE,
                "gpu:9999");
    CHECK(c, devices == NULL && count == 0);
    CHECK_OK(c, airy_device_create_all(&devices, &count, c->spec, &three));
    CHECK(c, count == 1 && devices && strcmp(airy_device_spec(devices[0]), c->spec) == 0);
    airy_device_destroy_all(&devices, count);
    CHECK(c, devices == NULL);
    airy_device_destroy_all(NULL, 0);
    if (c->is_cpu)
        return;
    char both[80];
    snprintf(both, sizeof(both), "%s,cpu", c->spec);
    CHECK_OK(c, airy_device_create_all(&devices, &count, both, &three));
    CHECK(c, count == 2 && devices && strcmp(airy_device_spec(devices[0]), c->spec) == 0 &&
                 strcmp(airy_device_spec(devices[1]), "cpu") == 0);
    airy_device_destroy_all(&devices, count);
}

static void check_device_create(struct check *c)
{
    if (!check_case(c, "device_create"))
        return;
    airy_device *device = NULL;
    const airy_device_params crowd = {.threads = 1025}, three = {.threads = 3};
    CHECK_FAILS(c, airy_device_create(NULL, "cpu", NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_create(&device, "cpu", &crowd), AIRY_ERR_PARAM,
                "threads = 1025, expected at most 1024");
    CHECK_FAILS(c, airy_device_create(&device, "", NULL), AIRY_ERR_PARAM, "empty");
    CHECK_FAILS(c, airy_device_create(&device, "no such thing", NULL), AIRY_ERR_DEVICE,
                "there are: cpu");
    CHECK_FAILS(c, airy_device_create(&device, "gpu:9999", NULL), AIRY_ERR_DEVICE, "gpu:9999");
    CHECK(c, device == NULL);
    CHECK_OK(c, airy_device_create(&device, c->spec, &three));
    CHECK(c, device && airy_pool_size(device->pool) == 3 &&
                 strcmp(airy_device_spec(device), c->spec) == 0);
    airy_device_destroy(&device);
    CHECK(c, device == NULL);
    airy_device_destroy(&device);
    airy_device_destroy(NULL);

    CHECK_FAILS(c, airy_device_create(&device, "gpu:all", NULL), AIRY_ERR_PARAM, "takes one");
    CHECK_FAILS(c, airy_device_create(&device, "cpu,gpu", NULL), AIRY_ERR_PARAM, "takes one");

    const char *set = getenv("AIRY_DEVICE");
    char *before = set ? strdup(set) : NULL;
    setenv("AIRY_DEVICE", "cpu", 1);
    CHECK_OK(c, airy_device_create(&device, NULL, NULL));
    CHECK(c, device && strcmp(airy_device_spec(device), "cpu") == 0);
    airy_device_destroy(&device);
    setenv("AIRY_DEVICE", "no such thing", 1);
    CHECK_FAILS(c, airy_device_create(&device, NULL, NULL), AIRY_ERR_DEVICE,
                "AIRY_DEVICE=no such thing: there is no");
    if (before)
        setenv("AIRY_DEVICE", before, 1);
    else
        unsetenv("AIRY_DEVICE");
    free(before);
}

static void check_memory_accounts(struct check *c)
{
    if (!check_case(c, "memory_accounts"))
        return;
    const airy_device_params params = {.memory_limit = 1 << 20};
    const size_t small = 1000, half = 1 << 19, big = (1 << 20) - 500;
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *a = NULL, *b = NULL, *d = NULL;
    airy_memory_info m;
    if (!CHECK_OK(c, airy_device_create(&device, c->spec, &params)) ||
        !CHECK_OK(c, airy_queue_create(&queue, device)))
        return;
    CHECK_OK(c, airy_device_memory(device, &m));
    CHECK(c, m.in_use == 0 && m.peak == 0 && m.count == 0 && m.largest == 0 && m.limit == 1 << 20);
    CHECK_OK(c, airy_array_create(&a, device, AIRY_DTYPE_U8, 1, &small));
    CHECK_OK(c, airy_array_create(&b, device, AIRY_DTYPE_U8, 1, &half));
    CHECK_OK(c, airy_device_memory(device, &m));
    CHECK(c, m.in_use == small + half && m.peak == m.in_use && m.count == 2 && m.largest == half);
    CHECK_FAILS(c, airy_array_create(&d, device, AIRY_DTYPE_U8, 1, &big), AIRY_ERR_MEMORY,
                "wanted 1048076 bytes, in use 525288, limit 1048576, largest block 524288");
    CHECK(c, d == NULL);
    airy_array_destroy(&b);
    CHECK_OK(c, airy_device_memory(device, &m));
    CHECK(c, m.in_use == small && m.peak == small + half && m.count == 1 && m.largest == small);
    /* Everything stays usable; a limit is reached exactly, not passed by one byte. */
    const size_t rest = (1 << 20) - small, one = 1;
    CHECK_OK(c, airy_array_create(&b, device, AIRY_DTYPE_U8, 1, &rest));
    CHECK_FAILS(c, airy_array_create(&d, device, AIRY_DTYPE_U8, 1, &one), AIRY_ERR_MEMORY,
                "wanted 1 bytes");
    CHECK_OK(c, airy_array_fill(queue, b, 7));
    CHECK_OK(c, airy_queue_finish(queue));
    airy_buffer *scratch = NULL;
    CHECK_FAILS(c, airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, 100, &scratch), AIRY_ERR_MEMORY,
                "small scratch");
    airy_array_destroy(&a);
    airy_array_destroy(&b);
    CHECK_OK(c, airy_queue_scratch(queue, AIRY_SCRATCH_SMALL, 100, &scratch));
    /* Host memory has the same limit, counted apart; on the CPU it is the same memory. */
    const bool one_memory = device->backend->in_place;
    const size_t free_bytes = (1 << 19) - (one_memory ? 100 : 0);
    airy_host *host = NULL, *more = NULL;
    CHECK_OK(c, airy_host_create(&host, device, 1 << 19));
    CHECK_FAILS(c, airy_host_create(&more, device, free_bytes + 1), AIRY_ERR_MEMORY,
                one_memory ? "wanted 524189 bytes, in use 524388, limit 1048576"
                           : "wanted 524289 bytes, in use 524288, limit 1048576");
    CHECK_OK(c, airy_host_create(&more, device, free_bytes));
    if (one_memory)
        CHECK_FAILS(c, airy_array_create(&d, device, AIRY_DTYPE_U8, 1, &one), AIRY_ERR_MEMORY,
                    "in use 1048576, limit 1048576");
    airy_host_destroy(&more);
    airy_host_destroy(&host);
    CHECK_FAILS(c, airy_device_memory(NULL, &m), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_device_memory(device, NULL), AIRY_ERR_PARAM, "NULL");
    airy_queue_destroy(&queue);
    CHECK_OK(c, airy_device_memory(device, &m));
    CHECK(c, m.in_use == 0 && m.count == 0);
    airy_device_destroy(&device);
}

static void check_out_of_memory(struct check *c)
{
    if (!check_case(c, "out_of_memory"))
        return;
    airy_device_info info;
    airy_memory_info before, after;
    airy_array *a = NULL;
    CHECK_OK(c, airy_device_get_info(c->device, &info));
    CHECK_OK(c, airy_device_memory(c->device, &before));
    const size_t over = (size_t)info.memory + 4096, huge[2] = {SIZE_MAX / 2, 4};
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 1, &over), AIRY_ERR_MEMORY,
                "wanted");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 2, huge), AIRY_ERR_MEMORY,
                "address space");
    CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_F64, 1, huge), AIRY_ERR_MEMORY,
                "address space");
    if (info.max_alloc < info.memory) {
        const size_t piece = (size_t)info.max_alloc + 4096;
        CHECK_FAILS(c, airy_array_create(&a, c->device, AIRY_DTYPE_U8, 1, &piece), AIRY_ERR_MEMORY,
                    "largest single allocation");
    }
    airy_host *host = NULL;
    if (c->is_cpu)
        CHECK_FAILS(c, airy_host_create(&host, c->device, over), AIRY_ERR_MEMORY,
                    "page-locked memory of cpu, wanted");
    CHECK(c, a == NULL && host == NULL);
    CHECK_OK(c, airy_device_memory(c->device, &after));
    CHECK(c, before.in_use == after.in_use && before.count == after.count);
}

static void check_queue(struct check *c)
{
    if (!check_case(c, "queue"))
        return;
    airy_queue *q = NULL;
    CHECK_FAILS(c, airy_queue_create(NULL, c->device), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_queue_create(&q, NULL), AIRY_ERR_PARAM, "NULL");
    if (!CHECK_OK(c, airy_queue_create(&q, c->device)))
        return;
    CHECK(c, airy_queue_device(q) == c->device);
    CHECK_OK(c, airy_queue_flush(q));
    CHECK_OK(c, airy_queue_finish(q));
    CHECK_FAILS(c, airy_queue_flush(NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_queue_finish(NULL), AIRY_ERR_PARAM, "NULL");
    /* The first error of the work is kept until finish, and told once. */
    airy_queue_set_error(q, airy_fail(AIRY_ERR_CORRUPT, "frame 3, block 4"));
    airy_queue_set_error(q, airy_fail(AIRY_ERR_DEVICE, "something later"));
    airy_queue_set_error(q, AIRY_OK);
    CHECK_FAILS(c, airy_queue_finish(q), AIRY_ERR_CORRUPT, "frame 3, block 4");
    CHECK_OK(c, airy_queue_finish(q));

    airy_buffer *small = NULL, *same = NULL, *other = NULL, *large = NULL;
    CHECK_OK(c, airy_queue_scratch(q, AIRY_SCRATCH_FRAMES, 1000, &small));
    CHECK_OK(c, airy_queue_scratch(q, AIRY_SCRATCH_FRAMES, 10, &same));
    CHECK_OK(c, airy_queue_scratch(q, AIRY_SCRATCH_BLOCKS, 10, &other));
    CHECK(c, small && same == small && other != small);
    CHECK_OK(c, airy_queue_scratch(q, AIRY_SCRATCH_FRAMES, 5000, &large));
    CHECK(c, large && large->size >= 5000);
    airy_queue_destroy(&q);
    CHECK(c, q == NULL);
    airy_queue_destroy(&q);
    airy_queue_destroy(NULL);
}

static void check_event(struct check *c)
{
    if (!check_case(c, "event"))
        return;
    airy_device *other = NULL;
    airy_queue *q = NULL, *foreign = NULL;
    airy_event *e = NULL;
    const size_t n = 100000;
    CHECK_FAILS(c, airy_event_create(NULL, c->device), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_event_create(&e, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_OK(c, airy_event_create(&e, c->device));
    CHECK_OK(c, airy_queue_create(&q, c->device));
    if (!e || !q)
        return;
    /* A never recorded event has happened. */
    bool happened = false;
    CHECK_OK(c, airy_event_wait(e));
    CHECK_OK(c, airy_event_is_done(e, &happened));
    CHECK(c, happened);
    CHECK_OK(c, airy_queue_wait(q, e));
    /* One queue writes, the other copies after the event; twice with one event object. */
    airy_array *a = check_output(c, AIRY_DTYPE_U32, 1, &n),
               *b = check_output(c, AIRY_DTYPE_U32, 1, &n);
    uint32_t *want = check_alloc(c, n * sizeof(*want));
    CHECK_OK(c, airy_queue_finish(c->queue));
    for (uint32_t round = 1; round <= 2; round++) {
        CHECK_OK(c, airy_array_fill(c->queue, a, round));
        CHECK_OK(c, airy_event_record(e, c->queue));
        CHECK_OK(c, airy_queue_flush(c->queue));
        CHECK_OK(c, airy_queue_wait(q, e));
        CHECK_OK(c, airy_array_copy(q, b, a));
        CHECK_OK(c, airy_queue_finish(q));
        CHECK_OK(c, airy_event_wait(e));
        CHECK_OK(c, airy_event_is_done(e, &happened));
        CHECK(c, happened);
        for (size_t i = 0; i < n; i++)
            want[i] = round;
        check_array(c, b, want, NULL);
    }
    CHECK_FAILS(c, airy_event_record(NULL, q), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_event_record(e, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_queue_wait(NULL, e), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_queue_wait(q, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_event_wait(NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_event_is_done(NULL, &happened), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_event_is_done(e, NULL), AIRY_ERR_PARAM, "NULL");
    CHECK_OK(c, airy_device_create(&other, c->spec, NULL));
    CHECK_OK(c, airy_queue_create(&foreign, other));
    CHECK_FAILS(c, airy_event_record(e, foreign), AIRY_ERR_PARAM, "event is of device");
    CHECK_FAILS(c, airy_queue_wait(foreign, e), AIRY_ERR_PARAM, "event is of device");
    airy_queue_destroy(&foreign);
    airy_device_destroy(&other);
    airy_event_destroy(&e);
    CHECK(c, e == NULL);
    airy_event_destroy(&e);
    airy_event_destroy(NULL);
    airy_queue_destroy(&q);
}

static void check_host(struct check *c)
{
    if (!check_case(c, "host_memory"))
        return;
    airy_host *a = NULL, *b = NULL, *d = NULL;
    airy_memory_info before, m;
    CHECK_FAILS(c, airy_host_create(NULL, c->device, 8), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_host_create(&a, NULL, 8), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_host_create(&a, c->device, 0), AIRY_ERR_PARAM,
                "size = 0, expected at least 1");
    CHECK_OK(c, airy_device_memory(c->device, &before));
    CHECK_OK(c, airy_host_create(&a, c->device, 1000));
    CHECK_OK(c, airy_host_create(&b, c->device, 5 << 20));
    CHECK_OK(c, airy_host_create(&d, c->device, 10));
    if (!a || !b || !d)
        return;
    char *p = airy_host_data(b);
    CHECK(c, airy_host_size(b) == 5 << 20 && (uintptr_t)p % 64 == 0);
    memset(p, 1, airy_host_size(b));
    CHECK(c, airy_host_contains(c->device, p, 5 << 20));
    CHECK(c, airy_host_contains(c->device, p + 100, 10));
    CHECK(c, airy_host_contains(c->device, p + (5 << 20) - 1, 1));
    CHECK(c, !airy_host_contains(c->device, p + 1, 5 << 20));
    CHECK(c, !airy_host_contains(c->device, p - 1, 1));
    CHECK(c, !airy_host_contains(c->device, p, SIZE_MAX));
    CHECK(c, !airy_host_contains(c->device, &m, sizeof(m)));
    CHECK_OK(c, airy_device_memory(c->device, &m));
    CHECK(c,
          m.host_in_use == before.host_in_use + 1010 + (5 << 20) && m.host_peak >= m.host_in_use);
    CHECK(c, m.in_use == before.in_use);
    airy_host_destroy(&b);
    CHECK(c, b == NULL && !airy_host_contains(c->device, p, 1));
    airy_host_destroy(&a);
    airy_host_destroy(&d);
    airy_host_destroy(&d);
    airy_host_destroy(NULL);
    CHECK_OK(c, airy_device_memory(c->device, &m));
    CHECK(c, m.host_in_use == before.host_in_use);
}

enum { PARALLEL = 4, ROUNDS = 20 };

struct lane {
    airy_device *device;
    unsigned number;
    bool ok;
};

/* One thread with its own queue and arrays. */
static void *run_lane(void *arg)
{
    struct lane *lane = arg;
    const size_t n = 30000 + lane->number;
    airy_queue *q = NULL;
    airy_array *a = NULL, *b = NULL;
    uint16_t *data = calloc(n, sizeof(*data));
    bool ok = data && airy_queue_create(&q, lane->device) == AIRY_OK &&
              airy_array_create(&a, lane->device, AIRY_DTYPE_U16, 1, &n) == AIRY_OK;
    for (unsigned round = 0; ok && round < ROUNDS; round++) {
        const uint16_t value = (uint16_t)(lane->number * 1000 + round);
        airy_buffer *scratch;
        ok = airy_array_create(&b, lane->device, AIRY_DTYPE_U16, 1, &n) == AIRY_OK &&
             airy_array_fill(q, a, value) == AIRY_OK && airy_array_copy(q, b, a) == AIRY_OK &&
             airy_queue_scratch(q, AIRY_SCRATCH_SMALL, 1000 * (round + 1), &scratch) == AIRY_OK &&
             airy_array_pull(q, data, n * sizeof(*data), b) == AIRY_OK &&
             airy_queue_finish(q) == AIRY_OK;
        for (size_t i = 0; ok && i < n; i++)
            ok = data[i] == value;
        airy_array_destroy(&b);
    }
    airy_array_destroy(&a);
    airy_queue_destroy(&q);
    free(data);
    lane->ok = ok;
    return NULL;
}

static void check_parallel_queues(struct check *c)
{
    if (!check_case(c, "parallel_queues"))
        return;
    struct lane lanes[PARALLEL];
    pthread_t threads[PARALLEL];
    for (unsigned i = 0; i < PARALLEL; i++) {
        lanes[i] = (struct lane){c->device, i, false};
        CHECK(c, pthread_create(&threads[i], NULL, run_lane, &lanes[i]) == 0);
    }
    for (unsigned i = 0; i < PARALLEL; i++) {
        pthread_join(threads[i], NULL);
        CHECK(c, lanes[i].ok);
    }
}

static void check_profile_device(struct check *c)
{
    if (!check_case(c, "profile_device"))
        return;
    const airy_device_params params = {.profile = true};
    const size_t n = 250000;
    airy_device *device = NULL;
    airy_queue *queue = NULL;
    airy_array *a = NULL, *b = NULL;
    airy_profile_row *rows = NULL;
    size_t count = 99;
    CHECK_OK(c, airy_profile_get(c->device, &rows, &count));
    CHECK(c, count == 0);
    airy_profile_free(rows);
    float *data = check_alloc(c, n * sizeof(*data));
    if (!CHECK_OK(c, airy_device_create(&device, c->spec, &params)))
        return;
    CHECK_OK(c, airy_queue_create(&queue, device));
    CHECK_OK(c, airy_array_create(&b, device, AIRY_DTYPE_F32, 1, &n));
    CHECK_OK(c, airy_array_create_from(&a, queue, AIRY_DTYPE_F32, 1, &n, data));
    CHECK_OK(c, airy_array_fill(queue, b, 2));
    CHECK_OK(c, airy_array_copy(queue, b, a));
    airy_profile_pause(); /* as a warm-up does: not counted */
    CHECK_OK(c, airy_array_copy(queue, b, a));
    airy_profile_resume();
    CHECK_OK(c, airy_array_pull(queue, data, n * sizeof(*data), b));
    CHECK_OK(c, airy_array_copy(queue, b, a)); /* nothing waits for this one but the profile */
    CHECK_OK(c, airy_profile_get(device, &rows, &count));
    size_t copies = 0, transfers = 0;
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(c,
              rows[i].count > 0 && rows[i].min <= rows[i].median && rows[i].median <= rows[i].max);
        CHECK(c, i == 0 || rows[i].total <= rows[i - 1].total);
        copies += strcmp(rows[i].name, "copy inside") == 0 ? (size_t)rows[i].count : 0;
        transfers += rows[i].transfer;
        bytes += rows[i].transfer ? rows[i].bytes : 0;
    }
    CHECK(c, copies == 2);
    CHECK(c, transfers == 2 && bytes == 2 * 4.0 * (double)n);
    airy_profile_free(rows);
    airy_profile_free(NULL);
    CHECK_FAILS(c, airy_profile_get(NULL, &rows, &count), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_profile_get(device, NULL, &count), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_profile_get(device, &rows, NULL), AIRY_ERR_PARAM, "NULL");
    char *text = NULL;
    if (CHECK_OK(c, airy_profile_format(device, &text))) {
        CHECK(c, strstr(text, "kernel ") && strstr(text, "median ms") && strstr(text, "GB/s") &&
                     strstr(text, "share"));
        CHECK(c, strstr(text, "\ncopy ") && strstr(text, "\nfill "));
        CHECK(c, strstr(text, "total on ") && strstr(text, c->spec));
        free(text);
    }
    CHECK_FAILS(c, airy_profile_format(NULL, &text), AIRY_ERR_PARAM, "NULL");
    CHECK_FAILS(c, airy_profile_format(device, NULL), AIRY_ERR_PARAM, "NULL");
    airy_array_destroy(&a);
    airy_array_destroy(&b);
    airy_queue_destroy(&queue);
    airy_device_destroy(&device);
}

/* How many copies inside the device the profile has. */
static uint64_t count_copies(struct check *c, const airy_device *device)
{
    airy_profile_row *rows = NULL;
    size_t count = 0;
    uint64_t copies = 0;
    CHECK_OK(c, airy_profile_get(device, &rows, &count));
    for (size_t i = 0; i < count; i++)
        copies += strcmp(rows[i].name, "copy inside") == 0 ? rows[i].count : 0;
    airy_profile_free(rows);
    return copies;
}

/* Read the profile while other threads create queues, enqueue work and destroy queues. */
static void check_profile_parallel(struct check *c)
{
    if (!check_case(c, "profile_parallel"))
        return;
    airy_device *device = NULL;
    pthread_t threads[PARALLEL];
    struct lane lanes[PARALLEL];
    unsigned started = 0;
    if (!CHECK_OK(c, airy_device_create(&device, c->spec, &(airy_device_params){.profile = true})))
        return;
    for (; started < PARALLEL; started++) {
        lanes[started] = (struct lane){device, started, false};
        if (!CHECK(c, pthread_create(&threads[started], NULL, run_lane, &lanes[started]) == 0))
            break;
    }
    uint64_t copies = 0;
    for (int i = 0; i < 50; i++) {
        const uint64_t now = count_copies(c, device);
        CHECK(c, now >= copies && now <= PARALLEL * ROUNDS);
        copies = now;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        CHECK(c, lanes[i].ok);
    }
    CHECK(c, count_copies(c, device) == (uint64_t)started * ROUNDS);
    airy_device_destroy(&device);
}

void check_core_device(struct check *c)
{
    if (c->is_cpu)
        check_spec_rules(c);
    check_device_list(c);
    check_device_create(c);
    check_create_all(c);
    check_memory_accounts(c);
    check_out_of_memory(c);
    check_queue(c);
    check_event(c);
    check_host(c);
    check_parallel_queues(c);
    check_profile_device(c);
    check_profile_parallel(c);
}

void check_core(struct check *c)
{
    if (c->is_cpu)
        check_core_base(c);
    check_core_device(c);
    check_core_array(c);
}
