/* device.h - where the steps of a program run, if that is not this processor.
 *
 * The host keeps a mirror of the arena: memory at the same offsets, of which only what is looked at is ever
 * touched.  What either side changes is copied when the driver says so.
 */
#ifndef UNET_DEVICE_H
#define UNET_DEVICE_H

#include "model.h"
#include "status.h"

/* A part of a step, and how long the device worked on it. */
typedef struct {
    const char *name;
    double seconds;
} UnetDeviceTime;

enum { UNET_STEPS_AHEAD = 2 };

typedef struct UnetDevice {
    const char *name; /* "cuda" */
    /* Takes EXTENT bytes of the device, zeroed, in one allocation, and makes ready what MODEL needs there.
     * UNET_TOO_SMALL: there is no device, or not as much memory.  The caller closes STATE in any case. */
    UnetStatus (*open)(void **state, const UnetModel *model, int64_t extent, UnetError *error);
    void (*close)(void *state); /* NULL is allowed */
    /* BYTES at OFFSET from the mirror to the device, and back. */
    UnetStatus (*push)(void *state, const char *mirror, int64_t offset, int64_t bytes, UnetError *error);
    UnetStatus (*fetch)(void *state, char *mirror, int64_t offset, int64_t bytes, UnetError *error);
    /* Begins a step of PROGRAM, behind those that were begun before it; at most UNET_STEPS_AHEAD are begun
     * and not ended.  STEP's inputs stay as they are until `inputs_taken` returns. */
    UnetStatus (*begin)(void *state, const UnetProgram *program, const UnetStep *step, UnetError *error);
    /* Waits until the inputs of all steps that were begun are on the device. */
    UnetStatus (*inputs_taken)(void *state, UnetError *error);
    /* Waits for the first step that was begun and not ended; its results are then in MIRROR. */
    UnetStatus (*end)(void *state, char *mirror, UnetError *error);
    /* A whole step, when none is begun, timed by the device: in *TIME are, until its next step, *COUNT
     * parts of "inputs", copying them there, and "step"; or, in PARTS, in the place of "step" what the step
     * is made of, launched one by one. */
    UnetStatus (*timed_run)(void *state, const UnetProgram *program, const UnetStep *step, bool parts,
                            const UnetDeviceTime **time, int32_t *count, UnetError *error);
    /* Memory from which inputs will come: copies from it need not wait.  A hint. */
    void (*pin)(void *state, void *memory, size_t bytes);
    /* What is here of the libraries that MODEL was compiled for, in words; needs no device. */
    void (*libraries)(const UnetModel *model, char *text, size_t size);
    /* A line on what `open` made ready otherwise than the compiler planned; "" if nothing. */
    void (*note)(void *state, char *text, size_t size);
} UnetDevice;

#endif
