/* board.c - a training run for TensorBoard: `train --tensorboard`.
 *
 * Numbers: of training, the loss and all other results as means over the steps since the last point, and
 * the learning rate, and of several processes how long a step waits for the others, at most POINTS points a
 * run; of each evaluation, its results.  Each evaluation adds pictures of the first samples (pictures.c),
 * as tags SAMPLE/NAME. */
#include "board.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures.h"
#include "unet/events.h"
#include "unet/words.h"

enum { POINTS = 1000, SAMPLES = 4 };

struct Board {
    PictureTaker taker; /* first: what pictures_show() calls gets it */
    Driver *driver;
    UnetEvents events;
    Pictures *pictures;      /* NULL: none, */
    const UnetDataset *data; /*   else of these */
    bool has_given;          /* inputs and targets have been written */
    int32_t sample;          /* whose pictures are on their way, */
    int64_t shown;           /*   of the weights behind this step */
    Tally since;             /* the last point */
    int64_t point;           /* the step of the last point, or the one that was done before, */
    double exchange;         /*   and Ranks.seconds then, */
    double sent;             /*   and Ranks.sent */
    int64_t every;           /* steps from one point to the next */
    int64_t steps;
};

/* ---- pictures --------------------------------------------------------------------------------- */

static UnetStatus take_picture(PictureTaker *taker, const char *name, const char *role,
                               const UnetPicture *picture, UnetError *error) {
    Board *board = (Board *)taker;
    char tag[256];
    (void)role;
    (void)snprintf(tag, sizeof tag, "%.150s/%.100s", unet_dataset_stem(board->data, board->sample), name);
    return unet_events_picture(&board->events, tag, board->shown, picture, error);
}

/* Shows what the weights on DEVICE make of the samples; the first time their inputs and targets, too. */
static UnetStatus put_pictures(Board *board, int64_t step, Device *device) {
    const int32_t all = unet_dataset_samples(board->data), samples = all < SAMPLES ? all : SAMPLES;
    UnetStatus status = pictures_copy_weights(board->pictures, device);
    board->shown = step;
    for (board->sample = 0; board->sample < samples && status == UNET_OK; board->sample++)
        status = pictures_show(board->pictures, board->sample, !board->has_given, &board->taker);
    board->has_given = true;
    return status;
}

/* ---- before the first step -------------------------------------------------------------------- */

static UnetStatus make_folder(const Driver *driver, char folder[UNET_PATH_BYTES], UnetError *error) {
    const char *given = driver->options.tensorboard_folder;
    const int n = given != NULL ? snprintf(folder, UNET_PATH_BYTES, "%s", given)
                                : snprintf(folder, UNET_PATH_BYTES, "%s/tensorboard", run_folder(driver));
    if (n < 0 || n >= UNET_PATH_BYTES)
        return unet_fail(error, UNET_IO, "%s: the name of the folder is too long",
                         given != NULL ? given : run_folder(driver));
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return unet_fail(error, UNET_IO, "%s: the folder cannot be created: %s", folder, strerror(errno));
    return UNET_OK;
}

/* A model whose samples cannot be shown in pictures is trained all the same. */
static void open_pictures(Board *board, const UnetDataset *data) {
    Driver *driver = board->driver;
    if (data == NULL)
        return;
    board->data = data;
    if (pictures_open(&board->pictures, driver, driver->model, data, NULL) == UNET_OK) {
        char bytes[32];
        format_bytes(bytes, sizeof bytes, pictures_bytes(board->pictures));
        (void)fprintf(stderr, "note: --tensorboard takes %s beside the arena for its pictures\n", bytes);
        return;
    }
    (void)fprintf(stderr, "note: --tensorboard writes no pictures: %s\n", driver->error.text);
    driver->error.text[0] = '\0';
}

UnetStatus board_open(Board **board, Driver *driver, const UnetDataset *data, int64_t step, int64_t steps) {
    char folder[UNET_PATH_BYTES];
    UnetError *error = &driver->error;
    *board = NULL;
    if (!driver->options.tensorboard)
        return UNET_OK;
    Board *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for TensorBoard");
    *board = opened;
    opened->taker.take = take_picture;
    opened->driver = driver;
    opened->events.fd = -1;
    opened->steps = steps;
    opened->point = step;
    opened->every = (steps - 1) / POINTS + 1;
    UnetStatus status = tally_create(&opened->since, driver->model, error);
    if (status == UNET_OK)
        status = make_folder(driver, folder, error);
    if (status == UNET_OK)
        status = unet_events_open(&opened->events, folder, step + 1, error);
    if (status == UNET_OK) {
        char word[UNET_PATH_BYTES];
        (void)unet_shell_word(word, sizeof word, folder);
        (void)fprintf(stderr, "tensorboard --logdir=%s\n", word);
        open_pictures(opened, data);
    }
    return status;
}

void board_close(Board *board) {
    if (board == NULL)
        return;
    pictures_close(board->pictures);
    unet_events_close(&board->events);
    tally_destroy(&board->since);
    free(board);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

/* A value that was not measured has no point. */
static UnetStatus put_number(Board *board, const char *group, const char *name, int64_t step,
                             double value) {
    char tag[256];
    if (isnan(value))
        return UNET_OK;
    (void)snprintf(tag, sizeof tag, "%s/%s", group, name);
    return unet_events_scalar(&board->events, tag, step, value, &board->driver->error);
}

static UnetStatus put_tally(Board *board, const char *group, const Tally *tally, int64_t step) {
    const UnetModel *model = board->driver->model;
    UnetStatus status = put_number(board, group, "loss", step, tally_loss(tally));
    for (int i = 0; i < model->nresult && status == UNET_OK; i++)
        status = put_number(board, group, model->results[i].name, step, tally_value(tally, i));
    return status;
}

/* Nothing, where there is one process. */
static UnetStatus put_exchange(Board *board, int64_t step) {
    const Ranks *ranks = &board->driver->ranks;
    const double steps = ranks_alone(ranks) ? NAN : (double)(step - board->point),
                 waited = (ranks->seconds - board->exchange) / steps,
                 sent = (ranks->sent - board->sent) / steps;
    board->exchange = ranks->seconds;
    board->sent = ranks->sent;
    board->point = step;
    const UnetStatus status = put_number(board, "train", "exchange, seconds a step", step, waited);
    return status == UNET_OK ? put_number(board, "train", "exchange in all, seconds a step", step, sent)
                             : status;
}

UnetStatus board_step(Board *board, const char *arena, int32_t n, int64_t step, double rate) {
    if (board == NULL)
        return UNET_OK;
    tally_add(&board->since, board->driver->model->train, arena, n);
    if (step % board->every != 0 && step != board->steps)
        return UNET_OK;
    UnetStatus status = put_tally(board, "train", &board->since, step);
    if (status == UNET_OK)
        status = put_number(board, "train", "learning rate", step, rate);
    if (status == UNET_OK)
        status = put_exchange(board, step);
    tally_clear(&board->since);
    return status;
}

UnetStatus board_evaluation(Board *board, const Tally *tally, int64_t step, Device *device) {
    if (board == NULL)
        return UNET_OK;
    UnetStatus status = put_tally(board, "eval", tally, step);
    if (status == UNET_OK && board->pictures != NULL)
        status = put_pictures(board, step, device);
    return status;
}
