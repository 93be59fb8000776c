/* events.c - writes event files of TensorBoard; event_record.c makes the bytes of their records.
 *
 * A record goes out by one call, and what a full disk has taken of one is cut off again, so that the file
 * has whole records only. */
#include "unet/events.h"
#include "event_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- records ---------------------------------------------------------------------------------- */

/* The record of EVENT and the COUNT bytes behind it. */
static UnetStatus write_record(UnetEvents *events, EventPart *event, uint8_t *bytes, size_t count,
                               UnetError *error) {
    uint8_t head[EVENT_HEAD_BYTES], foot[EVENT_FOOT_BYTES];
    const uint32_t checksum = event_checksum(event_checksum(0, event->bytes, event->used), bytes, count);
    const struct iovec parts[] = {
        {head, sizeof head}, {event->bytes, event->used}, {bytes, count}, {foot, sizeof foot}};
    const off_t before = lseek(events->fd, 0, SEEK_END);
    ssize_t written;
    event_head(head, event->used + count);
    event_foot(foot, checksum);
    do {
        written = writev(events->fd, parts, 4);
    } while (written < 0 && errno == EINTR);
    if (written == (ssize_t)(sizeof head + event->used + count + sizeof foot)) {
        return UNET_OK;
    }
    const int code = written < 0 ? errno : ENOSPC;
    if (before >= 0 && ftruncate(events->fd, before) != 0) {
        return unet_fail(error, UNET_IO, "%s: cannot write: %s; its last record is cut", events->path,
                         strerror(code));
    }
    return unet_fail(error, UNET_IO, "%s: cannot write: %s", events->path, strerror(code));
}

/* NUMBER tells runs apart that begin in the same second, in one process or, in several containers, in
 * processes that have the same number. */
static bool name_file(UnetEvents *events, const char *folder, int number) {
    char host[256];
    if (gethostname(host, sizeof host) != 0) {
        (void)snprintf(host, sizeof host, "localhost");
    }
    host[sizeof host - 1] = '\0';
    const int n = snprintf(events->path, sizeof events->path, "%s/events.out.tfevents.%010lld.%s.%ld.%d",
                           folder, (long long)time(NULL), host, (long)getpid(), number);
    return n > 0 && (size_t)n < sizeof events->path;
}

UnetStatus unet_events_open(UnetEvents *events, const char *folder, int64_t step, UnetError *error) {
    enum { MOST = 1000 };
    events->fd = -1;
    errno = EEXIST;
    for (int number = 0; events->fd < 0 && errno == EEXIST && number < MOST; number++) {
        if (!name_file(events, folder, number)) {
            return unet_fail(error, UNET_IO, "%s: the name of the folder is too long", folder);
        }
        events->fd = open(events->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    }
    if (events->fd < 0) {
        return unet_fail(error, UNET_IO, "%s: cannot write: %s", events->path, strerror(errno));
    }
    EventPart event = event_version(now());
    UnetStatus status = write_record(events, &event, NULL, 0, error);
    if (status == UNET_OK) {
        event = event_start(now(), step);
        status = write_record(events, &event, NULL, 0, error);
    }
    return status;
}

void unet_events_close(UnetEvents *events) {
    if (events->fd >= 0) {
        (void)close(events->fd);
    }
    events->fd = -1;
}

UnetStatus unet_events_scalar(UnetEvents *events, const char *tag, int64_t step, double value,
                              UnetError *error) {
    EventPart event = event_scalar(now(), step, tag, value);
    return write_record(events, &event, NULL, 0, error);
}

UnetStatus unet_events_picture(UnetEvents *events, const char *tag, int64_t step,
                               const UnetPicture *picture, UnetError *error) {
    uint8_t *png;
    size_t length;
    UnetStatus status = unet_picture_png(picture, false, &png, &length, error);
    if (status == UNET_OK) {
        EventPart event =
            event_picture(now(), step, tag, picture->height, picture->width, picture->channels, length);
        status = write_record(events, &event, png, length, error);
    }
    free(png);
    return status;
}
