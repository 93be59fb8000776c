/* wav.h - the chunks of a WAV file; private to the runtime. */
#ifndef UNET_WAV_H
#define UNET_WAV_H

#include "image_file.h"

enum { WAV_REASON_BYTES = 160, WAV_MOST_FRAMES = 1 << 28 };

typedef enum { WAV_PCM = 1, WAV_FLOAT = 3 } WavCode; /* others are of compressed numbers */

typedef struct {
    int32_t code;
    int32_t channels, rate, bits;
    int64_t frames; /* all of them lie in the file; 0 where the code is another */
    int64_t place;  /*   from this byte on, */
    int64_t length; /*   of so many */
} WavHead;

/* Looks through the chunks of FILE, up to its numbers.  False: REASON says why they cannot be read, and
 * *CUT_SHORT whether the file ends before they do. */
bool wav_read_head(ImageFile *file, WavHead *head, bool *cut_short, char reason[WAV_REASON_BYTES]);

/* The name of CODE, or NULL: it is not known here. */
const char *wav_code_name(int32_t code);

#endif
