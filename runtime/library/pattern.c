/* pattern.c - the files that a pattern matches: a walk over the folders, one path component at a time. */
#include "pattern.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- lists ------------------------------------------------------------------------------------ */

/* A list of COUNT elements of SIZE bytes with room for one more, or NULL. */
static void *with_room(void *list, int32_t count, int32_t *capacity, size_t size) {
    if (count < *capacity) {
        return list;
    }
    if (*capacity > INT32_MAX / 2) {
        return NULL;
    }
    const int32_t more = *capacity > 0 ? 2 * *capacity : 64;
    void *grown = realloc(list, (size_t)more * size);
    if (grown != NULL) {
        *capacity = more;
    }
    return grown;
}

void stems_free(StemList *stems) {
    for (int32_t i = 0; i < stems->count; i++) {
        free(stems->item[i]);
    }
    free(stems->item);
    *stems = (StemList){0};
}

bool stems_add(StemList *stems, const char *stem) {
    char **item = with_room(stems->item, stems->count, &stems->capacity, sizeof *item);
    if (item == NULL) {
        return false;
    }
    stems->item = item;
    item[stems->count] = strdup(stem);
    return item[stems->count] != NULL && ++stems->count > 0;
}

void found_free(FoundList *found) {
    for (int32_t i = 0; i < found->count; i++) {
        free(found->item[i].stem);
    }
    free(found->item);
    *found = (FoundList){0};
}

/* Both texts lie in one block. */
static bool found_add(FoundList *found, const char *stem, const char *name) {
    FoundFile *item = with_room(found->item, found->count, &found->capacity, sizeof *item);
    if (item == NULL) {
        return false;
    }
    found->item = item;
    const size_t length = strlen(stem) + 1, more = strlen(name) + 1;
    char *block = malloc(length + more);
    if (block == NULL) {
        return false;
    }
    memcpy(block, stem, length);
    memcpy(block + length, name, more);
    item[found->count++] = (FoundFile){block, block + length};
    return true;
}

static int by_stem(const void *a, const void *b) {
    const FoundFile *one = a, *other = b;
    return strcmp(one->stem, other->stem);
}

static int by_stem_and_name(const void *a, const void *b) {
    const FoundFile *one = a, *other = b;
    const int order = strcmp(one->stem, other->stem);
    return order != 0 ? order : strcmp(one->name, other->name);
}

FoundFile *found_find(const FoundList *found, const char *stem) {
    FoundFile wanted = {0};
    memcpy(&wanted.stem, &stem, sizeof stem); /* which bsearch() does not change */
    return found->count == 0
               ? NULL
               : bsearch(&wanted, found->item, (size_t)found->count, sizeof *found->item, by_stem);
}

/* The first by name stands for all. */
static void note_left(FoundList *found, const char *name, LeftReason reason) {
    char *first = found->left_name[reason];
    if (found->left[reason]++ == 0 || strcmp(name, first) < 0) {
        (void)snprintf(first, sizeof found->left_name[reason], "%s", name);
    }
}

void found_leave(FoundList *found, int32_t index, LeftReason reason) {
    const char *slash = strrchr(found->item[index].name, '/');
    note_left(found, slash != NULL ? slash + 1 : found->item[index].name, reason);
    found_drop(found, index);
}

void found_drop(FoundList *found, int32_t index) {
    free(found->item[index].stem);
    found->item[index].stem = NULL;
}

