/* main.c - the program around the model tiny_unet
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#include "tiny_unet.h"

int main(int argc, char **argv) {
    const UnetModel *const models[] = {&tiny_unet_model};
    return unet_main(models, sizeof models / sizeof *models, argc, argv);
}
