/* atomic_file.c - files that appear whole or not at all: write beside, sync, rename, sync the folder. */
#define _DEFAULT_SOURCE /* realpath, flock */
#include "unet/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static UnetStatus fail_errno(UnetError *error, const char *what, const char *path, int code) {
    return unet_fail(error, UNET_IO, "%s: cannot %s: %s", path, what, strerror(code));
}

static int open_retrying(const char *path, int flags) {
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

static UnetStatus fail_length(UnetError *error, const char *path) {
    return unet_fail(error, UNET_IO, "%.200s...: the path is too long", path);
}

/* The file that is to be replaced is PATH, or what it points at: a link stays a link, as with cp. */
static UnetStatus find_place(UnetAtomicFile *file, const char *path, UnetError *error) {
    struct stat found;
    bool is_link = lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
    if (is_link && realpath(path, file->path) == NULL) {
        return unet_fail(error, UNET_IO, "%s: a symbolic link, and what it points at cannot be found: %s",
                         path, strerror(errno));
    }
    if (!is_link) {
        const int length = snprintf(file->path, sizeof file->path, "%s", path);
        if (length < 0 || (size_t)length >= sizeof file->path) {
            return fail_length(error, path);
        }
    }
    if (stat(file->path, &found) == 0 && !S_ISREG(found.st_mode)) {
        return unet_fail(error, UNET_IO, "%s: is no regular file, and only those are replaced", path);
    }
    return UNET_OK;
}

/* Under a name that nothing has: what someone else put there is neither written to nor followed. */
static UnetStatus open_part(UnetAtomicFile *file, UnetError *error) {
    int code = EEXIST;
    for (int attempt = 0; attempt < 100 && code == EEXIST; attempt++) {
        struct timespec now = {0, 0};
        (void)clock_gettime(CLOCK_REALTIME, &now);
        const uint32_t number = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 12;
        const int length =
            snprintf(file->part, sizeof file->part, "%s.%08" PRIx32 ".part", file->path, number);
        if (length < 0 || (size_t)length >= sizeof file->part) {
            return fail_length(error, file->path);
        }
        file->fd = open_retrying(file->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        code = file->fd < 0 ? errno : 0;
    }
    if (code == 0) {
        (void)flock(file->fd, LOCK_EX | LOCK_NB); /* tells who cleans up that it is written to */
    }
    return code == 0 ? UNET_OK : fail_errno(error, "write", file->path, code);
}

UnetStatus unet_atomic_open(UnetAtomicFile *file, const char *path, UnetError *error) {
    file->fd = -1;
    UnetStatus status = find_place(file, path, error);
    return status == UNET_OK ? open_part(file, error) : status;
}

/* ---- what was left ---------------------------------------------------------------------------- */

/* Whether FILE is called as parts of NAME are. */
static bool is_part_of(const char *file, const char *name) {
    const size_t length = strlen(name), digits = strlen(name) + 1;
    return strncmp(file, name, length) == 0 && file[length] == '.' &&
           strspn(file + digits, "0123456789abcdef") == 8 && strcmp(file + digits + 8, ".part") == 0;
}

/* Removes the part at PATH, unless someone may be at work on it. */
static void clean_part(const char *path) {
    enum { A_MINUTE = 60 };
    struct stat found;
    struct timespec now;
    const int fd = open_retrying(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && clock_gettime(CLOCK_REALTIME, &now) == 0 &&
        now.tv_sec - found.st_mtim.tv_sec > A_MINUTE && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        (void)unlink(path);
    }
    (void)close(fd);
}

void unet_atomic_clean(const char *path) {
    char folder[UNET_PATH_BYTES], part[UNET_PATH_BYTES];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const int length = snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path);
    DIR *list = length < 0 || (size_t)length >= sizeof folder ? NULL : opendir(length > 0 ? folder : ".");
    for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        const int n = snprintf(part, sizeof part, "%s%s", folder, entry->d_name);
        if (is_part_of(entry->d_name, name) && n > 0 && (size_t)n < sizeof part) {
            clean_part(part);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
}

/* ---- writing ---------------------------------------------------------------------------------- */

UnetStatus unet_atomic_write(UnetAtomicFile *file, const void *data, size_t bytes, UnetError *error) {
    const char *rest = data;
    while (bytes > 0) {
        ssize_t written = write(file->fd, rest, bytes);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return fail_errno(error, "write", file->path, errno);
        }
        rest += written;
        bytes -= (size_t)written;
    }
    return UNET_OK;
}

static int sync_retrying(int fd) {
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* The rename is durable once the folder is.  Some file systems cannot sync a folder; there the rename is as
 * safe as it gets. */
static void sync_folder_of(UnetAtomicFile *file) {
    char *slash = strrchr(file->part, '/');
    const char *folder = ".";
    if (slash == file->part) {
        folder = "/";
    } else if (slash != NULL) {
        *slash = '\0';
        folder = file->part;
    }
    int fd = open_retrying(folder, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        (void)sync_retrying(fd);
        (void)close(fd);
    }
}

UnetStatus unet_atomic_commit(UnetAtomicFile *file, UnetError *error) {
    int code = sync_retrying(file->fd) != 0 ? errno : 0;
    if (close(file->fd) != 0 && errno != EINTR && code == 0) {
        code = errno;
    }
    file->fd = -1;
    if (code == 0 && rename(file->part, file->path) != 0) {
        code = errno;
    }
    if (code != 0) {
        (void)unlink(file->part);
        return fail_errno(error, "write", file->path, code);
    }
    sync_folder_of(file);
    return UNET_OK;
}

void unet_atomic_abandon(UnetAtomicFile *file) {
    if (file->fd >= 0) {
        (void)close(file->fd);
        (void)unlink(file->part);
        file->fd = -1;
    }
}
