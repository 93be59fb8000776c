/* report_pictures.c - pictures on a page: of a sample its inputs, its targets and what the weights make of
 * it, each a PNG within the page.
 *
 * A large picture is thinned to every second, third, ... point: that keeps classes and noise as they are,
 * which a mean would not.  So a page with some dozens of pictures has a few megabytes. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 4, FEW_POINTS = 160 };

typedef struct {
    PictureTaker taker; /* first: what pictures_show() calls gets it */
    Page *page;
    int32_t most; /* points on a side */
} OnPage;

/* Every EVERY-th point of PICTURE, at TO. */
static UnetPicture thinned(const UnetPicture *picture, int32_t every, uint8_t *to) {
    const size_t point = (size_t)picture->channels, row = (size_t)picture->width * point;
    const UnetPicture thin = {(picture->height - 1) / every + 1, (picture->width - 1) / every + 1,
                              picture->channels, to, picture->frames};
    for (int32_t y = 0; y < thin.height; y++)
        for (int32_t x = 0; x < thin.width; x++, to += point)
            memcpy(to,
                   picture->points + (size_t)y * (size_t)every * row + (size_t)x * (size_t)every * point,
                   point);
    return thin;
}

static void put_image(Page *page, const char *name, const UnetPicture *shown, const uint8_t *png,
                      size_t length) {
    page_format(page, "<img%s width=\"%" PRId32 "\" height=\"%" PRId32 "\" alt=\"",
                shown->width < FEW_POINTS ? " class=\"points\"" : "", shown->width, shown->height);
    page_text(page, name);
    page_markup(page, "\" src=\"data:image/png;base64,");
    page_base64(page, png, length);
    page_markup(page, "\"/>");
}

static void put_caption(Page *page, const char *name, const char *role, const UnetPicture *picture,
                        int32_t every) {
    page_markup(page, "<figcaption>");
    page_text(page, role);
    page_markup(page, " ");
    page_text(page, name);
    if (picture->frames > 0)
        page_format(page, ", %" PRId32 " frames", picture->frames);
    else
        page_format(page, ", %" PRId32 " x %" PRId32, picture->height, picture->width);
    if (every > 1 && picture->frames == 0)
        page_format(page, ", thinned by %" PRId32, every);
    page_markup(page, "</figcaption>");
}

static UnetStatus take_picture(PictureTaker *taker, const char *name, const char *role,
                               const UnetPicture *picture, UnetError *error) {
    const OnPage *on = (const OnPage *)taker;
    const int32_t side = picture->height > picture->width ? picture->height : picture->width;
    const int32_t every = (side - 1) / on->most + 1;
    uint8_t *png = NULL;
    size_t length = 0;
    uint8_t *points = malloc(3 * (size_t)on->most * (size_t)on->most);
    if (points == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a picture");
    const UnetPicture shown = thinned(picture, every, points);
    const UnetStatus status = unet_picture_png(&shown, true, &png, &length, error);
    if (status == UNET_OK) {
        page_markup(on->page, "<figure>");
        put_image(on->page, name, &shown, png, length);
        put_caption(on->page, name, role, picture, every);
        page_markup(on->page, "</figure>\n");
    }
    free(png);
    free(points);
    return status;
}

void report_sample(Page *page, Driver *driver, Pictures *pictures, int32_t sample, int32_t most) {
    OnPage on = {.taker = {.take = take_picture}, .page = page, .most = most};
    page_markup(page, "<div class=\"pictures\">\n");
    if (page->status == UNET_OK && pictures_show(pictures, sample, true, &on.taker) != UNET_OK) {
        report_note(page, "", driver->error.text);
        if (page->status == UNET_OK)
            driver->error.text[0] = '\0';
    }
    page_markup(page, "</div>\n");
}

void report_samples(Page *page, Driver *driver, Pictures *pictures, const UnetDataset *data) {
    enum { MOST_POINTS = 320 };
    const int32_t all = unet_dataset_samples(data), samples = all < SAMPLES ? all : SAMPLES;
    page_markup(page, "<h2>Samples of the evaluation</h2>\n");
    report_note(page, "", "Outputs are what the last weights make of the input.");
    for (int32_t sample = 0; sample < samples && signals_look() == 0; sample++) {
        page_markup(page, "<h3>");
        page_text(page, unet_dataset_name(data, sample));
        page_markup(page, "</h3>\n");
        report_sample(page, driver, pictures, sample, MOST_POINTS);
    }
}
