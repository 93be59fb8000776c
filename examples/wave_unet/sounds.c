/* sounds.c - makes mixtures of sounds, and the voice in each of them, for a network that separates voices.
 *
 * The voice sings notes with a vibrato: harmonics of a tone that glides, louder near two frequencies of
 * each note, as vowels have them.  Beside the voice there are drums, which are bursts of noise, a bass,
 * chords of steady tones, and a hiss.  Everything is drawn from the seed.
 */
#include "../pictures.h"
#include "unet/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { HARMONICS = 12, TONES = 3 };

typedef struct {
    int count, seconds, rate;
    uint64_t seed;
    const char *out;
} Options;

/* Nearly a sine of period 1, without the library's, whose last bits differ from machine to machine. */
static double sine(double turns) {
    double x = 2 * (turns - floor(turns)) - 1, y = -4 * x * (1 - fabs(x));
    return 0.225 * (y * fabs(y) - y) + y;
}

/* Rises within a fiftieth of a second and fades over the last fifth of a note. */
static double envelope(double at, double length) {
    return clamp(at * 50) * clamp((length - at) / (0.2 * length));
}

/* ---- the voice --------------------------------------------------------------------------------- */

typedef struct {
    double pitch, glide, vibrato, formant[2], loud;
} Note;

static Note draw_note(Random *random) {
    return (Note){.pitch = uniform(random, 140, 420),
                  .glide = uniform(random, -0.15, 0.15),
                  .vibrato = uniform(random, 0.005, 0.03),
                  .formant = {uniform(random, 300, 900), uniform(random, 1000, 2500)},
                  .loud = uniform(random, 0.15, 0.4)};
}

static void sing(const Note *note, double *voice, int count, int rate) {
    double turns = 0, length = (double)count / rate;
    for (int i = 0; i < count; i++) {
        double at = (double)i / rate, sum = 0;
        double pitch = note->pitch * (1 + note->glide * at / length + note->vibrato * sine(5.5 * at));
        turns += pitch / rate;
        for (int k = 1; k <= HARMONICS && 2 * k * pitch < rate; k++) {
            double near = 0;
            for (int f = 0; f < 2; f++) {
                double apart = (k * pitch - note->formant[f]) / 180;
                near += 1 / (1 + apart * apart);
            }
            sum += (0.15 / k + near) * sine(k * turns);
        }
        voice[i] += note->loud * envelope(at, length) * sum;
    }
}

static void add_voice(Random *random, double *voice, int count, int rate) {
    for (int at = 0; at < count;) {
        int rest = (int)(uniform(random, 0, 0.15) * rate), length = (int)(uniform(random, 0.2, 0.6) * rate);
        const Note note = draw_note(random);
        at += rest;
        if (at < count)
            sing(&note, voice + at, length < count - at ? length : count - at, rate);
        at += length;
    }
}

/* ---- what plays beside ------------------------------------------------------------------------- */

static void add_drums(Random *random, double *sound, int count, int rate) {
    int beat = (int)(uniform(random, 0.18, 0.4) * rate);
    double loud = uniform(random, 0.1, 0.35), fade = 1 - uniform(random, 20, 60) / rate;
    for (int first = 0; first < count; first += beat) {
        double level = loud * uniform(random, 0.4, 1), low = 0, share = uniform(random, 0.1, 1);
        for (int i = first; i < count && i < first + beat; i++, level *= fade) {
            low += share * (normal(random) - low);
            sound[i] += level * low;
        }
    }
}

/* Tones that stay as they are for a bar: a bass and a chord. */
static void add_chords(Random *random, double *sound, int count, int rate) {
    int bar = (int)(uniform(random, 0.5, 1) * rate);
    double loud = uniform(random, 0.03, 0.1), deep = uniform(random, 0.05, 0.2);
    for (int first = 0; first < count; first += bar) {
        double tone[TONES], bass = uniform(random, 50, 110);
        for (int t = 0; t < TONES; t++)
            tone[t] = uniform(random, 450, 1400);
        for (int i = first; i < count && i < first + bar; i++) {
            double at = (double)(i - first) / rate, sum = deep * sine(bass * at);
            for (int t = 0; t < TONES; t++)
                sum += loud * sine(tone[t] * at);
            sound[i] += envelope(at, (double)bar / rate) * sum;
        }
    }
}

