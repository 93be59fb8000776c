/* event_record.c - the messages of event files, and the frame that a record has. */
#include "event_record.h"

#include <string.h>

/* ---- the frame -------------------------------------------------------------------------------- */

uint32_t event_checksum(uint32_t checksum, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    checksum = ~checksum;
    for (size_t i = 0; i < count; i++) {
        checksum ^= at[i];
        for (int bit = 0; bit < 8; bit++) {
            checksum = checksum >> 1 ^ (0x82f63b78u & (0u - (checksum & 1)));
        }
    }
    return ~checksum;
}

uint32_t event_masked(uint32_t checksum) {
    return (checksum >> 15 | checksum << 17) + 0xa282ead8u;
}

/* The lowest byte first. */
static void little_endian(uint8_t *to, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(number >> 8 * i);
    }
}

void event_head(uint8_t head[EVENT_HEAD_BYTES], uint64_t count) {
    little_endian(head, count, 8);
    little_endian(head + 8, event_masked(event_checksum(0, head, 8)), 4);
}

void event_foot(uint8_t foot[EVENT_FOOT_BYTES], uint32_t checksum) {
    little_endian(foot, event_masked(checksum), 4);
}

/* ---- fields ----------------------------------------------------------------------------------- */

typedef enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 } WireType;

static void put_varint(EventPart *part, uint64_t number) {
    for (; number > 127; number >>= 7) {
        part->bytes[part->used++] = (uint8_t)(number | 128);
    }
    part->bytes[part->used++] = (uint8_t)number;
}

static void put_key(EventPart *part, int field, WireType type) {
    put_varint(part, (uint64_t)(field << 3 | (int)type));
}

static void put_number(EventPart *part, int field, int64_t number) {
    put_key(part, field, VARINT);
    put_varint(part, (uint64_t)number);
}

static void put_text(EventPart *part, int field, const char *text) {
    const size_t length = strnlen(text, EVENT_TAG_BYTES);
    put_key(part, field, BYTES);
    put_varint(part, length);
    memcpy(part->bytes + part->used, text, length);
    part->used += length;
}

/* A message that ends with TAIL bytes which are not here. */
static void put_message(EventPart *part, int field, const EventPart *message, size_t tail) {
    put_key(part, field, BYTES);
    put_varint(part, message->used + tail);
    memcpy(part->bytes + part->used, message->bytes, message->used);
    part->used += message->used;
}

/* ---- events ----------------------------------------------------------------------------------- */

static EventPart begin(double wall_time) {
    EventPart event = {.used = 0};
    uint64_t bits;
    memcpy(&bits, &wall_time, sizeof bits);
    put_key(&event, 1, FIXED64);
    little_endian(event.bytes + event.used, bits, 8);
    event.used += 8;
    return event;
}

EventPart event_version(double wall_time) {
    EventPart event = begin(wall_time);
    put_text(&event, 3, "brain.Event:2");
    return event;
}

EventPart event_start(double wall_time, int64_t step) {
    EventPart event = begin(wall_time), log = {.used = 0};
    put_number(&log, 1, 1); /* its status: START */
    put_number(&event, 2, step);
    put_message(&event, 7, &log, 0);
    return event;
}

/* A summary of one VALUE. */
static EventPart summary_of(double wall_time, int64_t step, const EventPart *value, size_t tail) {
    EventPart event = begin(wall_time), summary = {.used = 0};
    put_number(&event, 2, step);
    put_message(&summary, 1, value, tail);
    put_message(&event, 5, &summary, tail);
    return event;
}

EventPart event_scalar(double wall_time, int64_t step, const char *tag, double value) {
    const float number = (float)value;
    uint32_t bits;
    EventPart part = {.used = 0};
    memcpy(&bits, &number, sizeof bits);
    put_text(&part, 1, tag);
    put_key(&part, 2, FIXED32);
    little_endian(part.bytes + part.used, bits, 4);
    part.used += 4;
    return summary_of(wall_time, step, &part, 0);
}

EventPart event_picture(double wall_time, int64_t step, const char *tag, int32_t height, int32_t width,
                        int32_t channels, size_t png_bytes) {
    EventPart image = {.used = 0}, part = {.used = 0};
    put_number(&image, 1, height);
    put_number(&image, 2, width);
    put_number(&image, 3, channels); /* its kind of colours has the same number */
    put_key(&image, 4, BYTES);
    put_varint(&image, png_bytes);
    put_text(&part, 1, tag);
    put_message(&part, 4, &image, png_bytes);
    return summary_of(wall_time, step, &part, png_bytes);
}
