/* status.h - how every function of the runtime reports failure.
 *
 * The runtime never prints and never exits: it returns a code the caller must look at and leaves one
 * sentence, naming the file and the place, in the caller's UnetError.  Only the driver talks to the user.
 */
#ifndef UNET_STATUS_H
#define UNET_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values are the exit codes of a generated program. */
typedef enum {
    UNET_OK = 0,
    UNET_USAGE = 2,     /* the command line */
    UNET_TOO_SMALL = 3, /* the device or machine lacks the memory that the plan needs */
    UNET_IO = 4,        /* data, input or output */
    UNET_DIVERGED = 6,  /* a loss or weight is no longer finite */
    UNET_BUG = 70       /* in unetc, not in the user's files */
} UnetStatus;

typedef struct {
    char text[1024];  /* "photos/noisy/03.png: cut short after row 17", no trailing newline */
    const char *kind; /* the same pointer for all failures of a kind: the format that unet_fail() had */
} UnetError;

#define UNET_MUST_USE __attribute__((warn_unused_result))

/* Fills ERROR (which may be NULL) and returns STATUS, so that a caller writes
 *     return unet_fail(error, UNET_IO, "%s: %s", path, strerror(errno)); */
UnetStatus unet_fail(UnetError *error, UnetStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds to the text of ERROR, as whoever called knows more; what has no room is cut. */
void unet_fail_more(UnetError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
