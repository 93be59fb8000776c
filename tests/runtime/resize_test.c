/* resize_test.c - pictures made smaller and larger: as Pillow and PyTorch do it, of any kind of numbers,
 * with rows passed over, and as files are read. */
#include <math.h>

#include "check.h"
#include "make_png.h"
#include "recorded_resize.h"
#include "unet/image.h"
#include "unet/resize.h"

enum { MOST = 4096 };

static size_t row_bytes(const UnetResizeShape *shape, int32_t width) {
    return (size_t)width * (size_t)shape->channels * (size_t)(shape->bits / 8);
}

/* Resizes FROM into TO; rows whose bit is not in ASKED are passed over. */
static void resize_all(const UnetResizeShape *shape, const void *from, void *to, uint64_t asked) {
    const size_t in = row_bytes(shape, shape->from[1]), out = row_bytes(shape, shape->to[1]);
    void *memory = aligned_alloc(64, unet_resize_bytes(shape));
    UnetResize *resize = unet_resize_at(memory, shape);
    int32_t read = 0;
    for (int32_t y = 0; y < shape->to[0]; y++) {
        if ((asked >> y & 1) == 0) {
            unet_resize_skip(resize, 1);
            continue;
        }
        while (unet_resize_wants(resize))
            unet_resize_push(resize, (const char *)from + (size_t)read++ * in);
        CHECK(read <= shape->from[0], "%d rows are wanted of %d", read, shape->from[0]);
        unet_resize_pull(resize, (char *)to + (size_t)y * out);
    }
    CHECK(!unet_resize_wants(resize), "a row is wanted behind the last");
    free(memory);
}

/* Pillow's bytes come out to the bit; its floats but for the last one, for weights are divided otherwise.
 */
static void check_recorded(void) {
    for (size_t k = 0; k < sizeof recorded_resize / sizeof *recorded_resize; k++) {
        const UnetResizeShape *shape = &recorded_resize[k].shape;
        const size_t count = (size_t)shape->to[0] * row_bytes(shape, shape->to[1]);
        char made[MOST];
        resize_all(shape, recorded_resize[k].from, made, UINT64_MAX);
        if (shape->bits == 8) {
            CHECK(memcmp(made, recorded_resize[k].to, count) == 0, "%s differs", recorded_resize[k].name);
            continue;
        }
        for (size_t i = 0; i < count / sizeof(float); i++) {
            float number;
            memcpy(&number, made + i * sizeof number, sizeof number);
            const float wanted = ((const float *)recorded_resize[k].to)[i];
            CHECK(fabsf(number - wanted) <= 1e-6f, "%s: number %zu is %g, not %g", recorded_resize[k].name,
                  i, (double)number, (double)wanted);
        }
    }
}

/* A drawn picture, the same in 16 bits and in floats, and some of its rows alone. */
static void check_drawn(unsigned seed) {
    srand(seed);
    UnetResizeShape shape = {.channels = 1 + rand() % 4, .bits = 16};
    for (int axis = 0; axis < 2; axis++) {
        shape.from[axis] = 1 + rand() % 16;
        shape.to[axis] = 1 + rand() % 16;
    }
    uint8_t words[MOST], made[MOST];
    float floats[MOST], wanted[MOST], some[MOST];
    for (int i = 0; i < MOST / 2; i++) {
        const int number = rand() % 65536;
        words[2 * i] = (uint8_t)(number >> 8);
        words[2 * i + 1] = (uint8_t)(number & 255);
        floats[i] = (float)number;
    }
    resize_all(&shape, words, made, UINT64_MAX);
    shape.bits = 32;
    resize_all(&shape, floats, wanted, UINT64_MAX);
    const uint64_t asked = (uint64_t)rand();
    resize_all(&shape, floats, some, asked);
    const int32_t row = shape.to[1] * shape.channels;
    for (int32_t i = 0; i < shape.to[0] * row; i++) {
        const float number = (float)(made[2 * i] << 8 | made[2 * i + 1]);
        CHECK(fabsf(number - wanted[i]) <= 1.01f, "seed %u: number %d is %g, not %g", seed, i,
              (double)number, (double)wanted[i]);
        CHECK((asked >> i / row & 1) == 0 || some[i] == wanted[i],
              "seed %u: row %d differs, others left out", seed, i / row);
    }
}

/* Memory follows from a row of the result, not from the picture's height; sizes beyond all measure are
 * none. */
static void check_memory(void) {
    const UnetResizeShape tall = {{1 << 27, 2}, {64, 64}, 3, 8, false};
    const UnetResizeShape huge = {{2, 2}, {INT32_MAX, INT32_MAX}, 1024, 32, true};
    CHECK(unet_resize_bytes(&tall) < 16384, "a tall picture takes %zu bytes", unet_resize_bytes(&tall));
    CHECK(unet_resize_bytes(&huge) == 0 || sizeof(size_t) > 4, "a huge one can be counted");
}

