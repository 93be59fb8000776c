/* atomic_file.c - files that appear whole or not at all: write beside, sync, rename, sync the folder. */
#include "unet/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

UnetStatus unet_atomic_open(UnetAtomicFile *file, const char *path, UnetError *error) {
    file->fd = -1;
    int length = snprintf(file->path, sizeof file->path, "%s", path);
    int part = snprintf(file->part, sizeof file->part, "%s.part", path);
    if (length < 0 || part < 0 || (size_t)part >= sizeof file->part) {
        return unet_fail(error, UNET_IO, "%.200s...: the path is too long", path);
    }
    file->fd = open_retrying(file->part, O_WRONLY | O_CREAT | O_TRUNC);
    if (file->fd < 0) {
        return fail_errno(error, "write", path, errno);
    }
    return UNET_OK;
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
