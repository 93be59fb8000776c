/* board_pictures.h - pictures of evaluations for TensorBoard, between board.c and board_pictures.c. */
#ifndef BOARD_PICTURES_H
#define BOARD_PICTURES_H

#include "driver.h"

#include "unet/events.h"

typedef struct Pictures Pictures;

/* Of the first samples of DATA.  Takes the memory of prediction beside that of training. */
UNET_MUST_USE UnetStatus pictures_open(Pictures **pictures, Driver *driver, const UnetDataset *data);
void pictures_close(Pictures *pictures);          /* NULL is fine */
int64_t pictures_bytes(const Pictures *pictures); /* beside all that training takes */

/* What the weights on DEVICE make of the samples; the first time their inputs and targets, too. */
UNET_MUST_USE UnetStatus pictures_put(Pictures *pictures, UnetEvents *events, int64_t step, Device *device);

#endif
