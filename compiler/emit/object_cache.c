/* object_cache.c - the folder of the cache: $UNETC_CACHE, or unetc in $XDG_CACHE_HOME or in ~/.cache.
 *
 * An entry holds an object and, at its end, the SHA-256 of that object.  So an entry that a crash left half
 * written, or that a disk has spoilt, is none.  It is written under a name of its own and renamed.
 */
#define _DEFAULT_SOURCE /* struct dirent's d_name in readdir(), futimens */
#include "emit/object_cache.h"
#include "emit/object_key.h"

#include "base/sha256.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_MIB = 512,    /* that all entries take */
    LEFT_MIB = 384,    /* of them, where they took more */
    TEMPORARY_S = 3600 /* a file that is older and no entry yet was left by a process that is gone */
};
static const char entry_suffix[] = ".o";

struct ObjectCache {
    Pool *pool;
    const char *folder;
    ObjectKeys *keys;
    int kept;
};

/* ---- the folder ---- */

/* NULL: nobody said where, or the user wants none. */
static const char *wanted_folder(Pool *pool) {
    const char *given = given_or("UNETC_CACHE", NULL), *caches = given_or("XDG_CACHE_HOME", NULL),
               *home = given_or("HOME", NULL);
    if (given != NULL)
        return strcmp(given, "off") == 0 ? NULL : given;
    if (caches != NULL && *caches == '/')
        return pool_text(pool, "%s/unetc", caches);
    return home == NULL ? NULL : pool_text(pool, "%s/.cache/unetc", home);
}

/* Makes the folder and those around it, for this user alone. */
static bool make_folder(Pool *pool, const char *folder) {
    char *path = pool_copy(pool, folder, strlen(folder));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    (void)mkdir(path, 0700);
    return access(path, W_OK | X_OK) == 0;
}

ObjectCache *cache_open(const Words *compiler, const Sources *sources, const char *home,
                        const char *scratch) {
    Pool *pool = compiler->pool;
    const char *folder = wanted_folder(pool);
    if (folder == NULL || !make_folder(pool, folder))
        return NULL;
    ObjectKeys *keys = object_keys(compiler, sources, home, scratch);
    if (keys == NULL)
        return NULL;
    ObjectCache *cache = NEW(pool, ObjectCache);
    *cache = (ObjectCache){.pool = pool, .folder = folder, .keys = keys};
    return cache;
}

const char *cache_key(ObjectCache *cache, const Compiled *compiled) {
    return object_key(cache->keys, compiled);
}

static const char *entry_path(const ObjectCache *cache, const char *key) {
    return pool_text(cache->pool, "%s/%s%s", cache->folder, key, entry_suffix);
}

/* ---- entries ---- */

typedef struct {
    char *bytes;
    size_t count;
} Bytes;

/* The whole file; no bytes: it cannot be read.  The caller frees them. */
static Bytes read_file(const char *path) {
    Bytes all = {0};
    FILE *file = fopen(path, "rb");
    struct stat found;
    if (file != NULL && fstat(fileno(file), &found) == 0 && found.st_size > 0) {
        all.count = (size_t)found.st_size;
        all.bytes = malloc(all.count);
        if (all.bytes != NULL && fread(all.bytes, 1, all.count, file) != all.count) {
            free(all.bytes);
            all.bytes = NULL;
        }
    }
    if (file != NULL)
        fclose(file);
    return all;
}

static void digest_of(const char *bytes, size_t count, uint8_t digest[SHA256_BYTES]) {
    Sha256 hash = sha256_start();
    sha256_add(&hash, bytes, count);
    sha256_end(&hash, digest);
}

/* Writes the bytes, then END, to a new file; leaves none where that fails. */
static bool write_file(const char *path, const Bytes *all, const uint8_t *end, size_t nend) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (file == NULL)
        return false;
    bool written =
        fwrite(all->bytes, 1, all->count, file) == all->count && fwrite(end, 1, nend, file) == nend;
    written = fclose(file) == 0 && written;
    if (!written)
        (void)unlink(path);
    return written;
}

bool cache_take(const ObjectCache *cache, const char *key, const char *object) {
    const char *path = entry_path(cache, key);
    Bytes entry = read_file(path);
    bool taken = false;
    if (entry.bytes != NULL && entry.count > SHA256_BYTES) {
        uint8_t digest[SHA256_BYTES];
        entry.count -= SHA256_BYTES;
        digest_of(entry.bytes, entry.count, digest);
        taken = memcmp(digest, entry.bytes + entry.count, sizeof digest) == 0 &&
                write_file(object, &entry, NULL, 0);
    }
    free(entry.bytes);
    if (taken)
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* asked for just now */
    return taken;
}

void cache_keep(ObjectCache *cache, const char *key, const char *object) {
    const char *temporary =
        pool_text(cache->pool, "%s/new-%ld-%d", cache->folder, (long)getpid(), cache->kept);
    Bytes all = read_file(object);
    uint8_t digest[SHA256_BYTES];
    if (all.bytes == NULL)
        return;
    digest_of(all.bytes, all.count, digest);
    if (write_file(temporary, &all, digest, sizeof digest) &&
        rename(temporary, entry_path(cache, key)) != 0)
        (void)unlink(temporary);
    free(all.bytes);
    cache->kept++;
}

/* ---- room ---- */

typedef struct {
    const char *path;
    struct timespec used;
    long long bytes;
} Entry;

static int oldest_first(const void *a, const void *b) {
    const struct timespec first = ((const Entry *)a)->used, second = ((const Entry *)b)->used;
    if (first.tv_sec != second.tv_sec)
        return first.tv_sec < second.tv_sec ? -1 : 1;
    return (first.tv_nsec > second.tv_nsec) - (first.tv_nsec < second.tv_nsec);
}

static bool is_entry(const char *name) {
    const size_t length = strlen(name), key = 2 * SHA256_BYTES;
    return length == key + strlen(entry_suffix) && strspn(name, "0123456789abcdef") == key &&
           strcmp(name + key, entry_suffix) == 0;
}

static bool is_left_over(const char *name, const struct stat *found) {
    return strncmp(name, "new-", 4) == 0 && time(NULL) - found->st_mtime > TEMPORARY_S;
}

/* The entries; removes what other processes left. */
static Entry *list_entries(const ObjectCache *cache, int *count) {
    Entry *entry = NULL;
    DIR *folder = opendir(cache->folder);
    for (struct dirent *next; folder != NULL && (next = readdir(folder)) != NULL;) {
        const char *path = pool_text(cache->pool, "%s/%s", cache->folder, next->d_name);
        struct stat found;
        if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode))
            continue;
        const Entry one = {path, found.st_mtim, (long long)found.st_size};
        if (is_entry(next->d_name))
            PUSH(cache->pool, entry, *count, one);
        else if (is_left_over(next->d_name, &found))
            (void)unlink(path);
    }
    if (folder != NULL)
        closedir(folder);
    return entry;
}

void cache_close(const ObjectCache *cache) {
    int count = 0;
    long long bytes = 0;
    Entry *entry = cache->kept == 0 ? NULL : list_entries(cache, &count);
    for (int i = 0; i < count; i++)
        bytes += entry[i].bytes;
    if (bytes <= (long long)MOST_MIB << 20)
        return;
    qsort(entry, (size_t)count, sizeof *entry, oldest_first);
    for (int i = 0; i < count && bytes > (long long)LEFT_MIB << 20; i++)
        if (unlink(entry[i].path) == 0)
            bytes -= entry[i].bytes;
}