void found_close_up(FoundList *found) {
    int32_t kept = 0;
    for (int32_t i = 0; i < found->count; i++) {
        if (found->item[i].stem != NULL) {
            found->item[kept++] = found->item[i];
        }
    }
    found->count = kept;
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

/* ---- one component ---------------------------------------------------------------------------- */

/* LENGTH characters of the pattern, from AT on, begin NAME. */
static bool begins(const Component *c, const char *at, size_t length, const char *name) {
    for (size_t i = 0; i < length; i++) {
        const bool alike = tolower((unsigned char)at[i]) == tolower((unsigned char)name[i]);
        if (at[i] != name[i] && !(alike && at + i >= c->ending)) {
            return false;
        }
    }
    return true;
}

static bool match(const Component *c, const char *at, const char *name, Text *stem);

/* One of the texts behind the brace at AT begins NAME, which goes on as the rest. */
static bool match_one_of(const Component *c, const char *at, const char *name, Text *stem) {
    const char *rest = at + strcspn(at, "}") + 1;
    do {
        const char *text = at + 1;
        const size_t length = strcspn(text, ",}");
        if (begins(c, text, length, name) && match(c, rest, name + length, stem)) {
            return true;
        }
        at = text + length;
    } while (*at == ',');
    return false;
}

/* A star takes one character, and then another while the rest does not match; at the end of the pattern it
 * takes all but the ending. */
static bool match_star(const Component *c, const char *at, const char *name, Text *stem) {
    const size_t before = stem->length, all = strlen(name);
    const bool whole = c->last && at + 1 == c->end;
    for (size_t taken = whole ? all - pattern_ending(name) : 1; taken > 0 && taken <= all; taken++) {
        if ((before == 0 || append(stem, "/", 1)) && append(stem, name, taken) &&
            (whole || match(c, at + 1, name + taken, stem))) {
            return true;
        }
        cut(stem, before);
    }
    return false;
}

/* Returns whether NAME is an ending: one dot and more, or the ending of a packed volume. */
static bool is_ending(const char *name) {
    return *name == '.' && name[1] != '\0' &&
           (strrchr(name, '.') == name || strcasecmp(name, ".nii.gz") == 0);
}

/* Whether NAME matches the component from AT on; then the texts of the stars are appended to STEM. */
static bool match(const Component *c, const char *at, const char *name, Text *stem) {
    if (at == c->end) {
        return *name == '\0';
    }
    if (at == c->any) {
        return is_ending(name);
    }
    if (*at == '{') {
        return match_one_of(c, at, name, stem);
    }
    if (*at == '*') {
        return match_star(c, at, name, stem);
    }
    return begins(c, at, 1, name) && match(c, at + 1, name + 1, stem);
}

/* Whether a pattern goes on with "**" and a slash. */
static bool starts_folders(const char *pattern) {
    return strncmp(pattern, "**/", 3) == 0;
}

bool pattern_takes(const char *pattern, const char *name) {
    const size_t length = strcspn(name, "/");
    if (starts_folders(pattern)) {
        return pattern_takes(pattern + 3, name) ||
               (name[length] == '/' && pattern_takes(pattern, name + length + 1));
    }
    const Component c = pattern_component(pattern);
    Text stem = {.length = 0};
    char component[UNET_PATH_BYTES];
    if (length >= sizeof component || c.last != (name[length] == '\0')) {
        return false;
    }
    memcpy(component, name, length);
    component[length] = '\0';
    return match(&c, pattern, component, &stem) && (c.last || pattern_takes(c.end + 1, name + length + 1));
}

/* ---- the walk --------------------------------------------------------------------------------- */

typedef struct {
    const char *pattern;
    Text path, stem;
    size_t folder; /* of the path: what stands in front of names */
    FoundList *found;
    char beside[256]; /* the first file by name that the last component does not match, or "" */
    UnetError *error;
} Walk;

static UnetStatus walk(Walk *at, const char *rest);

static UnetStatus take_file(Walk *at) {
    struct stat status;
    if (stat(at->path.text, &status) != 0 || !S_ISREG(status.st_mode)) {
        return UNET_OK;
    }
    if (!found_add(at->found, at->stem.text, at->path.text + at->folder)) {
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

/* NAME does not match the last component, which begins at FROM: does it but for case, or for its ending? */
static void note_near(Walk *at, const char *from, Component c, const char *name) {
    const size_t before = at->stem.length;
    const char *star = c.end, *ending = c.ending;
    while (star > from && star[-1] != '*') {
        star--;
    }
    if (star == from) {
        return;
    }
    c.ending = star;
    if (match(&c, from, name, &at->stem)) {
        note_left(at->found, name, LEFT_CASE);
    } else if (ending < c.end && pattern_ending(name) > 0) {
        c.any = ending;
        c.ending = ending;
        if (match(&c, from, name, &at->stem)) {
            note_left(at->found, name, LEFT_ENDING);
        }
    }
    cut(&at->stem, before);
}

/* NAME, in the folder that the path has reached, does not match. */
static void note_beside(Walk *at, const char *name) {
    struct stat status;
    const size_t path = at->path.length;
    const bool first = at->beside[0] == '\0' || strcmp(name, at->beside) < 0;
    if (first && strlen(name) < sizeof at->beside && append(&at->path, name, strlen(name)) &&
        stat(at->path.text, &status) == 0 && S_ISREG(status.st_mode)) {
        memcpy(at->beside, name, strlen(name) + 1);
    }
    cut(&at->path, path);
}

/* Tries every entry of the folder that the path has reached. */
static UnetStatus enter_matching(Walk *at, const char *from) {
    const Component c = pattern_component(from);
    const size_t path = at->path.length, stem = at->stem.length;
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
        if (entry->d_name[0] == '.' && *from != '.') {
            continue;
        }
        if (match(&c, from, entry->d_name, &at->stem)) {
            status = enter(at, entry->d_name, c.end);
        } else if (c.last) {
            note_near(at, from, c, entry->d_name);
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
    const size_t length = strcspn(rest, "/");
    if (starts_folders(rest)) {
        const bool joined = at->stem.length == 0 || append(&at->stem, "/", 1);
        return joined ? enter_folders(at, rest + 3, at->stem.length) : fail_long(at->pattern, at->error);
    }
    if (strcspn(rest, "*{") < length) {
        return enter_matching(at, rest);
    }
    char component[UNET_PATH_BYTES];
    if (length >= sizeof component) {
        return fail_long(at->pattern, at->error);
    }
    memcpy(component, rest, length);
    component[length] = '\0';
    return enter(at, component, rest + length);
}

UnetStatus pattern_expand(const char *folder, const char *pattern, FoundList *found, UnetError *error) {
    Walk at = {.pattern = pattern, .found = found, .error = error};
    if (strpbrk(pattern, "*{") == NULL) {
        return found_add(found, "", pattern)
                   ? UNET_OK
                   : unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", pattern);
    }
    UnetStatus status = pattern_plain_path(at.path.text, folder, "", error);
    if (status != UNET_OK) {
        return status;
    }
    at.path.length = at.folder = pattern[0] == '/' ? 0 : strlen(at.path.text);
    cut(&at.path, at.folder);
    status = walk(&at, pattern);
    if (status != UNET_OK) {
        return status;
    }
    if (found->count == 0) {
        const bool beside = at.beside[0] != '\0';
        return unet_fail(error, UNET_IO, "%s: no file matches \"%s\"%s%s%s", folder != NULL ? folder : ".",
                         pattern, beside ? "; a file that is there is called \"" : "", at.beside,
                         beside ? "\"" : "");
    }
    qsort(found->item, (size_t)found->count, sizeof *found->item, by_stem_and_name);
    return UNET_OK;
}
