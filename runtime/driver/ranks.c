/* ranks.c - what processes that train together tell each other (ranks.h), on top of a transport.
 *
 * Gradients: each rank has a slice of them.  It is sent that slice by all others, adds these in the order
 * of the tree, and sends the sum to all.  So a rank sends 2 (W - 1) / W times the bytes of the gradients,
 * which is the least there can be, and the sum does not depend on who adds it.  Large slices go in
 * portions, so that no message is larger than transports take.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Filled in where a program is linked with it (runtime/mpi). */
extern const UnetTransport unet_mpi_transport __attribute__((weak));

enum { PORTION = 1 << 26 };

/* ---- sums ---- */

static void add_floats(float *to, const float *from, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        to[i] = to[i] + from[i];
}

static void add_doubles(double *to, const double *from, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        to[i] = to[i] + from[i];
}

void ranks_add(void *const *part, int32_t count, int64_t numbers, bool doubles) {
    for (int32_t apart = 1; apart < count; apart *= 2)
        for (int32_t i = 0; i + apart < count; i += 2 * apart) {
            if (doubles)
                add_doubles(part[i], part[i + apart], numbers);
            else
                add_floats(part[i], part[i + apart], numbers);
        }
}

/* ---- messages ---- */

static UnetStatus exchange(Ranks *ranks, UnetError *error) {
    ranks->send[ranks->rank].count = ranks->receive[ranks->rank].count = 0;
    return ranks->transport->exchange(ranks->state, ranks->send, ranks->receive, ranks->timeout, error);
}

UnetStatus ranks_say(Ranks *ranks, const void *mine, size_t bytes, const char **all, UnetError *error) {
    *all = ranks->room;
    if (bytes > ranks->said)
        return unet_fail(error, UNET_BUG, "a rank wants to say %zu bytes, and has room for %zu", bytes,
                         ranks->said);
    memcpy(ranks->room + (size_t)ranks->rank * bytes, mine, bytes);
    if (ranks_alone(ranks))
        return UNET_OK;
    for (int32_t r = 0; r < ranks->size; r++) {
        ranks->send[r] = (UnetPiece){ranks->room + (size_t)ranks->rank * bytes, bytes};
        ranks->receive[r] = (UnetPiece){ranks->room + (size_t)r * bytes, bytes};
    }
    return exchange(ranks, error);
}

UnetStatus ranks_copy_first(Ranks *ranks, void *bytes, size_t count, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (size_t begin = 0; begin < count && status == UNET_OK && !ranks_alone(ranks);) {
        const size_t left = count - begin, length = left < UNET_MOST_SENT ? left : UNET_MOST_SENT;
        const UnetPiece piece = {(char *)bytes + begin, length};
        for (int32_t r = 0; r < ranks->size; r++) {
            ranks->send[r] = ranks->rank == 0 ? piece : (UnetPiece){NULL, 0};
            ranks->receive[r] = ranks->rank > 0 && r == 0 ? piece : (UnetPiece){NULL, 0};
        }
        status = exchange(ranks, error);
        begin += length;
    }
    return status;
}

UnetStatus ranks_most(Ranks *ranks, int64_t mine, int64_t *most, UnetError *error) {
    const char *all;
    *most = mine;
    if (ranks_alone(ranks))
        return UNET_OK;
    const UnetStatus status = ranks_say(ranks, &mine, sizeof mine, &all, error);
    for (int32_t r = 0; r < ranks->size && status == UNET_OK; r++) {
        int64_t said;
        memcpy(&said, all + (size_t)r * sizeof said, sizeof said);
        *most = said > *most ? said : *most;
    }
    return status;
}

/* ---- within a step ---- */

int32_t ranks_with_work(const Ranks *ranks, int32_t n) {
    return (n - 1) / ranks->share + 1;
}

void ranks_begin_step(Ranks *ranks, int32_t n, int32_t *first, int32_t *last) {
    const int64_t begin = (int64_t)ranks->rank * ranks->share, end = begin + ranks->share;
    *first = begin < n ? (int32_t)begin : n;
    *last = end < n ? (int32_t)end : n;
    ranks->with_work = ranks_with_work(ranks, n);
}

/* Where the slice of rank R begins, of COUNT numbers. */
static int64_t slice(const Ranks *ranks, int64_t count, int32_t r) {
    return count * r / ranks->size;
}

/* A part of a slice, which is no larger than a message may be: the numbers from BEGIN on, LENGTH of them.
 */
typedef struct {
    int64_t begin, length;
} Part;

static Part part_of(const Ranks *ranks, int64_t count, int32_t r, int64_t behind) {
    const int64_t begin = slice(ranks, count, r) + behind, end = slice(ranks, count, r + 1);
    const int64_t left = begin < end ? end - begin : 0;
    return (Part){begin, left < ranks->portion ? left : ranks->portion};
}

static UnetPiece piece_of(const Ranks *ranks, void *numbers, Part part) {
    return (UnetPiece){(char *)numbers + (size_t)part.begin * ranks->number,
                       (size_t)part.length * ranks->number};
}

