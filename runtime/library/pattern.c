/* pattern.c - patterns of file names with stars: a walk over the folders, one path component at a time. */
#include "pattern.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- lists of stems --------------------------------------------------------------------------- */

void stems_free(StemList *stems) {
    for (int32_t i = 0; i < stems->count; i++) {
        free(stems->item[i]);
    }
    free(stems->item);
    *stems = (StemList){0};
}

bool stems_add(StemList *stems, const char *stem) {
    if (stems->count == stems->capacity) {
        if (stems->capacity > INT32_MAX / 2) {
            return false;
        }
        int32_t capacity = stems->capacity > 0 ? 2 * stems->capacity : 64;
        char **grown = realloc(stems->item, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        stems->item = grown;
        stems->capacity = capacity;
    }
    stems->item[stems->count] = strdup(stem);
    if (stems->item[stems->count] == NULL) {
        return false;
    }
    stems->count++;
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- text with a limit ------------------------------------------------------------------------ */

typedef struct {
    char text[UNET_PATH_BYTES];
    size_t length;
} Text;

static bool append(Text *to, const char *text, size_t length) {
    if (length >= sizeof to->text - to->length) {
        return false;
    }
    memcpy(to->text + to->length, text, length);
    to->length += length;
    to->text[to->length] = '\0';
    return true;
}

static void cut(Text *to, size_t length) {
    to->length = length;
    to->text[length] = '\0';
}

static UnetStatus fail_long(const char *pattern, UnetError *error) {
    return unet_fail(error, UNET_IO, "a path that matches \"%.200s\" is too long", pattern);
}

/* The folder in front of a pattern, with its slash; nothing for an absolute pattern. */
static bool start_path(Text *path, const char *folder, const char *pattern) {
    path->length = 0;
    path->text[0] = '\0';
    if (pattern[0] == '/' || folder == NULL || folder[0] == '\0') {
        return true;
    }
    size_t length = strlen(folder);
    return append(path, folder, length) && (folder[length - 1] == '/' || append(path, "/", 1));
}

/* ---- one component ---------------------------------------------------------------------------- */

/* Whether NAME matches COMPONENT (of LENGTH characters); on success what the stars stand for is appended to
 * STEM.  A star takes one character, and then another while the rest does not match. */
static bool match(const char *component, size_t length, const char *name, Text *stem) {
    if (length == 0) {
        return *name == '\0';
    }
    if (*component != '*') {
        return *component == *name && match(component + 1, length - 1, name + 1, stem);
    }
    size_t before = stem->length;
    for (size_t taken = 1; taken <= strlen(name); taken++) {
        if ((before == 0 || append(stem, "/", 1)) && append(stem, name, taken) &&
            match(component + 1, length - 1, name + taken, stem)) {
            return true;
        }
        cut(stem, before);
    }
    return false;
}

/* ---- the walk --------------------------------------------------------------------------------- */

typedef struct {
    const char *pattern;
    Text path, stem;
    StemList *found;
    char beside[256]; /* the first file by name that the last component does not match, or "" */
    UnetError *error;
} Walk;

static UnetStatus walk(Walk *at, const char *rest);

static UnetStatus take_file(Walk *at) {
    struct stat status;
    if (stat(at->path.text, &status) != 0 || !S_ISREG(status.st_mode)) {
        return UNET_OK;
    }
    if (!stems_add(at->found, at->stem.text)) {
        return unet_fail(at->error, UNET_TOO_SMALL, "%s: out of memory", at->path.text);
    }
    return UNET_OK;
}

/* Goes on behind the component NAME, with which path and stem have been extended. */
static UnetStatus enter(Walk *at, const char *name, const char *rest) {
    if (!append(&at->path, name, strlen(name))) {
        return fail_long(at->pattern, at->error);
    }
    if (*rest == '\0') {
        return take_file(at);
    }
    if (!append(&at->path, "/", 1)) {
        return fail_long(at->pattern, at->error);
    }
    return walk(at, rest + 1);
}

/* Does NAME, which does not match the last component, do so but for the case of what follows the last star?
 */
static bool differs_in_case(const char *component, const char *name, Text *stem) {
    const char *ending = strrchr(component, '*') + 1;
    const size_t length = strlen(ending), all = strlen(name), before = stem->length;
    char other[256];
    if (length == 0 || all < length || all >= sizeof other ||
        strcasecmp(name + all - length, ending) != 0) {
        return false;
    }
    memcpy(other, name, all - length);
    memcpy(other + all - length, ending, length + 1);
    const bool does = match(component, strlen(component), other, stem);
    cut(stem, before);
    return does;
}

/* The first by name stands for all. */
static void note_other_case(StemList *found, const char *name) {
    if (found->other_case++ == 0 || strcmp(name, found->other_name) < 0) {
        (void)snprintf(found->other_name, sizeof found->other_name, "%s", name);
    }
}

/* NAME, in the folder that the path has reached, does not match. */
static void note_beside(Walk *at, const char *name) {
    struct stat status;
    const size_t path = at->path.length;
    const bool first = at->beside[0] == '\0' || strcmp(name, at->beside) < 0;
    if (name[0] != '.' && first && strlen(name) < sizeof at->beside &&
        append(&at->path, name, strlen(name)) && stat(at->path.text, &status) == 0 &&
        S_ISREG(status.st_mode)) {
        memcpy(at->beside, name, strlen(name) + 1);
    }
    cut(&at->path, path);
}

/* Tries every entry of the folder that the path has reached. */
static UnetStatus enter_matching(Walk *at, const char *component, size_t length) {
    size_t path = at->path.length, stem = at->stem.length;
    DIR *folder = opendir(path > 0 ? at->path.text : ".");
    if (folder == NULL) {
        if (stem > 0 && (errno == ENOTDIR || errno == ENOENT)) {
            return UNET_OK; /* one of the things a star stands for has no such part */
        }
        return unet_fail(at->error, UNET_IO, "%s: cannot read the folder of \"%s\": %s",
                         path > 0 ? at->path.text : ".", at->pattern, strerror(errno));
    }
    UnetStatus status = UNET_OK;
    const struct dirent *entry;
    while (status == UNET_OK && (entry = readdir(folder)) != NULL) {
        bool hidden = entry->d_name[0] == '.' && component[0] != '.';
        if (!hidden && match(component, length, entry->d_name, &at->stem)) {
            status = enter(at, entry->d_name, component + length);
        } else if (component[length] == '\0') {
            if (!hidden && differs_in_case(component, entry->d_name, &at->stem)) {
                note_other_case(at->found, entry->d_name);
            }
            if (at->found->count == 0) {
                note_beside(at, entry->d_name);
            }
        }
        cut(&at->path, path);
        cut(&at->stem, stem);
    }
    (void)closedir(folder);
    return status;
}

/* A folder below the one that the path has reached, called NAME. */
static bool is_folder(Walk *at, const char *name) {
    struct stat status;
    const size_t path = at->path.length;
    bool folder = name[0] != '.' && append(&at->path, name, strlen(name)) &&
                  lstat(at->path.text, &status) == 0 && S_ISDIR(status.st_mode);
    cut(&at->path, path);
    return folder;
}

/* Goes on with REST, the pattern behind two stars, here and in all folders below; those passed through
 * stand in the stem from PART on. */
static UnetStatus enter_folders(Walk *at, const char *rest, size_t part) {
    const size_t path = at->path.length, stem = at->stem.length;
    if (stem == part && !append(&at->stem, ".", 1)) {
        return fail_long(at->pattern, at->error);
    }
    UnetStatus status = walk(at, rest);
    cut(&at->path, path);
    cut(&at->stem, stem);
    DIR *folder = status == UNET_OK ? opendir(path > 0 ? at->path.text : ".") : NULL;
    const struct dirent *entry;
    while (folder != NULL && status == UNET_OK && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        if (!is_folder(at, name)) {
            continue;
        }
        if (strchr(name, ':') != NULL) {
            status = unet_fail(at->error, UNET_IO, "%s%s: `**` takes no folder with a colon in its name",
                               at->path.text, name);
        } else if (!append(&at->path, name, strlen(name)) || !append(&at->path, "/", 1) ||
                   (stem > part && !append(&at->stem, ":", 1)) || !append(&at->stem, name, strlen(name))) {
            status = fail_long(at->pattern, at->error);
        } else {
            status = enter_folders(at, rest, part);
        }
        cut(&at->path, path);
        cut(&at->stem, stem);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return status;
}

/* REST: what of the pattern lies behind the path. */
static UnetStatus walk(Walk *at, const char *rest) {
    size_t length = strcspn(rest, "/");
    if (length == 2 && strncmp(rest, "**/", 3) == 0) {
        const bool joined = at->stem.length == 0 || append(&at->stem, "/", 1);
        return joined ? enter_folders(at, rest + 3, at->stem.length) : fail_long(at->pattern, at->error);
    }
    if (memchr(rest, '*', length) != NULL) {
        return enter_matching(at, rest, length);
    }
    char component[UNET_PATH_BYTES];
    if (length >= sizeof component) {
        return fail_long(at->pattern, at->error);
    }
    memcpy(component, rest, length);
    component[length] = '\0';
    return enter(at, component, rest + length);
}

/* ---- the interface ---------------------------------------------------------------------------- */

int pattern_stars(const char *pattern) {
    int stars = 0;
    for (; *pattern != '\0'; pattern++) {
        stars += *pattern == '*' && pattern[1] != '*'; /* two stand for one thing */
    }
    return stars;
}

/* "a:b" as "a/b/", "." as nothing. */
static bool append_folders(Text *to, const char *part, size_t length) {
    if (length == 1 && *part == '.') {
        return true;
    }
    bool fits = true;
    for (size_t i = 0; i < length && fits; i++) {
        fits = append(to, part[i] == ':' ? "/" : part + i, 1);
    }
    return fits && append(to, "/", 1);
}

UnetStatus pattern_path(char path[UNET_PATH_BYTES], const char *folder, const char *pattern,
                        const char *stem, UnetError *error) {
    Text text;
    bool fits = start_path(&text, folder, pattern);
    for (const char *c = pattern; fits && *c != '\0'; c++) {
        if (*c != '*') {
            fits = append(&text, c, 1);
            continue;
        }
        size_t part = strcspn(stem, "/");
        if (c[1] == '*') {
            fits = append_folders(&text, stem, part);
            c += 2; /* and the slash behind them, which stands there already */
        } else {
            fits = append(&text, stem, part);
        }
        stem += part + (stem[part] == '/');
    }
    if (!fits) {
        return fail_long(pattern, error);
    }
    memcpy(path, text.text, text.length + 1);
    return UNET_OK;
}

UnetStatus pattern_plain_path(char path[UNET_PATH_BYTES], const char *folder, const char *name,
                              UnetError *error) {
    Text text;
    if (!start_path(&text, folder, name) || !append(&text, name, strlen(name))) {
        return fail_long(name, error);
    }
    memcpy(path, text.text, text.length + 1);
    return UNET_OK;
}

UnetStatus pattern_expand(const char *folder, const char *pattern, StemList *stems, UnetError *error) {
    Walk at = {.pattern = pattern, .found = stems, .error = error};
    if (pattern_stars(pattern) == 0) {
        return stems_add(stems, "") ? UNET_OK
                                    : unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", pattern);
    }
    if (!start_path(&at.path, folder, pattern)) {
        return fail_long(pattern, error);
    }
    UnetStatus status = walk(&at, pattern);
    if (status != UNET_OK) {
        return status;
    }
    if (stems->count == 0) {
        const bool beside = at.beside[0] != '\0';
        return unet_fail(error, UNET_IO, "%s: no file matches \"%s\"%s%s%s", folder != NULL ? folder : ".",
                         pattern, beside ? "; a file that is there is called \"" : "", at.beside,
                         beside ? "\"" : "");
    }
    qsort(stems->item, (size_t)stems->count, sizeof *stems->item, by_name);
    return UNET_OK;
}
