/* marks.c - how long the device works on parts of a step (marks.h). */
#include "marks.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64, MOST_MARKS = 1 << 24 };

static cudaError_t make_room(UnetCudaMarks *marks) {
    if (marks->count < marks->room)
        return cudaSuccess;
    int32_t room = marks->room == 0 ? FIRST_ROOM : 2 * marks->room;
    if (room > MOST_MARKS)
        return cudaErrorMemoryAllocation;
    cudaEvent_t *event = realloc(marks->event, (size_t)room * sizeof(cudaEvent_t));
    if (event == NULL)
        return cudaErrorMemoryAllocation;
    marks->event = event;
    UnetDeviceTime *time = realloc(marks->time, (size_t)room * sizeof(UnetDeviceTime));
    if (time == NULL)
        return cudaErrorMemoryAllocation;
    marks->time = time;
    marks->room = room;
    return cudaSuccess;
}

cudaError_t unet_cuda_mark(UnetCudaMarks *marks, cudaStream_t stream, const char *name) {
    if (marks->count > 0 && marks->time[marks->count - 1].name == name)
        return cudaEventRecord(marks->event[marks->count - 1], stream);
    cudaError_t error = make_room(marks);
    if (error == cudaSuccess && marks->count == marks->events) {
        error = cudaEventCreate(&marks->event[marks->count]);
        marks->events += error == cudaSuccess;
    }
    if (error != cudaSuccess)
        return error;
    marks->time[marks->count] = (UnetDeviceTime){.name = name};
    return cudaEventRecord(marks->event[marks->count++], stream);
}

cudaError_t unet_cuda_marks_read(UnetCudaMarks *marks) {
    cudaError_t error = cudaSuccess;
    for (int32_t i = 1; i < marks->count && error == cudaSuccess; i++) {
        float milliseconds = 0;
        error = cudaEventElapsedTime(&milliseconds, marks->event[i - 1], marks->event[i]);
        marks->time[i].seconds = 1e-3 * (double)milliseconds;
    }
    return error;
}

void unet_cuda_marks_free(UnetCudaMarks *marks) {
    for (int32_t i = 0; i < marks->events; i++)
        (void)cudaEventDestroy(marks->event[i]);
    free(marks->event);
    free(marks->time);
    *marks = (UnetCudaMarks){.event = NULL};
}