/* The part of this rank's slice that lies BEHIND its begin becomes the sum of what the ranks with samples
 * have there. */
static UnetStatus add_part(Ranks *ranks, void *sum, char *room, int64_t count, int64_t behind) {
    const int64_t most = count / ranks->size + 1; /* numbers of a slice */
    const size_t apart = (size_t)(most < ranks->portion ? most : ranks->portion) * ranks->number;
    const Part part = part_of(ranks, count, ranks->rank, behind);
    const UnetPiece mine = piece_of(ranks, sum, part);
    for (int32_t r = 0; r < ranks->size; r++) {
        char *place = room + (size_t)r * apart;
        ranks->part[r] = r == ranks->rank ? mine.bytes : place;
        ranks->send[r] = piece_of(ranks, sum, part_of(ranks, count, r, behind));
        ranks->receive[r] = (UnetPiece){place, r < ranks->with_work ? mine.count : 0};
        if (ranks->rank >= ranks->with_work)
            ranks->send[r].count = 0;
    }
    const UnetStatus status = exchange(ranks, &ranks->error);
    if (status != UNET_OK)
        return status;
    ranks_add(ranks->part, ranks->with_work, part.length, ranks->number == sizeof(double));
    if (ranks->part[0] != mine.bytes)
        memcpy(mine.bytes, ranks->part[0], mine.count);
    return UNET_OK;
}

static UnetStatus gather_part(Ranks *ranks, void *numbers, int64_t count, int64_t behind, bool to_all,
                              UnetError *error) {
    const UnetPiece mine = piece_of(ranks, numbers, part_of(ranks, count, ranks->rank, behind));
    for (int32_t r = 0; r < ranks->size; r++) {
        ranks->send[r] = to_all || r == 0 ? mine : (UnetPiece){NULL, 0};
        ranks->receive[r] = to_all || ranks->rank == 0
                                ? piece_of(ranks, numbers, part_of(ranks, count, r, behind))
                                : (UnetPiece){NULL, 0};
    }
    return exchange(ranks, error);
}

UnetStatus ranks_gather(Ranks *ranks, void *numbers, int64_t count, bool to_all, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int64_t behind = 0; behind <= count / ranks->size && status == UNET_OK; behind += ranks->portion)
        status = gather_part(ranks, numbers, count, behind, to_all, error);
    return status;
}

/* UnetTeam.sum; a step cannot fail, and so the caller of the step looks at RANKS->status. */
static void sum_gradients(void *team, void *sum, void *room, int64_t count, int whole) {
    Ranks *ranks = team;
    const double start = machine_seconds();
    for (int64_t behind = 0; behind <= count / ranks->size && ranks->status == UNET_OK;
         behind += ranks->portion)
        ranks->status = add_part(ranks, sum, room, count, behind);
    if (whole && ranks->status == UNET_OK)
        ranks->status = ranks_gather(ranks, sum, count, true, &ranks->error);
    ranks->seconds += machine_seconds() - start;
}

/* UnetTeam.gather */
static void gather_numbers(void *team, void *numbers, int64_t count) {
    Ranks *ranks = team;
    const double start = machine_seconds();
    if (ranks->status == UNET_OK)
        ranks->status = ranks_gather(ranks, numbers, count, true, &ranks->error);
    ranks->seconds += machine_seconds() - start;
}

/* UnetTeam.add */
static void add_counts(void *team, int64_t *number, int32_t count) {
    Ranks *ranks = team;
    const size_t bytes = (size_t)count * sizeof *number;
    const double start = machine_seconds();
    if (ranks->status != UNET_OK)
        return;
    for (int32_t r = 0; r < ranks->size; r++) {
        ranks->send[r] = (UnetPiece){number, bytes};
        ranks->receive[r] = (UnetPiece){ranks->counts + (size_t)r * RANKS_MOST_COUNTS, bytes};
    }
    ranks->status = exchange(ranks, &ranks->error);
    for (int32_t r = 0; r < ranks->size && ranks->status == UNET_OK; r++)
        for (int32_t i = 0; i < count && r != ranks->rank; i++)
            number[i] += ranks->counts[(size_t)r * RANKS_MOST_COUNTS + (size_t)i];
    ranks->seconds += machine_seconds() - start;
}

/* UnetTeam.meet */
static UnetStatus meet(void *team, UnetError *error) {
    const char here = 1, *all;
    return ranks_say(team, &here, sizeof here, &all, error);
}

/* UnetTeam.look */
static UnetStatus look(void *team, UnetError *error) {
    const Ranks *ranks = team;
    return ranks->transport->look == NULL ? UNET_OK : ranks->transport->look(ranks->state, error);
}

/* ---- life ---- */

UnetStatus ranks_reserve(Ranks *ranks, size_t bytes, UnetError *error) {
    if (bytes <= ranks->said)
        return UNET_OK;
    free(ranks->room);
    ranks->room = calloc((size_t)ranks->size, bytes);
    ranks->said = ranks->room != NULL ? bytes : 0;
    return ranks->room != NULL
               ? UNET_OK
               : unet_fail(error, UNET_TOO_SMALL, "no memory for what ranks tell each other");
}

