/* events_test.c - event files of TensorBoard: checksums and records as its own library writes them; a file
 * that is opened, written and read back record by record; the PNG inside a record. */
#include "check.h"
#include "event_record.h"
#include "unet/events.h"
#include "unet/image.h"

#include <unistd.h>

/* EVENT as a record, in hexadecimal digits. */
static void check_record(EventPart event, const char *expected) {
    uint8_t head[EVENT_HEAD_BYTES], foot[EVENT_FOOT_BYTES];
    char digits[2 * (sizeof head + sizeof event.bytes + sizeof foot) + 1];
    size_t used = 0;
    event_head(head, event.used);
    event_foot(foot, event_checksum(0, event.bytes, event.used));
    for (size_t i = 0; i < sizeof head; i++) {
        used += (size_t)sprintf(digits + used, "%02x", head[i]);
    }
    for (size_t i = 0; i < event.used; i++) {
        used += (size_t)sprintf(digits + used, "%02x", event.bytes[i]);
    }
    for (size_t i = 0; i < sizeof foot; i++) {
        used += (size_t)sprintf(digits + used, "%02x", foot[i]);
    }
    CHECK(strcmp(digits, expected) == 0, "%s, should be %s", digits, expected);
}

static void test_records(void) {
    CHECK(event_checksum(0, "123456789", 9) == 0xe3069283u, "the checksum of nine digits");
    CHECK(event_checksum(event_checksum(0, "1234", 4), "56789", 5) == 0xe3069283u, "in two parts");
    check_record(event_version(1.0),
                 "1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a");
    check_record(event_scalar(2.0, 3, "loss", 0.5),
                 "1a00000000000000129bd82d09000000000000004010032a0d0a0b0a046c6f7373150000003fbac36b94");
    char tag[1000];
    memset(tag, 'x', sizeof tag);
    tag[sizeof tag - 1] = '\0';
    const EventPart longest = event_picture(1, INT64_MAX, tag, INT32_MAX, INT32_MAX, 3, SIZE_MAX / 2);
    CHECK(longest.used < sizeof longest.bytes, "the longest event has %zu bytes", longest.used);
}

/* Goes from record to record; returns how many there are.  LAST: where the data of the last begin. */
static int count_records(const unsigned char *bytes, size_t length, size_t *last, size_t *last_length) {
    size_t at = 0;
    int records = 0;
    while (at < length) {
        uint8_t head[EVENT_HEAD_BYTES], foot[EVENT_FOOT_BYTES];
        uint64_t count;
        memcpy(&count, bytes + at, 8); /* on machines that have the low byte first */
        event_head(head, count);
        CHECK(memcmp(head, bytes + at, sizeof head) == 0, "record %d: its length", records);
        if (count > length - at - 16) {
            CHECK(false, "record %d is cut", records);
            return records;
        }
        *last = at + 12;
        *last_length = (size_t)count;
        event_foot(foot, event_checksum(0, bytes + *last, *last_length));
        CHECK(memcmp(foot, bytes + *last + count, sizeof foot) == 0, "record %d: its data", records);
        at += 16 + (size_t)count;
        records++;
    }
    return records;
}

static void test_file(const char *folder) {
    uint8_t points[3 * 5 * 4];
    char path[100];
    UnetEvents events;
    UnetError error;
    size_t length, last = 0, last_length = 0;
    for (size_t i = 0; i < sizeof points; i++) {
        points[i] = (uint8_t)(i * 4);
    }
    CHECK_OK(unet_events_open(&events, folder, 7, &error), error);
    CHECK_OK(unet_events_scalar(&events, "train/loss", 7, 0.25, &error), error);
    for (int32_t channels = 1; channels <= 3; channels += 2) {
        const UnetPicture picture = {4, 5, channels, points, 0};
        CHECK_OK(unet_events_picture(&events, "a/b", 7, &picture, &error), error);
        unsigned char *bytes = read_bytes(events.path, &length);
        CHECK(count_records(bytes, length, &last, &last_length) == 3 + (channels + 1) / 2, "records");
        size_t png = last;
        while (png < length && memcmp(bytes + png, "\x89PNG", 4) != 0) {
            png++;
        }
        snprintf(path, sizeof path, "%s/picture.png", folder);
        write_bytes(path, bytes + png, last + last_length - png);
        free(bytes);
        UnetImageReader *reader;
        float row[3 * 5];
        CHECK_OK(unet_image_open(&reader, path, 0, &error), error);
        CHECK_OK(unet_image_check_end(reader, &error), error);
        unet_image_close(reader);
        CHECK_OK(unet_image_open(&reader, path, 0, &error), error);
        for (int y = 0; reader != NULL && y < 4; y++) {
            CHECK_OK(unet_image_read_row(reader, row, &error), error);
            for (int i = 0; i < channels * 5; i++) {
                const int right = points[(y * 5 + i % 5) * channels + i / 5];
                CHECK((int)(255 * row[i] + 0.5f) == right, "a point is %g, not %d", (double)(255 * row[i]),
                      right);
            }
        }
        unet_image_close(reader);
    }
    unet_events_close(&events);
    CHECK_FAILS(unet_events_open(&events, "/nowhere", 0, &error), error, "cannot write: No such file");
    unet_events_close(&events);
}

/* Silence, the loudest point of either side, and half of it. */
static void test_wave(void) {
    static const uint8_t signal[] = {128, 228, 28, 178};
    static const int line[] = {32, 1, 63, 17};
    static uint8_t points[UNET_WAVE_BYTES];
    const UnetPicture row = {1, 4, 1, signal, 0};
    const UnetPicture wave = unet_picture_wave(&row, false, points);
    CHECK(wave.width == 4 && wave.height == UNET_WAVE_HEIGHT && wave.channels == 1 && wave.frames == 4,
          "its shape");
    for (int x = 0; x < 4; x++) {
        for (int y = 0; y < UNET_WAVE_HEIGHT; y++) {
            CHECK((points[y * 4 + x] < 255) == (y == line[x]), "line %d of column %d", y, x);
        }
    }
    const UnetPicture strip = unet_picture_wave(&row, true, points);
    for (int i = 0; i < 4 * strip.height; i++) {
        CHECK(points[i] == signal[i % 4], "a strip has the bytes of its row");
    }
}

/* Runs that begin in the same second have a file each. */
static void test_names(const char *folder) {
    enum { RUNS = 3 };
    UnetEvents events[RUNS];
    UnetError error;
    for (int i = 0; i < RUNS; i++) {
        CHECK_OK(unet_events_open(&events[i], folder, 1, &error), error);
        for (int k = 0; k < i; k++) {
            CHECK(strcmp(events[i].path, events[k].path) != 0, "two runs write %s", events[i].path);
        }
    }
    for (int i = 0; i < RUNS; i++) {
        unet_events_close(&events[i]);
    }
}

int main(void) {
    char folder[64];
    make_folder(folder);
    test_records();
    test_wave();
    test_file(folder);
    test_names(folder);
    remove_folder(folder);
    return check_result();
}
