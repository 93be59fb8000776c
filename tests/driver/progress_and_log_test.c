/* progress_and_log_test.c - the words of the progress line, and a log that is cut back and continued. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/driver/progress.h"
#include "unet/log.h"

static void expect_text(const char *what, const char *found, const char *expected) {
    if (strcmp(found, expected) == 0)
        return;
    (void)fprintf(stderr, "%s: expected\n%s\nfound\n%s\n", what, expected, found);
    exit(1);
}

static void expect_ok(UnetStatus status, const UnetError *error) {
    if (status == UNET_OK)
        return;
    (void)fprintf(stderr, "%s\n", error->text);
    exit(1);
}

static void test_durations(void) {
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0.4, "0 s"},   {59.4, "59 s"},    {59.6, "1:00"},
                 {754, "12:34"}, {3600, "1:00:00"}, {100 * 3600.0, "100:00:00"},
                 {-1, "?"},      {NAN, "?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[32];
        unet_format_duration(text, sizeof text, cases[i].seconds);
        expect_text("duration", text, cases[i].text);
    }
}

static void test_progress(void) {
    char text[256], tiny[20];
    UnetProgressState state = {.epoch = 3,
                               .epochs = 50,
                               .step = 1240,
                               .steps = 20000,
                               .loss = 0.00312345,
                               .metric = "psnr",
                               .value = 27.914,
                               .identity_name = "noisy",
                               .identity = 20.171,
                               .images_per_second = 152.38,
                               .seconds_left = 754};
    (void)unet_progress_format(text, sizeof text, 255, &state);
    expect_text("progress", text,
                "epoch 3/50  step 1240/20000  loss 0.0031234  psnr 27.91 dB (noisy 20.17)  152 images/s  "
                "12:34 left");
    (void)unet_progress_format(text, sizeof text, 79, &state);
    expect_text("80 columns", text,
                "step 1240/20000  loss 0.0031234  psnr 27.91 dB (noisy 20.17)  12:34 left");
    (void)unet_progress_format(text, sizeof text, 50, &state);
    expect_text("51 columns", text, "step 1240/20000  loss 0.0031234  12:34 left");
    for (size_t columns = 10; columns < 120; columns++) {
        const size_t length = unet_progress_format(text, sizeof text, columns, &state);
        if (length > columns || strstr(text, "12:34 left") == NULL)
            expect_text("a narrow terminal", text, "no longer, and the time left in it");
    }
    (void)unet_progress_format(tiny, sizeof tiny, 255, &state);
    expect_text("a small buffer", tiny, "12:34 left");
    state.metric = NULL;
    state.epochs = 0;
    (void)unet_progress_format(text, sizeof text, 255, &state);
    expect_text("progress", text, "step 1240/20000  loss 0.0031234  152 images/s  12:34 left");
    state.loss_scale = 32768;
    state.skipped = 1;
    (void)unet_progress_format(text, sizeof text, 255, &state);
    expect_text("progress", text,
                "step 1240/20000  loss 0.0031234  152 images/s  12:34 left  scale 32768, 1 skipped");
}

static const UnetInput inputs[] = {{.name = "noisy"}, {.name = "clean"}};
static const UnetResult results[] = {
    {.name = "mse(a, clean)", .metric = "mse", .identity_input = -1, .target_input = 1},
    {.name = "psnr(a, clean)", .metric = "psnr", .identity_input = 0, .target_input = 1}};
static const UnetModel plain_model = {.ninput = 2, .inputs = inputs, .nresult = 2, .results = results};

static int64_t most_rows = INT64_MAX; /* that a file keeps */

static void make_temporary(char *path) {
    const int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        expect_text("temporary file", "none", "one");
}

static void expect_log(const char *path, const char *expected) {
    char text[2048];
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    text[length] = 0;
    expect_text("log", text, expected);
}

/* The log of a program that several processes may run. */
static void test_exchange_column(void) {
    char path[] = "/tmp/unet_log_XXXXXX";
    static const UnetTraining alone = {.ranks = 1}, several = {.ranks = 8};
    UnetModel model = {.training = &several};
    UnetLog log;
    UnetError error;
    make_temporary(path);
    expect_ok(unet_log_open(&log, path, &model, -1, 0, &error), &error);
    UnetLogRow row = {.epoch = 1, .step = 1, .split = "train", .loss = 0.5, .exchange = 0.25, .sent = 0.5};
    expect_ok(unet_log_write(&log, &row, &error), &error);
    row.split = "eval";
    row.exchange = row.sent = NAN;
    expect_ok(unet_log_write(&log, &row, &error), &error);
    unet_log_close(&log);
    model.training = &alone; /* goes on with the columns that are there */
    expect_ok(unet_log_open(&log, path, &model, 1, 2, &error), &error);
    expect_ok(unet_log_write(&log, &row, &error), &error);
    unet_log_close(&log);
    expect_log(path, "epoch,step,split,loss,lr,images_per_s,seconds,exchange_s,exchange_all_s\n"
                     "1,1,train,0.5,0,0.00,0.000,0.25,0.5\n1,1,eval,0.5,0,0.00,0.000,,\n"
                     "1,1,eval,0.5,0,0.00,0.000,,\n");
    (void)unlink(path);
}

