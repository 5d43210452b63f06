/* Files that cases read and write. */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_state.h"

static const char *find(struct check *c, const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = check_alloc(c, size);
    snprintf(path, size, "%s/%s", folder, name);
    if (access(path, R_OK) == 0)
        return path;
    check_skip(c, "%s is not there", name);
    return NULL;
}

const char *check_golden(struct check *c, const char *name)
{
    const char *folder = getenv("AIRY_GOLDEN");
    return find(c, folder && *folder ? folder : CHECK_GOLDEN_DIR, name);
}

const char *check_realdata(struct check *c, const char *name)
{
    const char *folder = getenv("AIRY_REALDATA");
    if (folder && *folder)
        return find(c, folder, name);
    check_skip(c, "AIRY_REALDATA is not set");
    return NULL;
}

const char *check_tmp(struct check *c)
{
    struct check_state *s = c->state;
    if (!s->tmp[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(s->tmp, sizeof(s->tmp), "%.200s/airy-check-XXXXXX", base && *base ? base : "/tmp");
        if (!mkdtemp(s->tmp)) {
            printf("Bail out! cannot make a folder %s\n", s->tmp);
            exit(1);
        }
    }
    char *path = check_alloc(c, sizeof(s->tmp) + 16);
    snprintf(path, sizeof(s->tmp) + 16, "%s/%u", s->tmp, s->tmp_count++);
    if (mkdir(path, 0700) != 0) {
        printf("Bail out! cannot make a folder %s\n", path);
        exit(1);
    }
    return path;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

void check_remove_tmp(struct check_state *state)
{
    if (state->tmp[0])
        (void)nftw(state->tmp, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
