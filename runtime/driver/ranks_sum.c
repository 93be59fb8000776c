/* ranks_sum.c - the gradients of processes that train together become their sum (ranks.h).
 *
 * Each rank has a slice of them.  It is sent that slice by all others, adds these in the order of the tree,
 * and sends the sum to all.  So a rank sends 2 (W - 1) / W times the bytes of the gradients, which is the
 * least there can be, and the sum does not depend on who adds it.  Large slices go in portions, so that no
 * message is larger than transports take.
 *
 * Buckets of the gradients are complete before others (UnetTeam.start): a thread sends them, one behind
 * the other, while the step goes on, and the end of the step waits for it.  Every rank has a slice of each
 * bucket.  If ranks update slices of the weights, whose borders are others, the sums then go to the ranks
 * that need them, and to nobody else.  Whatever else is to be sent waits for the thread (ranks_settle), so
 * that all ranks send the same in the same order.
 */
#include "driver.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- slices ---- */

/* The begin of the slice of rank R, of COUNT numbers. */
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
    return (UnetPiece){(char *)numbers + part.begin * (int64_t)ranks->number,
                       (size_t)part.length * ranks->number};
}

static UnetStatus gather_part(Ranks *ranks, const RanksMail *mail, void *numbers, int64_t count,
                              int64_t behind, bool to_all, UnetError *error) {
    const UnetPiece mine = piece_of(ranks, numbers, part_of(ranks, count, ranks->rank, behind));
    for (int32_t r = 0; r < ranks->size; r++) {
        mail->send[r] = to_all || r == 0 ? mine : (UnetPiece){NULL, 0};
        mail->receive[r] = to_all || ranks->rank == 0
                               ? piece_of(ranks, numbers, part_of(ranks, count, r, behind))
                               : (UnetPiece){NULL, 0};
    }
    return ranks_exchange(ranks, mail, error);
}

static UnetStatus gather(Ranks *ranks, const RanksMail *mail, void *numbers, int64_t count, bool to_all,
                         UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int64_t behind = 0; behind <= count / ranks->size && status == UNET_OK; behind += ranks->portion)
        status = gather_part(ranks, mail, numbers, count, behind, to_all, error);
    return status;
}

UnetStatus ranks_gather(Ranks *ranks, void *numbers, int64_t count, bool to_all, UnetError *error) {
    ranks_settle(ranks);
    return gather(ranks, &ranks->mail, numbers, count, to_all, error);
}

/* ---- a bucket, or all gradients ---- */

/* The part of this rank's slice that lies BEHIND its begin becomes the sum of what the ranks with samples
 * have there. */
static UnetStatus add_part(Ranks *ranks, const RanksMail *mail, const RanksSum *sum, int64_t behind,
                           UnetError *error) {
    const int64_t most = sum->count / ranks->size + 1; /* numbers of a slice */
    const size_t apart = (size_t)(most < ranks->portion ? most : ranks->portion) * ranks->number;
    const Part part = part_of(ranks, sum->count, ranks->rank, behind);
    const UnetPiece mine = piece_of(ranks, sum->numbers, part);
    for (int32_t r = 0; r < ranks->size; r++) {
        char *place = sum->room + (size_t)r * apart;
        mail->part[r] = r == ranks->rank ? mine.bytes : place;
        mail->send[r] = piece_of(ranks, sum->numbers, part_of(ranks, sum->count, r, behind));
        mail->receive[r] = (UnetPiece){place, r < ranks->with_work ? mine.count : 0};
        if (ranks->rank >= ranks->with_work)
            mail->send[r].count = 0;
    }
    const UnetStatus status = ranks_exchange(ranks, mail, error);
    if (status != UNET_OK)
        return status;
    ranks_add(mail->part, ranks->with_work, part.length, ranks->number == sizeof(double));
    if (mail->part[0] != mine.bytes)
        memcpy(mine.bytes, mail->part[0], mine.count);
    return UNET_OK;
}

/* The numbers that PART, of a bucket that has so many numbers in FRONT, has in common with the slice of
 * rank R of ALL gradients. */
static Part common(const Ranks *ranks, Part part, int64_t front, int64_t all, int32_t r) {
    const int64_t first = slice(ranks, all, r) - front, last = slice(ranks, all, r + 1) - front,
                  end = part.begin + part.length < last ? part.begin + part.length : last;
    Part found = {part.begin > first ? part.begin : first, 0};
    found.length = end > found.begin ? end - found.begin : 0;
    return found;
}

/* The sums of a part of each slice of a bucket go to those who update these weights. */
static UnetStatus deal_part(Ranks *ranks, const RanksMail *mail, const RanksSum *sum, int64_t behind,
                            UnetError *error) {
    const Part mine = part_of(ranks, sum->count, ranks->rank, behind);
    for (int32_t r = 0; r < ranks->size; r++) {
        const Part theirs = part_of(ranks, sum->count, r, behind);
        mail->send[r] = piece_of(ranks, sum->numbers, common(ranks, mine, sum->front, sum->all, r));
        mail->receive[r] =
            piece_of(ranks, sum->numbers, common(ranks, theirs, sum->front, sum->all, ranks->rank));
    }
    return ranks_exchange(ranks, mail, error);
}

static UnetStatus sum_all(Ranks *ranks, const RanksMail *mail, const RanksSum *sum, UnetError *error) {
    UnetStatus status = UNET_OK;
    const int64_t last = sum->count / ranks->size;
    for (int64_t behind = 0; behind <= last && status == UNET_OK; behind += ranks->portion)
        status = add_part(ranks, mail, sum, behind, error);
    if (sum->whole && status == UNET_OK)
        return gather(ranks, mail, sum->numbers, sum->count, true, error);
    for (int64_t behind = 0; sum->count < sum->all && behind <= last && status == UNET_OK;
         behind += ranks->portion)
        status = deal_part(ranks, mail, sum, behind, error);
    return status;
}

