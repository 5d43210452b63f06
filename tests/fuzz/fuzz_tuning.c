/*
 * Tables of `airy tune` from a fuzzer: whatever the bytes are, each size stays one that the device
 * admits, and what was taken comes out again as it went in.
 */
#include <stdlib.h>
#include <string.h>

#include "core/objects.h"
#include "fuzz.h"

/* The CPU's sizes, and those of a device made up: all there are. */
static void defaults(struct airy_tuning *tuning)
{
    airy_device *cpu = NULL;
    require(airy_device_create(&cpu, "cpu", NULL) == AIRY_OK);
    *tuning = cpu->tuning;
    airy_device_destroy(&cpu);
    for (size_t i = 0; i < AIRY_TUNE_COUNT; i++)
        if (!tuning->entries[i].smallest)
            tuning->entries[i] = (struct airy_tune_entry){
                .smallest = 1, .largest = 64, .standard = 32, .current = 32};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct airy_tuning fresh;
    if (!fresh.entries[0].smallest)
        defaults(&fresh);
    struct airy_tuning tuning = fresh, again = fresh;
    char text[AIRY_TUNING_TEXT];
    char *exact = malloc(size ? size : 1);
    require(exact != NULL);
    if (size)
        memcpy(exact, data, size);
    const size_t taken = airy_tuning_parse(&tuning, exact, size);
    free(exact);
    size_t changed = 0;
    for (size_t i = 0; i < AIRY_TUNE_COUNT; i++) {
        const struct airy_tune_entry *e = &tuning.entries[i];
        require(e->current >= e->smallest && e->current <= e->largest);
        changed += e->source != AIRY_TUNING_DEFAULT;
    }
    require(changed <= taken);
    const size_t length = airy_tuning_print(&tuning, text);
    require(length == strlen(text) && length < sizeof(text));
    require(airy_tuning_parse(&again, text, length) == changed);
    require(memcmp(&again, &tuning, sizeof(tuning)) == 0);
    return 0;
}