static void check_size_of(UnetFit fit, int32_t height, int32_t width, int32_t times, int32_t h, int32_t w) {
    const UnetImageWay way = {.fit = fit, .box = {100, 150}, .times = times};
    int32_t size[2];
    unet_resized(&way, (const int32_t[]){height, width}, size);
    CHECK(size[0] == h && size[1] == w, "fit %d of %d x %d: %d x %d, not %d x %d", (int)fit, height, width,
          size[0], size[1], h, w);
}

static void check_sizes(void) {
    check_size_of(UNET_FIT_NONE, 33, 44, 1, 33, 44);
    check_size_of(UNET_FIT_EXACT, 33, 44, 1, 100, 150);
    check_size_of(UNET_FIT_EXACT, 33, 44, 3, 300, 450);
    check_size_of(UNET_FIT_INSIDE, 400, 300, 1, 100, 75);
    check_size_of(UNET_FIT_INSIDE, 300, 400, 1, 100, 133);
    check_size_of(UNET_FIT_INSIDE, 300, 400, 2, 200, 266); /* rounded before it is made larger */
    check_size_of(UNET_FIT_INSIDE, 300, 900, 1, 50, 150);
    check_size_of(UNET_FIT_INSIDE, 1, 1 << 28, 1, 1, 150);
    check_size_of(UNET_FIT_INSIDE, 200, 300, 1, 100, 150);
    check_size_of(UNET_FIT_OUTSIDE, 400, 300, 1, 200, 150);
    check_size_of(UNET_FIT_OUTSIDE, 300, 400, 1, 113, 150);
    check_size_of(UNET_FIT_OUTSIDE, 300, 900, 1, 100, 300);
}

/* A file that is read in a way that resizes: the same as its rows resized. */
static void check_file(const char *path) {
    enum { HEIGHT = 9, WIDTH = 14 };
    static const PngKind kind = {.width = WIDTH, .height = HEIGHT, .colour = PNG_COLOR_TYPE_RGB, .bits = 8};
    static const UnetImageWay way = {.fit = UNET_FIT_EXACT, .box = {5, 6}, .times = 1};
    const UnetResizeShape shape = {{HEIGHT, WIDTH}, {5, 6}, 3, 8, false};
    uint8_t points[HEIGHT * WIDTH * 3] = {0}, wanted[5 * 6 * 3];
    UnetImageReader *reader;
    UnetError error;
    for (uint32_t y = 0; y < HEIGHT; y++)
        png_fill_row(&kind, y, points + (size_t)y * WIDTH * 3);
    make_png(path, &kind);
    resize_all(&shape, points, wanted, UINT64_MAX);
    CHECK_OK(unet_image_open_as(NULL, &way, &reader, path, 3, &error), error);
    const UnetImageInfo info = unet_image_info(reader);
    CHECK(info.height == 5 && info.width == 6 && info.own[0] == HEIGHT && info.own[1] == WIDTH,
          "%d x %d of %d x %d", info.height, info.width, info.own[0], info.own[1]);
    CHECK_OK(unet_image_skip_rows(reader, 2, &error), error);
    for (int32_t y = 2; y < 5; y++) {
        CHECK_OK(unet_image_decode_row(reader, &error), error);
        CHECK(memcmp(unet_image_bytes(reader), wanted + (size_t)y * 18, 18) == 0, "row %d differs", y);
    }
    CHECK(unet_image_decode_row(reader, &error) == UNET_BUG, "a row behind the last");
    unet_image_close(reader);
}

/* A size that nobody can hold is refused before a row is read. */
static void check_too_large(const char *path) {
    static const UnetImageWay way = {.fit = UNET_FIT_OUTSIDE, .box = {16384, 16384}, .times = 2};
    UnetImageReader *reader;
    UnetError error;
    CHECK_FAILS(unet_image_open_as(NULL, &way, &reader, path, 3, &error), error, "`resize` would make");
    CHECK(reader == NULL, "a reader all the same");
}

int main(void) {
    char folder[] = "/tmp/unet_resize_XXXXXX", path[64];
    if (mkdtemp(folder) == NULL)
        return 1;
    (void)snprintf(path, sizeof path, "%s/p.png", folder);
    check_recorded();
    for (unsigned seed = 1; seed <= 200; seed++)
        check_drawn(seed);
    check_memory();
    check_sizes();
    check_file(path);
    check_too_large(path);
    (void)remove(path);
    (void)remove(folder);
    return check_result();
}