/* ---- the thread ---- */

struct RanksThread {
    Ranks *ranks;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    RanksSum sum[UNET_MOST_BUCKETS]; /* that have begun in this step, */
    int32_t begun, done;             /*   so many, and these are through */
    bool ends;
    double seconds; /* that it took for these */
    RanksMail mail;
};

/* One sum; in this step there was no failure before. */
static void work_on(RanksThread *t, const RanksSum *sum) {
    UnetError error;
    const double start = machine_seconds();
    const UnetStatus status = sum_all(t->ranks, &t->mail, sum, &error);
    const double end = machine_seconds();
    (void)pthread_mutex_lock(&t->lock);
    t->seconds += end - start;
    if (status != UNET_OK) {
        t->ranks->status = status;
        t->ranks->error = error;
    }
    t->done++;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
}

static void *work(void *argument) {
    RanksThread *t = argument;
    for (;;) {
        (void)pthread_mutex_lock(&t->lock);
        while (t->done == t->begun && !t->ends)
            (void)pthread_cond_wait(&t->changed, &t->lock);
        const bool ends = t->ends, failed = t->ranks->status != UNET_OK;
        const RanksSum sum = t->sum[ends ? 0 : t->done];
        t->done += !ends && failed;
        (void)pthread_cond_broadcast(&t->changed);
        (void)pthread_mutex_unlock(&t->lock);
        if (ends)
            return NULL;
        if (!failed)
            work_on(t, &sum);
    }
}

/* Signals are for the thread that trains. */
static int begin_thread(RanksThread *t) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int problem = pthread_create(&t->thread, NULL, work, t);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

UnetStatus ranks_overlap(Ranks *ranks, UnetError *error) {
    const UnetTransport *transport = ranks->transport;
    if (ranks->nbucket == 0 || transport == NULL || transport->serves_threads == NULL ||
        !transport->serves_threads(ranks->state))
        return UNET_OK;
    RanksThread *t = calloc(1, sizeof *t);
    if (t == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a thread that sends gradients");
    t->ranks = ranks;
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->changed, NULL);
    const UnetStatus status = ranks_mail_new(&t->mail, ranks->size, error);
    if (status == UNET_OK && begin_thread(t) == 0) {
        ranks->thread = t;
        return UNET_OK;
    }
    ranks_mail_free(&t->mail);
    free(t);
    return status != UNET_OK ? status : unet_fail(error, UNET_TOO_SMALL, "no thread that sends gradients");
}

void ranks_end_overlap(Ranks *ranks) {
    RanksThread *t = ranks->thread;
    if (t == NULL)
        return;
    ranks_settle(ranks);
    (void)pthread_mutex_lock(&t->lock);
    t->ends = true;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
    (void)pthread_join(t->thread, NULL);
    (void)pthread_cond_destroy(&t->changed);
    (void)pthread_mutex_destroy(&t->lock);
    ranks_mail_free(&t->mail);
    free(t);
    ranks->thread = NULL;
}

void ranks_settle(Ranks *ranks) {
    RanksThread *t = ranks->thread;
    if (t == NULL)
        return;
    (void)pthread_mutex_lock(&t->lock);
    while (t->done < t->begun)
        (void)pthread_cond_wait(&t->changed, &t->lock);
    (void)pthread_mutex_unlock(&t->lock);
}

/* ---- within a step ---- */

static void begin_sum(Ranks *ranks, const RanksSum *sum) {
    RanksThread *t = ranks->thread;
    (void)pthread_mutex_lock(&t->lock);
    t->sum[t->begun++] = *sum;
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
}

void ranks_start_sum(void *team, void *sum, void *room, int32_t bucket, int whole) {
    Ranks *ranks = team;
    const UnetBucket *last = &ranks->bucket[ranks->nbucket - 1], *b = &ranks->bucket[bucket];
    if (ranks->thread != NULL)
        begin_sum(ranks, &(RanksSum){sum, room, b->count, b->first, last->first + last->count, whole != 0});
}

/* Waits for the sums that have begun; the next step begins anew. */
static void end_sums(Ranks *ranks) {
    RanksThread *t = ranks->thread;
    ranks_settle(ranks);
    (void)pthread_mutex_lock(&t->lock);
    t->begun = t->done = 0;
    ranks->sent += t->seconds;
    t->seconds = 0;
    (void)pthread_mutex_unlock(&t->lock);
}

/* Sums what did not begin yet: in a process without samples that is all. */
static void end_buckets(Ranks *ranks, char *sum, char *room, int whole) {
    for (int32_t b = ranks->thread->begun; b < ranks->nbucket; b++)
        ranks_start_sum(ranks, sum + ranks->bucket[b].first * (int64_t)ranks->number,
                        room + ranks->bucket[b].place * (int64_t)ranks->number, b, whole);
    end_sums(ranks);
}

void ranks_sum(void *team, void *sum, void *room, int64_t count, int whole) {
    Ranks *ranks = team;
    const double start = machine_seconds();
    if (ranks->thread != NULL) {
        end_buckets(ranks, sum, room, whole);
        ranks->seconds += machine_seconds() - start;
        return;
    }
    if (ranks->status == UNET_OK)
        ranks->status = sum_all(ranks, &ranks->mail, &(RanksSum){sum, room, count, 0, count, whole != 0},
                                &ranks->error);
    ranks_waited(ranks, start);
}
