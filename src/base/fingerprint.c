#include "base/fingerprint.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"

enum { NAME_BYTES = 32, VALUE_BYTES = 64 };

static const char *const affected[] = {"value", "rows"};

void airy_fingerprint_word(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                           const char *word)
{
    assert(strlen(name) < NAME_BYTES && !strchr(name, ' ') && !strchr(word, '\n'));
    const size_t room = sizeof(f->text) - f->used;
    const int n = snprintf(f->text + f->used, room, "%s %s %.63s\n", affected[affects], name, word);
    assert(n > 0 && (size_t)n < room);
    f->used += (size_t)n;
}

void airy_fingerprint_number(struct airy_fingerprint *f, enum airy_affects affects,
                             const char *name, double number)
{
    char text[VALUE_BYTES];
    snprintf(text, sizeof(text), "%.9g", number);
    if (!(strtod(text, NULL) == number)) /* shorter where that says it all */
        snprintf(text, sizeof(text), "%.17g", number);
    airy_fingerprint_word(f, affects, name, text);
}

static void put_hash(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                     const struct airy_hash_lanes *lanes, size_t size)
{
    char text[VALUE_BYTES];
    uint64_t hash[2];
    airy_hash_lanes_end(hash, lanes, size);
    snprintf(text, sizeof(text), "#%016llx%016llx", (unsigned long long)hash[0],
             (unsigned long long)hash[1]);
    airy_fingerprint_word(f, affects, name, text);
}

void airy_fingerprint_array(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                            const void *data, size_t size)
{
    struct airy_hash_lanes lanes = AIRY_HASH_LANES_START;
    if (!data) {
        airy_fingerprint_word(f, affects, name, "none");
        return;
    }
    airy_hash_lanes_add(&lanes, data, size);
    put_hash(f, affects, name, &lanes, size);
}

void airy_fingerprint_mask(struct airy_fingerprint *f, enum airy_affects affects, const char *name,
                           const unsigned char *mask, size_t count)
{
    struct airy_hash_lanes lanes = AIRY_HASH_LANES_START;
    unsigned char part[4096];
    unsigned any = 0;
    for (size_t at = 0; mask && at < count; at += sizeof(part)) {
        const size_t n = count - at < sizeof(part) ? count - at : sizeof(part);
        for (size_t i = 0; i < n; i++)
            any |= part[i] = mask[at + i] != 0;
        airy_hash_lanes_add(&lanes, part, n);
    }
    if (any)
        put_hash(f, affects, name, &lanes, count);
    else
        airy_fingerprint_word(f, affects, name, "none");
}

/* A line taken apart; parts that are too long or unprintable make it invalid. */
struct line {
    char affects[8], name[NAME_BYTES], value[VALUE_BYTES];
};

static bool take_word(char *to, size_t room, const char **at, char end)
{
    size_t n = 0;
    while (n + 1 < room && (*at)[n] > ' ' && (*at)[n] < 0x7f)
        n++;
    if (n == 0 || (*at)[n] != end)
        return false;
    memcpy(to, *at, n);
    to[n] = 0;
    *at += n + 1;
    return true;
}

static bool take_line(struct line *line, const char **at)
{
    return take_word(line->affects, sizeof(line->affects), at, ' ') &&
           take_word(line->name, sizeof(line->name), at, ' ') &&
           take_word(line->value, sizeof(line->value), at, '\n');
}

static bool counts(const struct line *line, bool rows)
{
    return strcmp(line->affects, affected[AIRY_FINGERPRINT_VALUE]) == 0 ||
           (rows && strcmp(line->affects, affected[AIRY_FINGERPRINT_ROWS]) == 0);
}

static bool find_line(struct line *found, const char *text, const char *name)
{
    while (take_line(found, &text))
        if (strcmp(found->name, name) == 0)
            return true;
    return false;
}

static const char *shown_value(const char *value)
{
    return value[0] == '#' ? "given" : value;
}

static airy_status compare_values(const char *name, const char *a, const char *b,
                                  struct airy_fingerprint_of before, struct airy_fingerprint_of now)
{
    if (strcmp(a, b) == 0)
        return AIRY_OK;
    AIRY_FAIL_ON_IF(a[0] == '#' && b[0] == '#', AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                    "parameter %s differs: its values in %s are not those in %s", name,
                    before.owner, now.owner);
    return airy_fail_on(AIRY_ERR_FORMAT, AIRY_SUBJECT_PARAMETER,
                        "parameter %s differs: %s in %s, %s in %s", name, shown_value(a),
                        before.owner, shown_value(b), now.owner);
}

airy_status airy_fingerprint_compare(struct airy_fingerprint_of before,
                                     struct airy_fingerprint_of now, bool rows)
{
    static const char absent[] = "not recorded";
    struct line line, other;
    const char *at = now.text;
    AIRY_FAIL_IF(!before.text[0], AIRY_ERR_FORMAT, "no fingerprint records the parameters of %s",
                 before.owner);
    while (take_line(&line, &at))
        if (counts(&line, rows))
            AIRY_TRY(compare_values(
                line.name, find_line(&other, before.text, line.name) ? other.value : absent,
                line.value, before, now));
    at = before.text;
    while (take_line(&line, &at))
        if (counts(&line, rows) && !find_line(&other, now.text, line.name))
            AIRY_TRY(compare_values(line.name, line.value, absent, before, now));
    AIRY_FAIL_IF(*at, AIRY_ERR_FORMAT, "the fingerprint of %s is damaged", before.owner);
    return AIRY_OK;
}