/* WITH_SCALE: of a program in f16. */
static void write_rows(const char *path, bool with_scale, int64_t last_step, int64_t from, int64_t to) {
    UnetModel model = plain_model;
    model.loss_scale = with_scale ? 64 : 0;
    UnetLog log;
    UnetError error;
    const double value[] = {0.5, 28.5}, identity[] = {NAN, 20.25};
    expect_ok(unet_log_open(&log, path, &model, last_step, most_rows, &error), &error);
    for (int64_t step = from; step <= to; step++) {
        const UnetLogRow row = {.epoch = 1,
                                .step = step,
                                .split = "train",
                                .loss = 0.5,
                                .value = value,
                                .identity = step == 2 ? (const double[]){NAN, NAN} : identity,
                                .learning_rate = 0.001,
                                .images_per_second = 100,
                                .seconds = 2,
                                .loss_scale = with_scale ? 1024 : 0,
                                .skipped = with_scale ? 3 : 0};
        expect_ok(unet_log_write(&log, &row, &error), &error);
    }
    unet_log_close(&log);
}

/* The log of a program that clips gradients by their norm; steps without one leave the column empty. */
static void test_norm_column(void) {
    char path[] = "/tmp/unet_log_XXXXXX";
    const UnetProgram train = {.gradient_norm = 64};
    const UnetModel model = {.train = &train};
    UnetLog log;
    UnetError error;
    make_temporary(path);
    expect_ok(unet_log_open(&log, path, &model, -1, 0, &error), &error);
    UnetLogRow row = {.epoch = 1, .step = 1, .split = "train", .loss = 0.5, .gradient_norm = 0.25};
    expect_ok(unet_log_write(&log, &row, &error), &error);
    row.split = "eval";
    row.gradient_norm = NAN;
    expect_ok(unet_log_write(&log, &row, &error), &error);
    unet_log_close(&log);
    expect_log(path, "epoch,step,split,loss,lr,images_per_s,seconds,gradient_norm\n"
                     "1,1,train,0.5,0,0.00,0.000,0.25\n1,1,eval,0.5,0,0.00,0.000,\n");
    (void)unlink(path);
}

#define COLUMNS                                                                                            \
    "epoch,step,split,loss,\"mse(a, clean)\",\"psnr(a, clean)\",\"psnr(noisy, "                            \
    "clean)\",lr,images_per_s,seconds"
#define NUMBERS(step) "1," #step ",train,0.5,0.5,28.5,20.25,0.001,100.00,2.000"
#define HEADER COLUMNS "\n"
#define ROW(step) NUMBERS(step) "\n"

static void test_log(void) {
    char path[] = "/tmp/unet_log_XXXXXX";
    make_temporary(path);
    write_rows(path, false, -1, 1, 3);
    expect_log(path, HEADER ROW(1) "1,2,train,0.5,0.5,28.5,,0.001,100.00,2.000\n" ROW(3));
    write_rows(path, false, 1, 3, 4); /* resumed from step 1: what came after it goes */
    expect_log(path, HEADER ROW(1) ROW(3) ROW(4));
    FILE *file = fopen(path, "a");
    if (file == NULL || fputs("1,5,tra", file) < 0 || fclose(file) != 0) /* a row cut short by a crash */
        expect_text("temporary file", "not written", "written");
    write_rows(path, false, 4, 5, 5);
    expect_log(path, HEADER ROW(1) ROW(3) ROW(4) ROW(5));
    write_rows(path, false, -1, 7, 7);
    expect_log(path, HEADER ROW(7));
    write_rows(path, true, 7, 8, 8); /* a program in f16 goes on with the columns of one in f32 */
    expect_log(path, HEADER ROW(7) ROW(8));
    write_rows(path, true, -1, 1, 1);
    write_rows(path, true, 1, 3, 3);
    expect_log(path, COLUMNS ",loss_scale,skipped\n" NUMBERS(1) ",1024,3\n" NUMBERS(3) ",1024,3\n");
    write_rows(path, false, 1, 3, 3); /* and the other way round */
    expect_log(path, COLUMNS ",loss_scale,skipped\n" NUMBERS(1) ",1024,3\n" NUMBERS(3) ",,\n");
    most_rows = 1; /* a checkpoint that was made behind the first row */
    write_rows(path, true, 3, 3, 3);
    expect_log(path, COLUMNS ",loss_scale,skipped\n" NUMBERS(1) ",1024,3\n" NUMBERS(3) ",1024,3\n");
    (void)unlink(path);
}

int main(void) {
    test_durations();
    test_progress();
    test_log();
    test_norm_column();
    test_exchange_column();
    return 0;
}
