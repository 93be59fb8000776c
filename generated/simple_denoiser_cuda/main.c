/* main.c - the program around the model simple_denoiser
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --target=cuda --precision=bf16 --size=64x64
 * Do not edit: change the .unet file and compile again. */
#include "simple_denoiser.h"

int main(int argc, char **argv) {
    const UnetModel *const models[] = {&simple_denoiser_model};
    return unet_main(models, sizeof models / sizeof *models, argc, argv);
}