static UnetStatus allocate(Ranks *ranks, UnetError *error) {
    const size_t size = (size_t)ranks->size;
    ranks->send = calloc(size, sizeof *ranks->send);
    ranks->receive = calloc(size, sizeof *ranks->receive);
    ranks->part = calloc(size, sizeof *ranks->part);
    ranks->counts = calloc(size * RANKS_MOST_COUNTS, sizeof *ranks->counts);
    if (ranks->send == NULL || ranks->receive == NULL || ranks->part == NULL || ranks->counts == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for what ranks tell each other");
    return ranks_reserve(ranks, 4096, error);
}

/* The number of processes, as it was found out by the launcher and by the transport, suits the program. */
static UnetStatus check_size(const Ranks *ranks, const UnetModel *model, const Launch *launch,
                             UnetError *error) {
    const int32_t most = model->training == NULL || model->training->ranks < 1 ? 1 : model->training->ranks;
    if (ranks->size != launch->size || ranks->rank != launch->rank)
        return unet_fail(
            error, UNET_USAGE,
            "%s says this is rank %lld of %lld, and %s says %d of %d: they are of different kinds; start "
            "with the launcher of the MPI that the program was linked with",
            launch->by, (long long)launch->rank, (long long)launch->size, ranks->transport->name,
            (int)ranks->rank, (int)ranks->size);
    if (most % ranks->size != 0)
        return unet_fail(
            error, UNET_USAGE,
            "%d processes cannot train together: %s was compiled with `ranks %d`, of which their number "
            "must be a divisor; compile with --ranks=N, or start 1, 2, 4, ... up to %d",
            (int)ranks->size, model->name, (int)most, (int)most);
    return UNET_OK;
}

UnetStatus ranks_check_share(Ranks *ranks, const UnetModel *model, UnetError *error) {
    const UnetTraining *training = model->training;
    const int least = (int)training->processes;
    if (ranks->size >= least)
        return UNET_OK;
    ranks->alike = true;
    return unet_fail(
        error, UNET_USAGE,
        "%s was compiled for %d processes or more%s, and this is %d: start %d together (mpirun -n %d), or "
        "compile it %s",
        model->name, least, training->slices != NULL ? ", which share the optimizer's state" : "",
        (int)ranks->size, least, least,
        training->slices != NULL ? "without --shard-optimizer" : "with fewer --processes");
}

UnetStatus ranks_join(Ranks *ranks, const UnetModel *model, double timeout, UnetError *error) {
    Launch launch;
    *ranks = (Ranks){.team = {.sum = sum_gradients,
                              .gather = gather_numbers,
                              .add = add_counts,
                              .meet = meet,
                              .look = look,
                              .size = 1},
                     .size = 1,
                     .local = 1,
                     .number = unet_type_bytes(model->real),
                     .portion = PORTION,
                     .timeout = timeout};
    UnetStatus status = ranks_find_launch(&launch, ranks->note, sizeof ranks->note, error);
    if (status != UNET_OK || launch.size == 1)
        return status != UNET_OK ? status : allocate(ranks, error);
    const UnetTransport *transport = launch.by_mpi ? &unet_mpi_transport : &ranks_tcp_transport;
    ranks->rank = (int32_t)launch.rank;
    ranks->size = (int32_t)launch.size;
    if (transport == NULL || model->training == NULL || model->training->ranks <= 1)
        return unet_fail(
            error, UNET_USAGE, "%s started %lld processes, and this program trains alone%s", launch.by,
            (long long)launch.size,
            model->training != NULL && model->training->ranks > 1
                ? ": it has no MPI. Install MPI (Debian: mpi-default-dev), build unetc anew and compile "
                  "the program "
                  "again"
                : ". Write `ranks N` in the section `train`, or compile with `unetc --ranks=N`");
    status = transport->join(&ranks->state, &ranks->rank, &ranks->size, timeout, error);
    if (ranks->state != NULL)
        ranks->transport = transport;
    if (status != UNET_OK)
        return status;
    ranks->team.rank = ranks->rank;
    ranks->team.size = ranks->size;
    ranks->local = (int32_t)launch.local;
    ranks->place = (int32_t)launch.place;
    ranks->alike = true;
    status = check_size(ranks, model, &launch, error);
    if (status != UNET_OK)
        return status;
    ranks->alike = false;
    const int32_t group = (model->train->batch - 1) / model->training->ranks + 1;
    ranks->share = group * (model->training->ranks / ranks->size);
    return allocate(ranks, error);
}

void ranks_leave(Ranks *ranks, int code) {
    if (ranks->transport != NULL)
        ranks->transport->leave(ranks->state, code);
    free(ranks->send);
    free(ranks->receive);
    free(ranks->part);
    free(ranks->counts);
    free(ranks->room);
    *ranks = (Ranks){.size = 1};
}
