/* events.h - event files of TensorBoard: numbers and pictures of a run by its steps.
 *
 * A file is called events.out.tfevents.SECONDS.HOST.PROCESS and is only appended to, a whole record at a
 * time. It says with which step it starts: a reader forgets what other files of the folder have from there
 * on, so a run that is continued, or begun anew, writes another one.
 */
#ifndef UNET_EVENTS_H
#define UNET_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include "unet/atomic_file.h"
#include "unet/picture.h"
#include "unet/status.h"

typedef struct {
    int fd; /* -1: not open */
    char path[UNET_PATH_BYTES];
} UnetEvents;

/* A new file in FOLDER, which exists, of a run whose first step is STEP. */
UNET_MUST_USE UnetStatus unet_events_open(UnetEvents *events, const char *folder, int64_t step,
                                          UnetError *error);
void unet_events_close(UnetEvents *events); /* also after a failure */

UNET_MUST_USE UnetStatus unet_events_scalar(UnetEvents *events, const char *tag, int64_t step, double value,
                                            UnetError *error);

UNET_MUST_USE UnetStatus unet_events_picture(UnetEvents *events, const char *tag, int64_t step,
                                             const UnetPicture *picture, UnetError *error);

#endif
