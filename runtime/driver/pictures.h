/* pictures.h - pictures of samples of the evaluation: their inputs, their targets, and what the weights
 * make of them.  board.c puts them into event files, report_pictures.c on a page. */
#ifndef PICTURES_H
#define PICTURES_H

#include "driver.h"

#include "unet/picture.h"

typedef struct Pictures Pictures;

/* Takes the pictures of a sample one by one.  NAME is the input's or the output's, ROLE "input", "target"
 * or "output". */
typedef struct PictureTaker {
    UnetStatus (*take)(struct PictureTaker *taker, const char *name, const char *role,
                       const UnetPicture *picture, UnetError *error);
} PictureTaker;

/* Samples of DATA are read for MODEL: the driver's, but for the size of its evaluation.  Prediction
 * runs in the memory of DEVICE, whose weights it shows and which nobody else uses until pictures_close();
 * NULL: in memory of its own. */
UNET_MUST_USE UnetStatus pictures_open(Pictures **pictures, Driver *driver, const UnetModel *model,
                                       const UnetDataset *data, Device *device);
void pictures_close(Pictures *pictures);          /* NULL is fine */
int64_t pictures_bytes(const Pictures *pictures); /* that it takes, beside DEVICE */

/* In memory of its own: the weights on DEVICE are shown from now on. */
UNET_MUST_USE UnetStatus pictures_copy_weights(Pictures *pictures, Device *device);

/* Gives TAKER the outputs of SAMPLE; GIVEN: its inputs and targets, too, first. */
UNET_MUST_USE UnetStatus pictures_show(Pictures *pictures, int32_t sample, bool given, PictureTaker *taker);

#endif
