/* atomic_file.c - files that appear whole or not at all: write beside, sync, rename, sync the folder. */
#define _DEFAULT_SOURCE /* realpath */
#include "unet/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    return code == 0 ? UNET_OK : fail_errno(error, "write", file->path, code);
}

UnetStatus unet_atomic_open(UnetAtomicFile *file, const char *path, UnetError *error) {
    file->fd = -1;
    UnetStatus status = find_place(file, path, error);
    return status == UNET_OK ? open_part(file, error) : status;
}

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
