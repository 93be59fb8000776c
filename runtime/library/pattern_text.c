/* pattern_text.c - patterns of file names as texts: their stars, braces and endings, and the paths that
 * they stand for. */
#include "pattern.h"
#include "unet/image.h"
#include "unet/volume.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- components ------------------------------------------------------------------------------- */

/* The last of COUNT characters from FROM on that is C, or NULL. */
static const char *last_of(const char *from, const char *end, char c) {
    while (end > from && end[-1] != c) {
        end--;
    }
    return end > from ? end - 1 : NULL;
}

Component pattern_component(const char *from) {
    Component c = {.end = from + strcspn(from, "/")};
    c.last = *c.end == '\0';
    c.ending = c.end;
    const char *star = last_of(from, c.end, '*');
    if (!c.last || star == NULL) {
        return c;
    }
    if (star + 1 == c.end && star > from && star[-1] == '.' && last_of(from, star, '*') != NULL) {
        c.any = star - 1;
        c.ending = c.any;
        return c;
    }
    const char *dot = memchr(star, '.', (size_t)(c.end - star));
    c.ending = dot != NULL ? dot : c.end;
    return c;
}

static const char *last_component(const char *pattern) {
    const char *slash = strrchr(pattern, '/');
    return slash != NULL ? slash + 1 : pattern;
}

size_t pattern_ending(const char *name) {
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name || unet_image_kind_of_name(name) == NULL) {
        const size_t all = strlen(name), packed = strlen(".nii.gz");
        return all > packed && unet_volume_is_name(name) ? packed : 0;
    }
    return strlen(dot);
}

size_t pattern_letters(const char *pattern) {
    size_t letters = 0;
    for (const char *c = last_component(pattern); *c != '\0'; c++) {
        letters += *c != '*';
    }
    return letters;
}

int unet_pattern_stars(const char *pattern) {
    int stars = pattern_component(last_component(pattern)).any != NULL ? -1 : 0;
    for (; *pattern != '\0'; pattern++) {
        stars += *pattern == '*' && pattern[1] != '*'; /* two stand for one thing */
    }
    return stars;
}

bool unet_pattern_same(const char *one, const char *other) {
    const char *last = last_component(one);
    const size_t exact = (size_t)(pattern_component(last).ending - one);
    const size_t its = (size_t)(pattern_component(last_component(other)).ending - other);
    return exact == its && strncmp(one, other, exact) == 0 && strcasecmp(one + exact, other + exact) == 0;
}

/* ---- mistakes --------------------------------------------------------------------------------- */

/* Whether two stars are a folder of their own wherever they stand. */
static bool has_whole_folders(const char *pattern) {
    const char *found = strstr(pattern, "**");
    if (found == NULL) {
        return true;
    }
    return (found == pattern || found[-1] == '/') && found[2] == '/' && has_whole_folders(found + 3);
}

static bool has_whole_braces(const char *pattern) {
    const char *open = strpbrk(pattern, "{}");
    if (open == NULL) {
        return true;
    }
    const size_t inside = *open == '{' ? strcspn(open + 1, "{}*/") : 0;
    return inside > 0 && open[1 + inside] == '}' && has_whole_braces(open + inside + 2);
}

const char *unet_pattern_mistake(const char *pattern) {
    if (!has_whole_folders(pattern)) {
        return "`**` stands for folders, any number of them: write `**/*.png`, and `*` for a part of a "
               "name";
    }
    if (!has_whole_braces(pattern)) {
        return "`{` and `}` hold texts with commas between them, without `*` and `/`: write `*.{jpg,png}`, "
               "and a list of patterns for several folders";
    }
    return NULL;
}

/* ---- paths ------------------------------------------------------------------------------------ */

typedef struct {
    char *path;
    size_t length;
    bool fits;
} Writer;

static void put(Writer *w, const char *text, size_t length) {
    w->fits &= length < UNET_PATH_BYTES - w->length;
    if (w->fits) {
        memcpy(w->path + w->length, text, length);
        w->length += length;
        w->path[w->length] = '\0';
    }
}

/* The folder in front of a pattern, with its slash; nothing for an absolute pattern. */
static Writer start_path(char *path, const char *folder, const char *pattern) {
    Writer w = {.path = path, .fits = true};
    const size_t length = folder != NULL ? strlen(folder) : 0;
    *path = '\0';
    if (pattern[0] != '/' && length > 0) {
        put(&w, folder, length);
        put(&w, "/", folder[length - 1] != '/');
    }
    return w;
}

static UnetStatus end_path(const Writer *w, const char *pattern, UnetError *error) {
    return w->fits ? UNET_OK
                   : unet_fail(error, UNET_IO, "a path that matches \"%.200s\" is too long", pattern);
}

/* "a:b" as "a/b/", "." as nothing. */
static void put_folders(Writer *w, const char *part, size_t length) {
    if (length == 1 && *part == '.') {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        put(w, part[i] == ':' ? "/" : part + i, 1);
    }
    put(w, "/", 1);
}

UnetStatus pattern_path(char path[UNET_PATH_BYTES], const char *folder, const char *pattern,
                        const char *stem, UnetError *error) {
    const char *any = pattern_component(last_component(pattern)).any;
    Writer w = start_path(path, folder, pattern);
    for (const char *c = pattern; *c != '\0'; c++) {
        if (c == any) {
            put(&w, c, strlen(c));
            break;
        }
        if (*c == '{') {
            put(&w, c + 1, strcspn(c + 1, ",}"));
            c += strcspn(c, "}"); /* which is there: see unet_pattern_mistake() */
            continue;
        }
        if (*c != '*') {
            put(&w, c, 1);
            continue;
        }
        const size_t part = strcspn(stem, "/");
        if (c[1] == '*') {
            put_folders(&w, stem, part);
            c += 2; /* and the slash behind them, which stands there already */
        } else {
            put(&w, stem, part);
        }
        stem += part + (stem[part] == '/');
    }
    return end_path(&w, pattern, error);
}

UnetStatus pattern_plain_path(char path[UNET_PATH_BYTES], const char *folder, const char *name,
                              UnetError *error) {
    Writer w = start_path(path, folder, name);
    put(&w, name, strlen(name));
    return end_path(&w, name, error);
}
