/* ranks.c - what processes that train together tell each other (ranks.h), on top of a transport; their
 * gradients are ranks_sum.c's. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Filled in where a program is linked with it (runtime/mpi). */
extern const UnetTransport unet_mpi_transport __attribute__((weak));

enum { PORTION = 1 << 26 };

/* ---- messages ---- */

UnetStatus ranks_exchange(Ranks *ranks, const RanksMail *mail, UnetError *error) {
    mail->send[ranks->rank].count = mail->receive[ranks->rank].count = 0;
    return ranks->transport->exchange(ranks->state, mail->send, mail->receive, ranks->timeout, error);
}

/* An exchange by the thread that trains. */
static UnetStatus exchange(Ranks *ranks, UnetError *error) {
    ranks_settle(ranks);
    return ranks_exchange(ranks, &ranks->mail, error);
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
        ranks->mail.send[r] = (UnetPiece){ranks->room + (size_t)ranks->rank * bytes, bytes};
        ranks->mail.receive[r] = (UnetPiece){ranks->room + (size_t)r * bytes, bytes};
    }
    return exchange(ranks, error);
}

UnetStatus ranks_copy_first(Ranks *ranks, void *bytes, size_t count, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (size_t begin = 0; begin < count && status == UNET_OK && !ranks_alone(ranks);) {
        const size_t left = count - begin, length = left < UNET_MOST_SENT ? left : UNET_MOST_SENT;
        const UnetPiece piece = {(char *)bytes + begin, length};
        for (int32_t r = 0; r < ranks->size; r++) {
            ranks->mail.send[r] = ranks->rank == 0 ? piece : (UnetPiece){NULL, 0};
            ranks->mail.receive[r] = ranks->rank > 0 && r == 0 ? piece : (UnetPiece){NULL, 0};
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

void ranks_waited(Ranks *ranks, double since) {
    const double seconds = machine_seconds() - since;
    ranks->seconds += seconds;
    ranks->sent += seconds;
}

/* UnetTeam.gather */
static void gather_numbers(void *team, void *numbers, int64_t count) {
    Ranks *ranks = team;
    const double start = machine_seconds();
    if (ranks->status == UNET_OK)
        ranks->status = ranks_gather(ranks, numbers, count, true, &ranks->error);
    ranks_waited(ranks, start);
}

/* UnetTeam.add */
static void add_counts(void *team, int64_t *number, int32_t count) {
    Ranks *ranks = team;
    const size_t bytes = (size_t)count * sizeof *number;
    const double start = machine_seconds();
    if (ranks->status != UNET_OK)
        return;
    for (int32_t r = 0; r < ranks->size; r++) {
        ranks->mail.send[r] = (UnetPiece){number, bytes};
        ranks->mail.receive[r] = (UnetPiece){ranks->counts + (size_t)r * RANKS_MOST_COUNTS, bytes};
    }
    ranks->status = exchange(ranks, &ranks->error);
    for (int32_t r = 0; r < ranks->size && ranks->status == UNET_OK; r++)
        for (int32_t i = 0; i < count && r != ranks->rank; i++)
            number[i] += ranks->counts[(size_t)r * RANKS_MOST_COUNTS + (size_t)i];
    ranks_waited(ranks, start);
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

/* UnetTeam.waited */
static void device_waited(void *team, double seconds, double all) {
    Ranks *ranks = team;
    ranks->seconds += seconds;
    ranks->sent += all;
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

UnetStatus ranks_mail_new(RanksMail *mail, int32_t size, UnetError *error) {
    const size_t count = (size_t)size;
    *mail = (RanksMail){.send = calloc(count, sizeof *mail->send),
                        .receive = calloc(count, sizeof *mail->receive),
                        .part = calloc(count, sizeof *mail->part)};
    return mail->send != NULL && mail->receive != NULL && mail->part != NULL
               ? UNET_OK
               : unet_fail(error, UNET_TOO_SMALL, "no memory for what ranks tell each other");
}

void ranks_mail_free(RanksMail *mail) {
    free(mail->send);
    free(mail->receive);
    free(mail->part);
}

static UnetStatus allocate(Ranks *ranks, UnetError *error) {
    const UnetStatus status = ranks_mail_new(&ranks->mail, ranks->size, error);
    if (status != UNET_OK)
        return status;
    ranks->counts = calloc((size_t)ranks->size * RANKS_MOST_COUNTS, sizeof *ranks->counts);
    if (ranks->counts == NULL)
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

UnetStatus ranks_join(Ranks *ranks, const UnetModel *model, const UnetMeeting *meeting, UnetError *error) {
    Launch launch;
    *ranks = (Ranks){.team = {.sum = ranks_sum,
                              .start = ranks_start_sum,
                              .gather = gather_numbers,
                              .add = add_counts,
                              .meet = meet,
                              .look = look,
                              .waited = device_waited,
                              .size = 1},
                     .size = 1,
                     .local = 1,
                     .number = unet_type_bytes(model->real),
                     .portion = PORTION,
                     .timeout = meeting->timeout};
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
    status = transport->join(&ranks->state, &ranks->rank, &ranks->size, meeting, error);
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
    ranks->bucket = model->training->buckets;
    ranks->nbucket = model->device == NULL ? model->training->nbucket : 0; /* a device sees to its own */
    return allocate(ranks, error);
}

void ranks_leave(Ranks *ranks, int code) {
    ranks_end_overlap(ranks);
    if (ranks->transport != NULL)
        ranks->transport->leave(ranks->state, code);
    ranks_mail_free(&ranks->mail);
    free(ranks->counts);
    free(ranks->room);
    *ranks = (Ranks){.size = 1};
}
