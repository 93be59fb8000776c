/* layouts_test.c - the folders in which public sets of images and masks come: which files make a sample,
 * which numbers in them are which class, and the errors if something is missing. */
#include "check.h"
#include "fake_data.h"
#include "make_gif.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>
#include <zlib.h>

static char folder[64];

enum { SIDE = 6 };

/* PATH below the folder, whose folders are made. */
static const char *place(const char *path) {
    static char whole[400];
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    for (char *slash = strchr(whole + strlen(folder) + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        CHECK(mkdir(whole, 0777) == 0 || errno == EEXIST, "%s cannot be made", whole);
        *slash = '/';
    }
    return whole;
}

/* A picture of one value, or of indices of a palette. */
static void flat(const char *path, int value, bool palette) {
    const UnetImageInfo info = {
        .width = SIDE, .height = SIDE, .channels = palette ? 1 : 3, .bits = 8, .palette = palette};
    char made[200];
    float row[3 * SIDE];
    UnetImageWriter *writer;
    UnetError error;
    for (int i = 0; i < 3 * SIDE; i++) {
        row[i] = palette ? (float)value : (float)value / 255;
    }
    snprintf(made, sizeof made, "%s/made.png", folder); /* a PNG, whatever it is called then */
    CHECK_OK(unet_image_create(&writer, made, &info, &error), error);
    for (int y = 0; y < SIDE; y++) {
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
    CHECK(rename(made, place(path)) == 0, "%s cannot be made", path);
}

/* A picture of one colour. */
static void coloured(const char *path, int red, int green, int blue) {
    const UnetImageInfo info = {.width = SIDE, .height = SIDE, .channels = 3, .bits = 8};
    const int colour[] = {red, green, blue};
    float row[3 * SIDE];
    UnetImageWriter *writer;
    UnetError error;
    for (int i = 0; i < 3 * SIDE; i++) {
        row[i] = (float)colour[i / SIDE] / 255;
    }
    CHECK_OK(unet_image_create(&writer, place(path), &info, &error), error);
    for (int y = 0; y < SIDE; y++) {
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
}

/* A grey mask. */
static void grey(const char *path, int value) {
    const UnetImageInfo info = {.width = SIDE, .height = SIDE, .channels = 1, .bits = 8};
    float row[SIDE];
    UnetImageWriter *writer;
    UnetError error;
    for (int i = 0; i < SIDE; i++) {
        row[i] = (float)value / 255;
    }
    CHECK_OK(unet_image_create(&writer, place(path), &info, &error), error);
    for (int y = 0; y < SIDE; y++) {
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
}

static void text(const char *path, const char *lines) {
    write_bytes(place(path), lines, strlen(lines));
}

/* `photo` from IMAGES and `truth` of so many classes from MASKS. */
static void fake_layout_of(Fake *fake, const char *images, const char *masks, int32_t classes,
                           int32_t ignore) {
    fake_pairs(fake, 1, 3, SIDE, UNET_F32);
    fake->train_layout[1] = fake_layout(1, SIDE, SIDE, UNET_U8);
    fake->inputs[1] = (UnetInput){.name = "truth",
                                  .kind = UNET_LABELS,
                                  .is_target = true,
                                  .channels = 1,
                                  .classes = classes,
                                  .ignore = ignore};
    fake->source[0].name = "truth";
    fake->source[0].channels = 1;
    fake->term[0][0].pattern = masks;
    fake->term[1][0].pattern = images;
}

/* The first points of a sample. */
static void read_points(const UnetDataset *dataset, int32_t sample, double *image, int *class) {
    const UnetProgram *program = unet_dataset_program(dataset);
    void *inputs[FAKE_INPUTS],
        *scratch = aligned_alloc(64, (unet_dataset_scratch_bytes(dataset) + 63) / 64 * 64);
    int32_t valid[3];
    UnetError error;
    for (int i = 0; i < FAKE_INPUTS; i++) {
        inputs[i] = calloc(1, (size_t)program->inputs[i].sample_bytes);
    }
    CHECK_OK(unet_dataset_read(dataset, sample, 0, 0, scratch, NULL, inputs, 0, 1, valid, &error), error);
    *image = 255 * (double)((float *)inputs[0])[program->inputs[0].origin];
    *class = ((uint8_t *)inputs[1])[program->inputs[1].origin];
    free(inputs[0]);
    free(inputs[1]);
    free(scratch);
}

static void report_problem(void *context, const UnetError *problem) {
    CHECK(false, "%s: a problem: %s", (const char *)context, problem->text);
}

/* check-data finds as many samples, and nothing wrong. */
static void check_data(const Fake *fake, int count) {
    UnetDataCheck check;
    UnetError error;
    char pattern[200];
    snprintf(pattern, sizeof pattern, "%s", fake->term[1][0].pattern);
    CHECK_OK(unet_check_data(&fake->model, unet_in_folder(folder), report_problem, NULL, pattern, &check,
                             &error),
             error);
    CHECK(check.samples[UNET_TRAINING] == count && check.problems == 0 && check.files == 2 * count,
          "check-data: %d samples of %s", (int)check.samples[UNET_TRAINING], pattern);
}

/* The samples are these stems, whose images have the values 10, 20, ... and whose masks these classes. */
static void check_samples(const Fake *fake, int count, const char *const *stems, const int *classes) {
    UnetDataset *dataset;
    UnetError error;
    UnetStatus status =
        unet_dataset_open(&dataset, &fake->model, UNET_TRAINING, unet_in_folder(folder), &error);
    CHECK_OK(status, error);
    if (status != UNET_OK) {
        return;
    }
    CHECK(unet_dataset_samples(dataset) == count, "%d samples of %s", unet_dataset_samples(dataset),
          fake->term[1][0].pattern);
    for (int i = 0; i < count && i < unet_dataset_samples(dataset); i++) {
        double image;
        int class;
        read_points(dataset, i, &image, &class);
        CHECK(strcmp(unet_dataset_stem(dataset, i), stems[i]) == 0, "%s, should be %s",
              unet_dataset_stem(dataset, i), stems[i]);
        CHECK(image > 10 * i + 9.9 && image < 10 * i + 10.1, "%s: an image of %g", stems[i], image);
        CHECK(class == classes[i], "%s: class %d, should be %d", stems[i], class, classes[i]);
    }
    unet_dataset_close(dataset);
    check_data(fake, count);
}

static void check_fails(const Fake *fake, const char *says) {
    UnetDataset *dataset;
    UnetError error;
    CHECK_FAILS(unet_dataset_open(&dataset, &fake->model, UNET_TRAINING, unet_in_folder(folder), &error),
                error, says);
}

/* ---- patterns --------------------------------------------------------------------------------- */

#ifdef UNET_HAS_GIF

static uint8_t left_half(uint32_t x, uint32_t y, int root) {
    (void)y;
    (void)root;
    return x < SIDE / 2;
}

/* imgs/ID.jpg and masks/ID_mask.gif. */
static void test_carvana(void) {
    static const GifKind mask = {.width = SIDE, .height = SIDE, .root = 1, .index = left_half};
    Fake fake;
    fake_layout_of(&fake, "imgs/*.jpg", "masks/*_mask.gif", 2, -1);
    flat("imgs/0cdf5b_01.jpg", 10, false);
    flat("imgs/0cdf5b_02.jpg", 20, false);
    make_gif(place("masks/0cdf5b_01_mask.gif"), &mask);
    make_gif(place("masks/0cdf5b_02_mask.gif"), &mask);
    check_samples(&fake, 2, (const char *const[]){"0cdf5b_01", "0cdf5b_02"}, (const int[]){1, 1});
    unlink(place("masks/0cdf5b_02_mask.gif"));
    check_fails(&fake, "imgs/0cdf5b_02.jpg has no partner: \"masks/*_mask.gif\" asks for");
}

#endif

/* train/ID.png and trainannot/ID.png, where 11 is void. */
static void test_camvid(void) {
    Fake fake;
    fake_layout_of(&fake, "train/*.png", "trainannot/*.png", 11, 11);
    flat("train/0001TP_006690.png", 10, false);
    flat("train/0001TP_006720.png", 20, false);
    grey("trainannot/0001TP_006690.png", 10);
    grey("trainannot/0001TP_006720.png", 11);
    check_samples(&fake, 2, (const char *const[]){"0001TP_006690", "0001TP_006720"},
                  (const int[]){10, UNET_IGNORED});
}

/* Folders of cities; ids become classes, and those without one count nowhere. */
static void test_cityscapes(void) {
    static const int32_t ids[] = {7,  -1, 8,  -1, 11, -1, 12, -1, 13, -1, 17, -1, 19,
                                  -1, 20, -1, 21, -1, 22, -1, 23, -1, 24, -1, 25, -1,
                                  26, -1, 27, -1, 28, -1, 31, -1, 32, -1, 33, -1};
    static const char *const stems[] = {"aachen/aachen_000000_000019", "aachen/aachen_000001_000019",
                                        "ulm/ulm_000000_000019"};
    Fake fake;
    fake_layout_of(&fake, "leftImg8bit/train/*/*_leftImg8bit.png",
                   "gtFine/train/*/*_gtFine_labelTrainIds.png", 19, 255);
    flat("leftImg8bit/train/aachen/aachen_000000_000019_leftImg8bit.png", 10, false);
    flat("leftImg8bit/train/aachen/aachen_000001_000019_leftImg8bit.png", 20, false);
    flat("leftImg8bit/train/ulm/ulm_000000_000019_leftImg8bit.png", 30, false);
    grey("gtFine/train/aachen/aachen_000000_000019_gtFine_labelTrainIds.png", 18);
    grey("gtFine/train/aachen/aachen_000001_000019_gtFine_labelTrainIds.png", 255);
    grey("gtFine/train/ulm/ulm_000000_000019_gtFine_labelTrainIds.png", 0);
    check_samples(&fake, 3, stems, (const int[]){18, UNET_IGNORED, 0});
    fake.term[0][0].pattern = "gtFine/train/*/*_gtFine_labelIds.png";
    fake.source[0].values = ids;
    grey("gtFine/train/aachen/aachen_000000_000019_gtFine_labelIds.png", 26);
    grey("gtFine/train/aachen/aachen_000001_000019_gtFine_labelIds.png", 3);
    grey("gtFine/train/ulm/ulm_000000_000019_gtFine_labelIds.png", 33);
    UnetDataset *dataset;
    UnetError error;
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    unet_dataset_close(dataset);
    fake.source[0].ignores_others = true;
    check_samples(&fake, 3, stems, (const int[]){13, UNET_IGNORED, 18});
}

/* Folders in folders: `**` is any number of them, and partners lie in the same. */
static void test_folders(void) {
    Fake fake;
    UnetDataset *dataset;
    UnetError error;
    fake_layout_of(&fake, "deep/**/img/*.png", "deep/**/seg/*_seg.png", 9, -1);
    flat("deep/img/b.png", 10, false);
    flat("deep/x/img/b.png", 20, false);
    flat("deep/x/y/img/a.png", 30, false);
    grey("deep/seg/b_seg.png", 1);
    grey("deep/x/seg/b_seg.png", 2);
    grey("deep/x/y/seg/a_seg.png", 3);
    check_samples(&fake, 3, (const char *const[]){"./b", "x/b", "x:y/a"}, (const int[]){1, 2, 3});
    fake.term[0][0].pattern = "deep/seg/*_seg.png";
    check_fails(&fake, "cannot be paired: 1 and 2 stars");
    fake.term[0][0].pattern = "deep/**/seg/*_seg.png";
    unlink(place("deep/x/y/seg/a_seg.png"));
    check_fails(&fake, "deep/x/y/img/a.png has no partner");
    flat("deep/x/q:r/img/a.png", 30, false);
    check_fails(&fake, "q:r: `**` takes no folder with a colon");
    unlink(place("deep/x/q:r/img/a.png"));
    rmdir(place("deep/x/q:r/img"));
    CHECK(rmdir(place("deep/x/q:r")) == 0, "a folder stays");
    CHECK(symlink("..", place("deep/x/loop")) == 0, "a link is made");
    grey("deep/x/y/seg/a_seg.png", 3);
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    CHECK(unet_dataset_samples(dataset) == 3, "%d samples", unet_dataset_samples(dataset));
    unet_dataset_close(dataset);
}

/* Several folders: the first of one source belongs to the first of another; names may return. */
static void test_several_folders(void) {
    static const char *const masks[] = {"day/mask/*.png", NULL}, *const images[] = {"day/photo/*.png",
                                                                                    NULL};
    Fake fake;
    fake_layout_of(&fake, "night/photo/*.png", "night/mask/*.png", 9, -1);
    fake.term[0][0].pattern = "night/mask/*.png";
    fake.term[0][0].more = masks;
    fake.term[1][0].pattern = "night/photo/*.png";
    fake.term[1][0].more = images;
    flat("night/photo/b.png", 10, false);
    flat("night/photo/c.png", 20, false);
    flat("day/photo/a.png", 30, false);
    flat("day/photo/c.png", 40, false);
    grey("night/mask/b.png", 1);
    grey("night/mask/c.png", 2);
    grey("day/mask/a.png", 3);
    grey("day/mask/c.png", 4);
    check_samples(
        &fake, 4,
        (const char *const[]){"night/mask/b.png", "night/mask/c.png", "day/mask/a.png", "day/mask/c.png"},
        (const int[]){1, 2, 3, 4});
    unlink(place("day/mask/c.png"));
    check_fails(&fake, "day/photo/c.png has no partner: \"day/mask/*.png\" asks for");
    fake.term[0][0].more = (const char *const[]){"day/mask/*.png", "a/*.png", NULL};
    CHECK(unet_dataset_open(&(UnetDataset *){NULL}, &fake.model, UNET_TRAINING, unet_in_folder(folder),
                            &(UnetError){.text = ""}) == UNET_BUG,
          "other numbers of folders");
}

/* The case of endings does not matter; the case of names does, and a message says so. */
static void test_cases(void) {
    static const char *const stems[] = {"a", "b", "c"};
    Fake fake;
    fake_layout_of(&fake, "mixed/photo/*.jpg", "mixed/mask/*.png", 9, -1);
    flat("mixed/photo/a.JPG", 10, false);
    flat("mixed/photo/b.jpg", 20, false);
    flat("mixed/photo/c.Jpg", 30, false);
    grey("mixed/mask/a.png", 1);
    grey("mixed/mask/b.png", 2);
    grey("mixed/mask/c.PNG", 3);
    check_samples(&fake, 3, stems, (const int[]){1, 2, 3});
    flat("mixed/photo/a.jpg", 40, false); /* whose is the mask? */
    check_fails(&fake, "mixed/photo/a.JPG and mixed/photo/a.jpg are both \"mixed/photo/*.jpg\"");
    unlink(place("mixed/photo/a.jpg"));
    flat("mixed/photo/D.JPG", 40, false);
    check_fails(&fake, "mixed/photo/D.JPG has no partner: \"mixed/mask/*.png\" asks for");
    grey("mixed/mask/d.png", 4);
    check_fails(&fake, "mixed/photo/D.JPG is there, which differs in upper and lower case");
    unlink(place("mixed/photo/D.JPG"));
    unlink(place("mixed/mask/d.png"));
    flat("mixed/photo/B\xc3\xa4r.jpg", 40, false);
    grey("mixed/mask/Ba\xcc\x88r.png", 4);
    check_fails(&fake, "looks the same and is written with other code points (U+00E4 for U+0061 U+0308)");
    unlink(place("mixed/photo/B\xc3\xa4r.jpg"));
    flat("mixed/photo/B\xc3\xb6r.jpg", 40, false); /* another letter, written with one */
    unlink(place("mixed/mask/Ba\xcc\x88r.png"));
    grey("mixed/mask/B\xc3\xa4r.png", 4);
    UnetError error;
    CHECK_FAILS(unet_dataset_open(&(UnetDataset *){NULL}, &fake.model, UNET_TRAINING,
                                  unet_in_folder(folder), &error),
                error, "has no partner");
    CHECK(strstr(error.text, "is there") == NULL, "another letter is taken for the same: %s", error.text);
}

/* Names without their endings, and several endings. */
static void test_endings(void) {
    static const char *const stems[] = {"Scan 036", "Scan 037.v2"};
    static const int classes[] = {1, 2};
    Fake fake;
    fake_layout_of(&fake, "ends/imgs/*", "ends/masks/*", 9, -1);
    flat("ends/imgs/Scan 036.jpg", 10, false);
    flat("ends/imgs/Scan 037.v2.PNG", 20, false);
    grey("ends/masks/Scan 036.png", 1);
    grey("ends/masks/Scan 037.v2.tif", 2);
    check_samples(&fake, 2, stems, classes);
    fake.term[0][0].pattern = "ends/masks/*.*";
    check_samples(&fake, 2, stems, classes);
    fake.term[1][0].pattern = "ends/imgs/*.{jpg,png}";
    check_samples(&fake, 2, stems, classes);
    fake.term[1][0].pattern = "ends/{imgs,photos}/{Scan,Bild} *.*";
    check_fails(&fake, "has no partner: \"ends/{imgs,photos}/{Scan,Bild} *.*\" asks for");
    fake.term[0][0].pattern = "ends/masks/Scan *";
    check_samples(&fake, 2, (const char *const[]){"036", "037.v2"}, classes);
    fake.term[1][0].pattern = "ends/{imgs,photos}/Scan *.jpg";
    fake.term[0][0].pattern = "ends/masks/Scan *.png";
    check_samples(&fake, 1, (const char *const[]){"036"}, classes);
    flat("ends/imgs/Scan 036.png", 10, false);
    fake.term[1][0].pattern = "ends/imgs/*";
    check_fails(&fake, "Scan 036.jpg and ends/imgs/Scan 036.png are both \"ends/imgs/*\"");
}

/* A mask beside its picture belongs to the pattern that says more of its name. */
static void test_beside(void) {
    Fake fake;
    fake_layout_of(&fake, "beside/*.png", "beside/*_mask.png", 9, -1);
    flat("beside/a.png", 10, false);
    flat("beside/b.png", 20, false);
    grey("beside/a_mask.png", 1);
    grey("beside/b_mask.png", 2);
    check_samples(&fake, 2, (const char *const[]){"a", "b"}, (const int[]){1, 2});
    fake.term[1][0].pattern = "beside/*_mask.*";
    fake.term[0][0].pattern = "beside/*_mask.png";
    check_fails(&fake, "all files of \"beside/*_mask.*\" are those of another source");
    fake.term[1][0].pattern = "beside/*";
    check_samples(&fake, 2, (const char *const[]){"a", "b"}, (const int[]){1, 2});
}

/* One folder of masks serves two of pictures. */
static void test_shared_folder(void) {
    static const char *const more[] = {"shared/b/*.png", NULL};
    Fake fake;
    fake_layout_of(&fake, "shared/a/*.jpg", "shared/masks/*.png", 9, -1);
    fake.term[1][0].more = more;
    flat("shared/a/1.jpg", 10, false);
    flat("shared/b/2.png", 20, false);
    grey("shared/masks/1.png", 1);
    grey("shared/masks/2.png", 2);
    check_samples(&fake, 2, (const char *const[]){"shared/masks/1.png", "shared/masks/2.png"},
                  (const int[]){1, 2});
    grey("shared/masks/3.png", 2);
    check_fails(&fake, "shared/masks/3.png has no partner: \"shared/a/*.jpg\" asks for");
}

/* A grey picture with a bright corner at the left above; LYING: EXIF says that it is to be turned
 * clockwise. */
static void cornered(const char *path, int height, int width, bool lying) {
    static const unsigned char exif[] = {0, 0, 0, 26, 'e', 'X', 'I',  'f', 'I', 'I', '*', 0,
                                         8, 0, 0, 0,  1,   0,   0x12, 1,   3,   0,   1,   0,
                                         0, 0, 6, 0,  0,   0,   0,    0,   0,   0};
    enum { IHDR_END = 33 };
    const UnetImageInfo info = {.width = width, .height = height, .channels = 1, .bits = 8};
    float row[64];
    UnetImageWriter *writer;
    UnetError error;
    CHECK_OK(unet_image_create(&writer, place(path), &info, &error), error);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            row[x] = y == 0 && x == 0 ? 1 : 0;
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
    if (lying) {
        size_t length;
        unsigned char *bytes = read_bytes(place(path), &length);
        unsigned char *longer = malloc(length + sizeof exif + 4);
        const uint32_t sum = (uint32_t)crc32(crc32(0, NULL, 0), exif + 4, sizeof exif - 4);
        memcpy(longer, bytes, IHDR_END);
        memcpy(longer + IHDR_END, exif, sizeof exif);
        for (int i = 0; i < 4; i++) {
            longer[IHDR_END + sizeof exif + (size_t)i] = (unsigned char)(sum >> (24 - 8 * i));
        }
        memcpy(longer + IHDR_END + sizeof exif + 4, bytes + IHDR_END, length - IHDR_END);
        write_bytes(place(path), longer, length + sizeof exif + 4);
        free(longer);
        free(bytes);
    }
}

/* Photographs that lie on their side, and masks that were drawn upright. */
static void test_lying(void) {
    Fake fake;
    UnetDataset *dataset;
    UnetError error;
    double image;
    int class;
    fake_layout_of(&fake, "lying/photo/*.png", "lying/mask/*.png", 255, -1);
    fake_add(&fake, (UnetTransform){.op = UNET_DO_CROP});
    cornered("lying/photo/a.png", 8, 20, true);
    cornered("lying/mask/a.png", 20, 8, false);
    check_fails(&fake, "(height x width); one of them lies on its side: `exif = true`");
    fake.term[1][0].way.upright = true;
    fake.source[0].ignores_others = true;
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    read_points(dataset, 0, &image, &class);
    CHECK(class == 0, "the middle of the mask is class %d", class);
    unet_dataset_close(dataset);
}

static void gather(void *context, const char *note) {
    char *gathered = context;
    const size_t used = strlen(gathered);
    snprintf(gathered + used, 2000 - used, "%s\n", note);
}

static void gather_problem(void *context, const UnetError *problem) {
    gather(context, problem->text);
}

static void pass_over(void *context, const UnetError *problem) {
    (void)context;
    (void)problem;
}

/* Masks whose classes are colours; check-data lists colours that occur. */
static void test_colours(void) {
    static const int32_t colours[] = {0, -1, 0x800000, 0x008000, -1, 0x102030, -1};
    Fake fake;
    UnetDataCheck check;
    UnetError error;
    char notes[2000] = "";
    fake_layout_of(&fake, "drawn/photo/*.png", "drawn/mask/*.png", 3, -1);
    flat("drawn/photo/a.png", 10, false);
    flat("drawn/photo/b.png", 20, false);
    flat("drawn/photo/c.png", 30, false);
    coloured("drawn/mask/a.png", 16, 32, 48);
    coloured("drawn/mask/b.png", 0, 128, 0);
    grey("drawn/mask/c.png", 0);
    CHECK_OK(unet_check_data(&fake.model, unet_in_folder(folder), pass_over, gather, notes, &check, &error),
             error);
    CHECK(check.problems == 2 && strstr(notes, "truth: 2 colours occur\n") != NULL &&
              strstr(notes, "colours = [[16, 32, 48], [0, 128, 0]]") != NULL,
          "%d problems and %s", (int)check.problems, notes);
    fake.source[0].values = colours;
    fake.source[0].colours = true;
    check_samples(&fake, 3, (const char *const[]){"a", "b", "c"}, (const int[]){2, 1, 0});
    coloured("drawn/mask/b.png", 0, 129, 0);
    fake.data.ntransform = 0;
    CHECK_OK(unet_check_data(&fake.model, unet_in_folder(folder), pass_over, gather, notes, &check, &error),
             error);
    CHECK(check.problems == 1, "%d problems", (int)check.problems);
    fake.source[0].ignores_others = true;
    check_samples(&fake, 3, (const char *const[]){"a", "b", "c"}, (const int[]){2, UNET_IGNORED, 0});
}

#ifdef UNET_HAS_TIFF
/* A picture of 0.25 in floats, but for the first point, which is missing. */
static void lacking(const char *path) {
    const UnetImageInfo info = {.width = SIDE, .height = SIDE, .channels = 3, .bits = 32};
    float row[3 * SIDE];
    UnetImageWriter *writer;
    UnetError error;
    CHECK_OK(unet_image_create(&writer, place(path), &info, &error), error);
    for (int y = 0; y < SIDE; y++) {
        for (int i = 0; i < 3 * SIDE; i++) {
            row[i] = i == 0 && y == 0 ? NAN : 0.25f;
        }
        CHECK_OK(unet_image_write_row(writer, row, &error), error);
    }
    CHECK_OK(unet_image_finish(writer, &error), error);
}

/* Values that are no numbers. */
static void test_missing(void) {
    Fake fake;
    UnetDataset *dataset;
    UnetDataCheck check;
    UnetError error;
    double image;
    int class;
    fake_layout_of(&fake, "lacking/photo/*.tif", "lacking/mask/*.png", 9, -1);
    lacking("lacking/photo/a.tif");
    grey("lacking/mask/a.png", 3);
    char problem[2000] = "";
    CHECK_OK(
        unet_check_data(&fake.model, unet_in_folder(folder), gather_problem, NULL, problem, &check, &error),
        error);
    CHECK(check.problems == 1 && strstr(problem, "a.tif has values that are no numbers") != NULL &&
              strstr(problem, "`missing = 0` in `images(...)`") != NULL,
          "%s", problem);
    for (int turned = 0; turned < 2; turned++) {
        const UnetTransform crop = {.op = UNET_DO_CROP}, rot90 = {.op = UNET_DO_ROT90, .p = 0};
        fake.data.ntransform = 0;
        for (int i = 0; i < 2 * turned; i++) {
            fake_add(&fake, i == 0 ? crop : rot90);
        }
        fake.term[1][0].way = (UnetImageWay){.missing = UNET_MISSING_VALUE, .missing_value = 0.5};
        CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
                 error);
        read_points(dataset, 0, &image, &class);
        CHECK(image == 127.5 && class == 3, "a number: an image of %g, class %d", image, class);
        unet_dataset_close(dataset);
        fake.term[1][0].way = (UnetImageWay){.missing = UNET_MISSING_IGNORED};
        CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
                 error);
        read_points(dataset, 0, &image, &class);
        CHECK(image == 0 && class == UNET_IGNORED, "ignored: an image of %g, class %d", image, class);
        unet_dataset_close(dataset);
    }
    UnetNormal normal[FAKE_INPUTS] = {{.clips = false}};
    fake.inputs[0].normalizing = UNET_NORMALIZED_AS_MEASURED;
    CHECK_OK(unet_dataset_open(&dataset, &fake.model, UNET_TRAINING, unet_in_folder(folder), &error),
             error);
    CHECK_OK(unet_dataset_measure(dataset, normal, &error), error);
    CHECK(normal[0].mean[0] == 0.25 && normal[0].deviation[0] == 1, "mean %g, deviation %g",
          normal[0].mean[0], normal[0].deviation[0]);
    unet_dataset_close(dataset);
}
#endif

/* imagesTr/CASE_0000.png and labelsTr/CASE.png. */
static void test_nnunet(void) {
    Fake fake;
    fake_layout_of(&fake, "imagesTr/*_0000.png", "labelsTr/*.png", 3, -1);
    flat("imagesTr/road_001_0000.png", 10, false);
    flat("imagesTr/road_002_0000.png", 20, false);
    grey("labelsTr/road_001.png", 2);
    grey("labelsTr/road_002.png", 0);
    check_samples(&fake, 2, (const char *const[]){"road_001", "road_002"}, (const int[]){2, 0});
}

/* ---- lists ------------------------------------------------------------------------------------ */

/* A list of stems, in its order; palettes, 255 around objects; files that are not listed are left alone. */
static void test_voc(void) {
    Fake fake;
    fake_layout_of(&fake, "JPEGImages/*.jpg", "SegmentationClass/*.png", 21, 255);
    fake.term[1][0].list = "ImageSets/Segmentation/train.txt";
    flat("JPEGImages/2007_000033.jpg", 10, false);
    flat("JPEGImages/2007_000032.jpg", 20, false);
    flat("JPEGImages/2007_000999.jpg", 99, false);
    flat("SegmentationClass/2007_000033.png", 20, true);
    flat("SegmentationClass/2007_000032.png", 255, true);
    text("ImageSets/Segmentation/train.txt", "2007_000033\r\n\n# a comment\n  2007_000032  1\n");
    check_samples(&fake, 2, (const char *const[]){"2007_000033", "2007_000032"},
                  (const int[]){20, UNET_IGNORED});
    text("ImageSets/Segmentation/train.txt", "2007_000033\n2007_000034\n");
    check_fails(&fake, "2007_000034");
    text("ImageSets/Segmentation/train.txt", "2007/000033\n");
    check_fails(&fake, "train.txt:1: \"2007/000033\" must stand for the 1 `*` of the pattern");
    text("ImageSets/Segmentation/train.txt", "\n# nothing\n");
    check_fails(&fake, "train.txt: lists no samples");
    unlink(place("ImageSets/Segmentation/train.txt"));
    check_fails(&fake, "cannot read the list: No such file");
}

/* "image label" in each line. */
static void test_names(void) {
    Fake fake;
    fake_layout_of(&fake, "train.txt", "train.txt", 5, -1);
    fake.term[0][0].column = 2;
    fake.term[1][0].column = 1;
    flat("photos/b one.png", 99, false);
    flat("photos/b.png", 10, false);
    flat("photos/a*.png", 20, false);
    grey("truth/first.png", 4);
    grey("truth/second.png", 3);
    text("train.txt", "photos/b.png truth/first.png\nphotos/a*.png\ttruth/second.png\n");
    check_samples(&fake, 2, (const char *const[]){"photos/b.png", "photos/a*.png"}, (const int[]){4, 3});
    static const char *const more[] = {"more.txt", NULL};
    fake.term[0][0].more = fake.term[1][0].more = more;
    text("more.txt", "photos/c.png truth/first.png\n");
    flat("photos/c.png", 30, false);
    check_samples(&fake, 3, (const char *const[]){"photos/b.png", "photos/a*.png", "photos/c.png"},
                  (const int[]){4, 3, 4});
    unlink(place("photos/c.png"));
    fake.term[0][0].more = fake.term[1][0].more = NULL;
    text("train.txt", "photos/b.png truth/first.png\nphotos/a.png\n");
    check_fails(&fake, "train.txt:2: has fewer than 2 words");
    text("train.txt", "photos/b.png truth/first.png\nphotos/c.png truth/second.png\n");
    check_fails(&fake, "photos/c.png: cannot read");
    text("labels.txt", "x truth/first.png\n");
    fake.term[0][0].pattern = "labels.txt";
    check_fails(&fake, "lists 2 samples, and the list before it 1");
}

/* Evaluation on a folder of its own, all of it, whatever is held out. */
static void test_evaluation_folder(void) {
    Fake fake;
    UnetDataset *dataset;
    UnetError error;
    char other[200];
    fake_layout_of(&fake, "train/*.png", "trainannot/*.png", 11, 11);
    fake.eval_layout[1] = fake.train_layout[1];
    for (int i = 0; i < 5; i++) {
        char name[60];
        snprintf(name, sizeof name, "other/train/%d.png", i);
        flat(name, 10 + 10 * i, false);
        snprintf(name, sizeof name, "other/trainannot/%d.png", i);
        grey(name, i);
    }
    snprintf(other, sizeof other, "%s/other", folder);
    fake.data.holdout = 0.4;
    CHECK_OK(unet_dataset_open_evaluation(&dataset, &fake.model, unet_in_folder(other), &error), error);
    CHECK(unet_dataset_samples(dataset) == 5, "%d samples", unet_dataset_samples(dataset));
    double image;
    int class;
    read_points(dataset, 4, &image, &class);
    CHECK(class == 4 && image > 49.9 && image < 50.1, "an image of %g, class %d", image, class);
    unet_dataset_close(dataset);
    fake.data.holdout = 0;
    CHECK_OK(unet_dataset_open_evaluation(&dataset, &fake.model, unet_in_folder(other), &error), error);
    unet_dataset_close(dataset);
    fake.model.eval = NULL;
    CHECK(unet_dataset_open_evaluation(&dataset, &fake.model, unet_in_folder(other), &error) == UNET_USAGE,
          "evaluation without a program");
}

int main(void) {
    make_folder(folder);
#ifdef UNET_HAS_GIF
    test_carvana();
#endif
    test_camvid();
    test_cityscapes();
    test_folders();
    test_several_folders();
    test_cases();
    test_endings();
    test_beside();
    test_shared_folder();
    test_colours();
    test_lying();
#ifdef UNET_HAS_TIFF
    test_missing();
#endif
    test_nnunet();
    test_voc();
    test_names();
    test_evaluation_folder();
    remove_folder(folder);
    return check_result();
}
