/* dataset_colours.c - the colours that masks have: which class each means, and, for check-data, which
 * occur.
 *
 * A colour is one number, red * 65536 + green * 256 + blue, as UNET_IMAGE_COLOURS reads it.
 */
#include "dataset_parts.h"
#include "unet/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 2048, SHOWN = 40 };

int32_t dataset_class_of_colour(const UnetSource *source, int32_t classes, int32_t colour) {
    int32_t k = 0;
    for (const int32_t *value = source->values; k < classes && *value != colour; value++) {
        k += *value < 0;
    }
    return k < classes ? k : -1;
}

const char *dataset_colour_text(int32_t colour, char text[COLOUR_TEXT_BYTES]) {
    (void)snprintf(text, COLOUR_TEXT_BYTES, "[%d, %d, %d]", colour >> 16 & 0xff, colour >> 8 & 0xff,
                   colour & 0xff);
    return text;
}

/* ---- what occurs ------------------------------------------------------------------------------ */

/* Returns the place of COLOUR among the colours seen so far; -1: there are too many. */
static int32_t place_of(ColourCount *count, int32_t colour) {
    int32_t i = 0;
    while (i < count->colours && count->colour[i] != colour) {
        i++;
    }
    if (i == count->colours && i < MOST_COLOURS) {
        count->colour[i] = colour;
        count->points[i] = 0;
        count->colours++;
    }
    count->more |= i == MOST_COLOURS;
    return i < MOST_COLOURS ? i : -1;
}

static void count_row(ColourCount *count, const float *row, int32_t width) {
    for (int32_t x = 0; x < width;) {
        int32_t end = x + 1;
        while (end < width && row[end] == row[x]) {
            end++;
        }
        const int32_t place = place_of(count, (int32_t)row[x]);
        if (place >= 0) {
            count->points[place] += end - x;
        }
        count->all += end - x;
        x = end;
    }
}

void dataset_count_colours(ColourCount *count, const char *path, int32_t channels) {
    UnetImageReader *reader;
    UnetError ignored; /* whoever reads classes tells of it */
    if (unet_image_open(&reader, path, channels, &ignored) != UNET_OK) {
        return;
    }
    const UnetImageInfo info = unet_image_info(reader);
    float *row = calloc((size_t)info.width, sizeof *row);
    UnetStatus status = row != NULL ? UNET_OK : UNET_TOO_SMALL;
    for (int32_t y = 0; y < info.height && status == UNET_OK && !count->more; y++) {
        status = unet_image_read_row(reader, row, &ignored);
        if (status == UNET_OK) {
            count_row(count, row, info.width);
        }
    }
    free(row);
    unet_image_close(reader);
    count->files++;
}

/* The most frequent first. */
static void sort_colours(ColourCount *count) {
    for (int32_t i = 1; i < count->colours; i++) {
        const int32_t colour = count->colour[i];
        const int64_t points = count->points[i];
        int32_t k = i;
        for (; k > 0 && count->points[k - 1] < points; k--) {
            count->colour[k] = count->colour[k - 1];
            count->points[k] = count->points[k - 1];
        }
        count->colour[k] = colour;
        count->points[k] = points;
    }
}

/* The line to write, of a source that has no colours yet. */
static void describe_line(const ColourCount *count, UnetNote *note, void *context) {
    char text[LINE_BYTES], colour[COLOUR_TEXT_BYTES];
    int n = snprintf(text, sizeof text, "  if each is a class, the most frequent first: colours = [");
    for (int32_t i = 0; i < count->colours && i < SHOWN; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", i > 0 ? ", " : "",
                      dataset_colour_text(count->colour[i], colour));
    }
    (void)snprintf(text + n, sizeof text - (size_t)n, "%s]", count->colours > SHOWN ? ", ..." : "");
    note(context, text);
}

void dataset_describe_colours(const UnetDataset *dataset, int32_t source, ColourCount *count,
                              UnetNote *note, void *context) {
    char text[LINE_BYTES], colour[COLOUR_TEXT_BYTES];
    if (count->files == 0) {
        return;
    }
    sort_colours(count);
    (void)snprintf(
        text, sizeof text, "%.100s: %s%" PRId32 " colour%s occur%s%s", dataset->source[source].name,
        count->more ? "more than " : "", count->colours, unet_plural(count->colours),
        count->colours == 1 ? "s" : "",
        count->more ? ": JPEG and smoothed edges make colours that mean nothing; draw masks without, as PNG"
                    : "");
    note(context, text);
    for (int32_t i = 0; i < count->colours && i < SHOWN; i++) {
        (void)snprintf(text, sizeof text, "  %-16s %12" PRId64 " points %6.2f %%",
                       dataset_colour_text(count->colour[i], colour), count->points[i],
                       100 * (double)count->points[i] / (double)count->all);
        note(context, text);
    }
    if (!dataset->source[source].colours && !count->more) {
        describe_line(count, note, context);
    }
}