static void add_hiss(Random *random, double *sound, int count) {
    double level = uniform(random, 0.002, 0.02);
    for (int i = 0; i < count; i++)
        sound[i] += level * normal(random);
}

/* ---- files ------------------------------------------------------------------------------------- */

static int write_sound(const char *path, const float *sound, int count, int rate) {
    const UnetImageInfo info = {.width = count, .height = 1, .channels = 1, .bits = 16, .rate = rate};
    UnetImageWriter *writer;
    UnetError error;
    UnetStatus status = unet_image_create(&writer, path, &info, &error);
    if (status == UNET_OK)
        status = unet_image_write_row(writer, sound, &error);
    if (status == UNET_OK)
        status = unet_image_finish(writer, &error);
    else
        unet_image_discard(writer);
    if (status != UNET_OK)
        fprintf(stderr, "sounds: %s\n", error.text);
    return status == UNET_OK ? 0 : 1;
}

/* The same factor for both keeps the voice in the mixture what it is. */
static int write_pair(const Options *o, int number, const double *voice, const double *beside, int count) {
    float *mixed = calloc((size_t)count, sizeof *mixed), *alone = calloc((size_t)count, sizeof *alone);
    char path[2][4096];
    double most = 1e-9;
    int failed = mixed == NULL || alone == NULL;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(voice[i] + beside[i]));
    for (int i = 0; i < count && !failed; i++) {
        mixed[i] = (float)(0.9 * (voice[i] + beside[i]) / most);
        alone[i] = (float)(0.9 * voice[i] / most);
    }
    snprintf(path[0], sizeof path[0], "%s/mixture/%03d.wav", o->out, number);
    snprintf(path[1], sizeof path[1], "%s/voice/%03d.wav", o->out, number);
    failed = failed || write_sound(path[0], mixed, count, o->rate) ||
             write_sound(path[1], alone, count, o->rate);
    free(mixed);
    free(alone);
    return failed;
}

static int make_pair(const Options *o, int number) {
    Random random = {mix(o->seed ^ mix((uint64_t)number))};
    const int count = o->seconds * o->rate;
    double *voice = calloc((size_t)count, sizeof *voice), *beside = calloc((size_t)count, sizeof *beside);
    int failed = voice == NULL || beside == NULL;
    if (!failed) {
        add_voice(&random, voice, count, o->rate);
        add_drums(&random, beside, count, o->rate);
        add_chords(&random, beside, count, o->rate);
        add_hiss(&random, beside, count);
        failed = write_pair(o, number, voice, beside, count);
    }
    free(voice);
    free(beside);
    return failed;
}

static int read_options(int argc, char **argv, Options *o) {
    *o = (Options){.count = 40, .seconds = 4, .rate = 8000, .seed = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        const long number = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0)
            o->count = (int)number;
        else if (strcmp(argv[i], "--seconds") == 0)
            o->seconds = (int)number;
        else if (strcmp(argv[i], "--rate") == 0)
            o->rate = (int)number;
        else if (strcmp(argv[i], "--seed") == 0)
            o->seed = (uint64_t)number;
        else if (strcmp(argv[i], "--out") == 0)
            o->out = argv[i + 1];
    }
    return o->out != NULL && o->count > 0 && o->seconds > 0 && o->seconds <= 600 && o->rate >= 4000 &&
           o->rate <= 192000;
}

int main(int argc, char **argv) {
    Options o;
    char path[4096];
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr, "usage: sounds --out FOLDER [--count N] [--seconds N] [--rate HZ] [--seed N]\n");
        return 2;
    }
    static const char *const parts[] = {"", "/mixture", "/voice"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", o.out, parts[i]);
        mkdir(path, 0777);
    }
    for (int number = 0; number < o.count; number++)
        if (make_pair(&o, number))
            return 1;
    return 0;
}
