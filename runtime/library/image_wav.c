/* image_wav.c - WAV files, which hold a signal: an image of one row, whose points are frames.
 *
 * wav.c reads the chunks, and libsndfile the numbers, which it is shown as a file without a head.  It comes
 * as a shared library, with the libraries of many codecs.  A program is one file that runs anywhere, so it
 * does not link this: it opens the library when it reads the first such file, and keeps it.
 */
#include "image_format.h"
#include "wav.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <sndfile.h>

/* ---- the library ------------------------------------------------------------------------------ */

typedef struct {
    SNDFILE *(*open_virtual)(SF_VIRTUAL_IO *calls, int mode, SF_INFO *info, void *context);
    sf_count_t (*read_floats)(SNDFILE *file, float *numbers, sf_count_t frames);
    int (*close)(SNDFILE *file);
    bool is_there;
} Library;

static Library library; /* once it is looked for */
static pthread_once_t looked_for = PTHREAD_ONCE_INIT;

/* A pointer to a function comes out of dlsym as one to data; C lets only its bytes be copied. */
static bool find_function(void *handle, const char *name, void *function, size_t bytes) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, bytes < sizeof symbol ? bytes : sizeof symbol);
    return symbol != NULL;
}

static void look_for_library(void) {
    void *handle = dlopen("libsndfile.so.1", RTLD_NOW | RTLD_LOCAL);
    library.is_there =
        handle != NULL &&
        find_function(handle, "sf_open_virtual", &library.open_virtual, sizeof library.open_virtual) &&
        find_function(handle, "sf_readf_float", &library.read_floats, sizeof library.read_floats) &&
        find_function(handle, "sf_close", &library.close, sizeof library.close);
}

static const Library *find_library(void) {
    (void)pthread_once(&looked_for, look_for_library);
    return library.is_there ? &library : NULL;
}

typedef struct {
    WavHead head;
    SNDFILE *file;
} Decoder;

/* ---- what it calls: the numbers are all of its file ------------------------------------------- */

static sf_count_t on_place(void *context) {
    const UnetImageReader *reader = context;
    const Decoder *d = reader->decoder;
    return (sf_count_t)image_file_place(&reader->file) - d->head.place;
}

static sf_count_t on_length(void *context) {
    const UnetImageReader *reader = context;
    return ((const Decoder *)reader->decoder)->head.length;
}

static sf_count_t on_seek(sf_count_t offset, int whence, void *context) {
    UnetImageReader *reader = context;
    const Decoder *d = reader->decoder;
    const sf_count_t begin = whence == SEEK_SET   ? 0
                             : whence == SEEK_CUR ? on_place(context)
                                                  : d->head.length;
    if (offset < -begin || offset > d->head.length - begin) {
        return -1;
    }
    return image_file_seek(&reader->file, (off_t)(d->head.place + begin + offset), SEEK_SET)
               ? begin + offset
               : -1;
}

static sf_count_t on_read(void *bytes, sf_count_t count, void *context) {
    UnetImageReader *reader = context;
    const sf_count_t rest = on_length(context) - on_place(context);
    const sf_count_t part = count < rest ? count : rest;
    return part > 0 ? (sf_count_t)image_file_read(&reader->file, bytes, (size_t)part) : 0;
}

static sf_count_t on_write(const void *bytes, sf_count_t count, void *context) {
    (void)bytes;
    (void)count;
    (void)context;
    return 0;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

static bool is_wav(const uint8_t *signature) {
    return (memcmp(signature, "RIFF", 4) == 0 || memcmp(signature, "RF64", 4) == 0) &&
           memcmp(signature + 8, "WAVE", 4) == 0;
}

static UnetStatus fail_code(const UnetImageReader *reader, int32_t code, UnetError *error) {
    const char *name = wav_code_name(code);
    char number[16];
    (void)snprintf(number, sizeof number, "code 0x%04" PRIx32, (uint32_t)code);
    return unet_fail(error, UNET_IO,
                     "%s: a WAV file compressed as %s, which is not read: convert it with: sox in.wav -e "
                     "signed-integer -b 16 out.wav",
                     reader->path, name != NULL ? name : number);
}

static UnetStatus open_wav(UnetImageReader *reader, UnetError *error) {
    Decoder *d = reader->decoder = image_memory_take_zeroed(reader->memory, sizeof *d);
    WavHead *head = &d->head;
    if (d == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    if (!wav_read_head(&reader->file, head, &reader->cut_short, reader->reason)) {
        return image_fail_decoding(reader, error);
    }
    if (head->code != WAV_PCM && head->code != WAV_FLOAT) {
        return fail_code(reader, head->code, error);
    }
    if (find_library() == NULL) {
        return image_fail(reader, error, "a WAV file: install libsndfile1, which this machine lacks");
    }
    reader->shape = (UnetImageInfo){.width = (int32_t)head->frames,
                                    .height = 1,
                                    .channels = head->channels,
                                    .bits = 32,
                                    .rate = head->rate};
    reader->row_bytes = (size_t)head->frames * (size_t)head->channels * sizeof(float);
    return UNET_OK;
}

static int kind_of_numbers(const WavHead *head) {
    if (head->code == WAV_FLOAT) {
        return head->bits == 32 ? SF_FORMAT_FLOAT : SF_FORMAT_DOUBLE;
    }
    return head->bits == 8    ? SF_FORMAT_PCM_U8
           : head->bits == 16 ? SF_FORMAT_PCM_16
           : head->bits == 24 ? SF_FORMAT_PCM_24
                              : SF_FORMAT_PCM_32;
}

static bool begin_wav(UnetImageReader *reader) {
    SF_VIRTUAL_IO calls = {on_length, on_seek, on_read, on_write, on_place};
    Decoder *d = reader->decoder;
    const WavHead *head = &d->head;
    SF_INFO info = {.samplerate = head->rate,
                    .channels = head->channels,
                    .format = SF_FORMAT_RAW | SF_ENDIAN_LITTLE | kind_of_numbers(head)};
    reader->stored_channels = head->channels;
    if (!image_file_seek(&reader->file, (off_t)head->place, SEEK_SET)) {
        return fail(reader, "it cannot be read");
    }
    d->file = library.open_virtual(&calls, SFM_READ, &info, reader);
    return (d->file != NULL && info.frames == head->frames) ||
           fail(reader, "libsndfile does not take its numbers");
}

static bool decode_row(UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    if (library.read_floats(d->file, (float *)(void *)reader->rows, d->head.frames) != d->head.frames) {
        reader->cut_short = true;
        return fail(reader, "it ends too early");
    }
    return true;
}

/* The end of its numbers was checked when it was opened. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

static void close_wav(UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    if (d->file != NULL) {
        (void)library.close(d->file);
    }
}

/* A byte becomes a float. */
const ImageFormat image_wav = {.name = "WAV",
                               .signal = true,
                               .most_expansion = 4,
                               .is = is_wav,
                               .open = open_wav,
                               .begin = begin_wav,
                               .decode_row = decode_row,
                               .is_complete = is_complete,
                               .close = close_wav};
