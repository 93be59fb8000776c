/* transport.c - ranks reach each other by MPI (runtime/driver/ranks.h).
 *
 * Every message goes from one rank to another, and is waited for by asking: so a rank that is silent can be
 * named, which collective operations do not tell.
 */
#include "../driver/ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    int32_t rank, size;
    bool serves_threads;  /* one at a time, whichever */
    MPI_Request *request; /* from rank r: number r; to rank r: number SIZE + r */
} State;

static double now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static UnetStatus failed(int code, const char *what, UnetError *error) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        length = 0;
    return unet_fail(error, UNET_IO, "MPI: %s: %.*s", what, length, text);
}

/* MPI's own threads leave signals to this one. */
static int initialize(int *given) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, given);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static UnetStatus join(void **state, int32_t *rank, int32_t *size, const UnetMeeting *meeting,
                       UnetError *error) {
    (void)meeting; /* the launcher sees to that */
    int given, code = initialize(&given);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(MPI_COMM_WORLD, size);
    if (code != MPI_SUCCESS)
        return failed(code, "the start", error);
    if (given < MPI_THREAD_FUNNELED)
        return unet_fail(error, UNET_USAGE, "this MPI is not made for programs with threads");
    State *created = calloc(1, sizeof *created);
    if (created != NULL) {
        *created = (State){

            .rank = *rank,
            .size = *size,
            .serves_threads = given >= MPI_THREAD_SERIALIZED,
            .request = calloc(2 * (size_t)*size, sizeof(MPI_Request))};
        for (int32_t i = 0; created->request != NULL && i < 2 * *size; i++)
            created->request[i] = MPI_REQUEST_NULL;
    }
    *state = created;
    return created != NULL && created->request != NULL
               ? UNET_OK
               : unet_fail(error, UNET_TOO_SMALL, "no memory for MPI");
}

static int start(State *s, const UnetPiece *send, const UnetPiece *receive) {
    int code = MPI_SUCCESS;
    for (int32_t r = 0; r < s->size && code == MPI_SUCCESS; r++)
        if (receive[r].count > 0)
            code = MPI_Irecv(receive[r].bytes, (int)receive[r].count, MPI_BYTE, r, 0, MPI_COMM_WORLD,
                             &s->request[r]);
    for (int32_t k = 1; k < s->size && code == MPI_SUCCESS; k++) {
        const int32_t r = (s->rank + k) % s->size; /* not all to the same one first */
        if (send[r].count > 0)
            code = MPI_Isend(send[r].bytes, (int)send[r].count, MPI_BYTE, r, 0, MPI_COMM_WORLD,
                             &s->request[s->size + r]);
    }
    return code;
}

/* "3, 5": the first ranks whose message is not there, or else the first that do not take one. */
static void silent(const State *s, char *text, size_t size) {
    enum { SHOWN = 8 };
    size_t length = 0;
    int32_t first = 0, found = 0;
    for (int32_t i = 0; i < s->size; i++)
        found += s->request[i] != MPI_REQUEST_NULL;
    if (found == 0)
        first = s->size;
    text[0] = '\0';
    for (int32_t i = 0, shown = 0; i < s->size; i++) {
        if (s->request[first + i] == MPI_REQUEST_NULL || shown == SHOWN)
            continue;
        const int n = snprintf(text + length, size - length, "%s%d", shown++ > 0 ? ", " : "", (int)i);
        length += n > 0 && (size_t)n < size - length ? (size_t)n : 0;
    }
}

/* Waits as others may need the processor, too: at once, then now and then. */
static void pause_for(double waited) {
    const struct timespec a_while = {0, 50000};
    if (waited < 1e-4)
        (void)sched_yield();
    else
        (void)nanosleep(&a_while, NULL);
}

static UnetStatus exchange(void *state, const UnetPiece *send, const UnetPiece *receive, double timeout,
                           UnetError *error) {
    State *s = state;
    double since = now();
    int left = 0, code = start(s, send, receive);
    for (int32_t i = 0; i < 2 * s->size; i++)
        left += s->request[i] != MPI_REQUEST_NULL;
    while (left > 0 && code == MPI_SUCCESS) {
        int done, index;
        code = MPI_Testany(2 * s->size, s->request, &index, &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && done) {
            left--;
            since = now();
            continue;
        }
        const double waited = now() - since;
        if (waited > timeout) {
            char ranks[128];
            silent(s, ranks, sizeof ranks);
            return unet_fail(error, UNET_IO, RANKS_SILENT, ranks, waited);
        }
        pause_for(waited);
    }
    return code == MPI_SUCCESS ? UNET_OK : failed(code, "a message", error);
}

static bool serves_threads(const void *state) {
    const State *s = state;
    return s->serves_threads;
}

static void leave(void *state, int code) {
    State *s = state;
    if (code != 0)
        (void)MPI_Abort(MPI_COMM_WORLD, code);
    (void)MPI_Finalize();
    free(s->request);
    free(s);
}

const UnetTransport unet_mpi_transport = {
    .name = "MPI", .join = join, .exchange = exchange, .serves_threads = serves_threads, .leave = leave};
