/* image_file.c - see image_file.h. */
#include "image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool image_file_open(ImageFile *file, const char *path) {
    file->failure = 0;
    file->start = 0;
    file->at = file->count = 0;
    do {
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
    } while (file->fd < 0 && errno == EINTR);
    return file->fd >= 0;
}

void image_file_close(ImageFile *file) {
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    file->fd = -1;
}

bool image_file_fill(ImageFile *file) {
    ssize_t got;
    file->start += (off_t)file->count;
    file->at = file->count = 0;
    do {
        got = read(file->fd, file->bytes, sizeof file->bytes);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        file->failure = errno;
    } else {
        file->count = (size_t)got;
    }
    return got > 0;
}

size_t image_file_read(ImageFile *file, void *bytes, size_t count) {
    size_t done = 0;
    while (done < count && (file->at < file->count || image_file_fill(file))) {
        const size_t left = file->count - file->at, part = count - done < left ? count - done : left;
        memcpy((char *)bytes + done, file->bytes + file->at, part);
        file->at += part;
        done += part;
    }
    return done;
}

off_t image_file_place(const ImageFile *file) {
    return file->start + (off_t)file->at;
}

/* Keeps the bytes that were read if they hold the place that is asked for. */
bool image_file_seek(ImageFile *file, off_t offset, int whence) {
    const off_t place = image_file_place(file);
    if (whence == SEEK_CUR && __builtin_add_overflow(place, offset, &offset)) {
        return false;
    }
    if (whence != SEEK_END && offset >= file->start && offset <= file->start + (off_t)file->count) {
        file->at = (size_t)(offset - file->start);
        return true;
    }
    const off_t found = lseek(file->fd, offset, whence == SEEK_END ? SEEK_END : SEEK_SET);
    if (found < 0) {
        return false;
    }
    file->start = found;
    file->at = file->count = 0;
    return true;
}
