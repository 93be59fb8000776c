/* ratio.c - how well a voice was separated: the ratio of signal to distortion, in decibels.
 *
 *   ratio VOICE.wav SOUND.wav...
 *
 * prints for each SOUND 10 log10 of the energy of the voice over the energy of the difference: of a
 * mixture, how loud the voice is beside the rest; of a separated voice, how much of it is right.
 */
#include "unet/image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The frames of a file of one channel; the caller frees them.  NULL: it cannot be read. */
static float *read_sound(const char *path, int *count) {
    UnetImageReader *reader;
    UnetError error;
    float *sound = NULL;
    if (unet_image_open(&reader, path, 1, &error) != UNET_OK) {
        fprintf(stderr, "ratio: %s\n", error.text);
        return NULL;
    }
    *count = unet_image_info(reader).width;
    sound = calloc((size_t)*count, sizeof *sound);
    if (sound != NULL && unet_image_read_row(reader, sound, &error) != UNET_OK) {
        fprintf(stderr, "ratio: %s\n", error.text);
        free(sound);
        sound = NULL;
    }
    unet_image_close(reader);
    return sound;
}

static int print_ratio(const float *voice, int count, const char *path) {
    int own;
    double signal = 0, distortion = 0;
    float *sound = read_sound(path, &own);
    if (sound == NULL)
        return 1;
    for (int i = 0; i < count && i < own; i++) {
        const double apart = (double)voice[i] - (double)sound[i];
        signal += (double)voice[i] * (double)voice[i];
        distortion += apart * apart;
    }
    free(sound);
    printf(" %.2f", 10 * log10(signal / distortion));
    return 0;
}

int main(int argc, char **argv) {
    int count, failed = 0;
    float *voice = argc > 2 ? read_sound(argv[1], &count) : NULL;
    if (voice == NULL) {
        fprintf(stderr, "usage: ratio VOICE.wav SOUND.wav...\n");
        return 2;
    }
    for (int i = 2; i < argc && !failed; i++)
        failed = print_ratio(voice, count, argv[i]);
    printf("\n");
    free(voice);
    return failed;
}
