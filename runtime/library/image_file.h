/* image_file.h - a file that is read from its beginning on, now and then from elsewhere; private to the
 * runtime.  Unlike stdio it takes no memory. */
#ifndef UNET_IMAGE_FILE_H
#define UNET_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* SEEK_SET */
#include <sys/types.h>

enum { IMAGE_FILE_BYTES = 1 << 14 };

typedef struct {
    int fd;       /* -1: none */
    int failure;  /* errno of the read that failed, or 0 */
    off_t start;  /* place of the first byte in `bytes` */
    size_t at;    /* the next byte there, */
    size_t count; /*   of so many */
    uint8_t bytes[IMAGE_FILE_BYTES];
} ImageFile;

/* False, with errno, where PATH cannot be opened; close it then, too. */
bool image_file_open(ImageFile *file, const char *path);
void image_file_close(ImageFile *file);

/* Reads up to COUNT bytes; fewer at the end of the file, or where that cannot be read: see `failure`. */
size_t image_file_read(ImageFile *file, void *bytes, size_t count);
/* Fills `bytes` from `start` on, when all of them were read; false at the end. */
bool image_file_fill(ImageFile *file);
/* As lseek(); false: the file cannot, or has no such place. */
bool image_file_seek(ImageFile *file, off_t offset, int whence);
off_t image_file_place(const ImageFile *file);

#endif
