/* event_record.h - the records of an event file of TensorBoard, as bytes; private to the runtime.
 *
 * A record is a message in the encoding of protocol buffers between two checksums.  A message holds another
 * as its number, its length and its bytes, so messages are made from the inside to the outside.  Only
 * the part in front of the bytes of a picture is made here: the bytes follow, and nothing follows them. */
#ifndef UNET_EVENT_RECORD_H
#define UNET_EVENT_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* Checksums by the polynomial of Castagnoli; CHECKSUM of what stands before, 0 at the start. */
uint32_t event_checksum(uint32_t checksum, const void *bytes, size_t count);
/* As records have it, which may be checksummed themselves. */
uint32_t event_masked(uint32_t checksum);

enum { EVENT_TAG_BYTES = 256, EVENT_BYTES = EVENT_TAG_BYTES + 128 };

/* Part of a message. */
typedef struct {
    uint8_t bytes[EVENT_BYTES];
    size_t used;
} EventPart;

/* Events; of their TAG as much counts as fits. */
EventPart event_version(double wall_time);
/* A run begins with STEP: what a reader has of later steps is forgotten. */
EventPart event_start(double wall_time, int64_t step);
EventPart event_scalar(double wall_time, int64_t step, const char *tag, double value);
EventPart event_picture(double wall_time, int64_t step, const char *tag, int32_t height, int32_t width,
                        int32_t channels, size_t png_bytes);

enum { EVENT_HEAD_BYTES = 12, EVENT_FOOT_BYTES = 4 };
/* The parts in front of COUNT bytes, and behind them. */
void event_head(uint8_t head[EVENT_HEAD_BYTES], uint64_t count);
void event_foot(uint8_t foot[EVENT_FOOT_BYTES], uint32_t checksum);

#endif
