/* device.h - the functions of a device that runs the steps of a program in place of the host.
 *
 * The host keeps a mirror of the arena: memory with the same offsets.  The driver says when bytes are
 * copied to the other side.
 */
#ifndef UNET_DEVICE_H
#define UNET_DEVICE_H

#include "engines.h"
#include "model.h"
#include "status.h"

/* A part of a step, and how long the device worked on it. */
typedef struct {
    const char *name;
    double seconds;
} UnetDeviceTime;

enum { UNET_STEPS_AHEAD = 2 };

/* A file of engines that `tune` wrote (engines.h), to run in place of the engines that the program was
 * compiled with.  REQUIRED: a file that cannot be read, or that is for another device or program, is a
 * failure; else `note` tells it. */
typedef struct {
    const char *path; /* NULL: none */
    bool required;
} UnetEngineFile;

/* Is told what was measured: DONE of COUNT. */
typedef struct {
    void (*timed)(void *context, int32_t done, int32_t count, const UnetTimedEngine *row);
    void *context;
} UnetTuneListener;

/* One of several processes, as it introduces itself before the devices are connected. */
typedef struct {
    char device[64]; /* a name of its device that no other one has, on any machine */
    char id[128];    /* of the first process: where the others find it */
    int32_t
        version; /* of the library that connects devices (NCCL 2.28.9: 22809); 0: the program has none */
} UnetPeer;

/* This process is RANK of SIZE; FIRST is what the first one told. */
typedef struct {
    UnetPeer first;
    int32_t rank, size;
    bool fast;      /* sums are added in an order that the library chooses */
    bool overlaps;  /* buckets of gradients are sent while a step goes on */
    double timeout; /* seconds that others may be silent */
} UnetConnection;

/* The place of an array of a caller: the memory of the host; the memory of the device, where steps take it;
 * the same, but the host reads it, too; the memory of another device, which no step reads. */
typedef enum {
    UNET_ARRAY_ON_HOST,
    UNET_ARRAY_ON_DEVICE,
    UNET_ARRAY_READ_BY_HOST,
    UNET_ARRAY_ON_OTHER_DEVICE
} UnetArrayPlace;

typedef struct UnetDevice {
    const char *name; /* "cuda" */
    /* Chooses the device for the next `open` of this thread: number PLACE, modulo the number of devices. */
    UnetStatus (*choose)(int32_t place, UnetError *error);
    /* Bytes that a model may take on the device for the next `open` of this thread, beside what CUDA and
     * its libraries load later; 0: there is no device. */
    int64_t (*free_memory)(void);
    /* Allocates EXTENT zeroed bytes on the device, at once, and prepares what MODEL needs there.
     * UNET_TOO_SMALL: there is no device, or too little memory.  ENGINES may be NULL.  The caller closes
     * STATE, even after a failure. */
    UnetStatus (*open)(void **state, const UnetModel *model, int64_t extent, const UnetEngineFile *engines,
                       UnetError *error);
    void (*close)(void *state); /* NULL is allowed */
    /* BYTES at OFFSET from the mirror to the device, and back. */
    UnetStatus (*push)(void *state, const char *mirror, int64_t offset, int64_t bytes, UnetError *error);
    UnetStatus (*fetch)(void *state, char *mirror, int64_t offset, int64_t bytes, UnetError *error);
    /* Begins a step of PROGRAM, which runs after all steps begun before.  At most UNET_STEPS_AHEAD steps
     * are begun and not ended.  Results that depend on weights alone are computed in the first step of
     * PROGRAM after a push or after a step of another program, so only a push may change the weights.
     * STEP's inputs stay as they are until `inputs_taken` returns. */
    UnetStatus (*begin)(void *state, const UnetProgram *program, const UnetStep *step, UnetError *error);
    /* Waits until the inputs of all steps that were begun are on the device. */
    UnetStatus (*inputs_taken)(void *state, UnetError *error);
    /* Waits for the first step that was begun and not ended; its results are then in MIRROR. */
    UnetStatus (*end)(void *state, char *mirror, UnetError *error);
    /* Runs a whole step, when none is begun, and times it on the device.  *TIME has *COUNT entries, valid
     * until the next step: "inputs" (the time to copy them there), then "step", or, with PARTS, the parts
     * of the step, launched one by one. */
    UnetStatus (*timed_run)(void *state, const UnetProgram *program, const UnetStep *step, bool parts,
                            const UnetDeviceTime **time, int32_t *count, UnetError *error);
    /* A hint: inputs will be copied from this memory, so the device may pin it. */
    void (*pin)(void *state, void *memory, size_t bytes);
    /* Names the installed versions of the libraries that MODEL was compiled for; needs no device. */
    void (*libraries)(const UnetModel *model, char *text, size_t size);
    /* Writes to TEXT how `open` departed from the plan or the file of engines: lines, or "". */
    void (*note)(void *state, char *text, size_t size);
    /* Times engines on the device, within the planned memory, and writes the fastest to the file PATH, for
     * a later `open`.  The contents of the arena on the device are lost.  LISTENER may be NULL. */
    UnetStatus (*tune)(void *state, const char *path, const UnetTuneListener *listener, UnetError *error);
    /* Returns whether the engines came from the file that was given to `open`. */
    bool (*uses_file)(void *state);
    /* Which engines compute, in a few letters: where these agree, so do results, to the bit. */
    void (*fingerprint)(void *state, char *text, size_t size);
    /* Fills PEER for the other processes; FIRST: this process is rank 0. */
    UnetStatus (*introduce)(void *state, bool first, UnetPeer *peer, UnetError *error);
    /* The place of an array: samples of INPUT for PROGRAM; or, INPUT is -1, an output. */
    UnetArrayPlace (*place_of)(const UnetModel *model, const UnetProgram *program, int32_t input,
                               const void *array);
    /* Copies BYTES of an array on the device to the host; OUTPUT of PROGRAM, which has ended, to an array
     * on the device.  Both wait for whatever the caller has begun on the device. */
    UnetStatus (*read_array)(void *to, const void *array, size_t bytes, UnetError *error);
    UnetStatus (*take_array)(void *state, const UnetProgram *program, int32_t output, void *array,
                             UnetError *error);
    /* Connects the devices of all processes, which call this together.  Steps with a team then add up
     * numbers from device to device, and not through the host. */
    UnetStatus (*connect)(void *state, const UnetConnection *connection, UnetError *error);
} UnetDevice;

#endif
