/* ranks_test.c - messages between ranks (runtime/driver/ranks.c), over a transport between threads.
 *
 * Sums are compared with a tree that is written down here once more, for any number of ranks with work, in
 * one portion and in many, at once and in buckets that a thread sums, if a rank needs its slice of all
 * alone, too; a rank whose weights differ is named; launchers are found in their order. */
#include "train.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, NUMBERS = 1003, PORTION = 100 };

enum { BUCKETS = 3 };
static const UnetBucket buckets[BUCKETS] = {
    {0, 3, 0}, {3, 900, 2 * (3 + MOST)}, {903, 100, 2 * (903 + 2 * MOST)}};

static int failures;
#define CHECK(condition, ...) ((condition) ? 0 : (failures++, printf("FAILED: " __VA_ARGS__), printf("\n")))

/* ---- a transport between threads ---- */

typedef struct {
    pthread_barrier_t *barrier;
    const UnetPiece **sent; /* per rank: what it sends */
    int32_t rank, size;
} Thread;

static UnetStatus exchange(void *state, const UnetPiece *send, const UnetPiece *receive, double timeout,
                           UnetError *error) {
    const Thread *t = state;
    UnetStatus status = UNET_OK;
    (void)timeout;
    t->sent[t->rank] = send;
    (void)pthread_barrier_wait(t->barrier);
    for (int32_t r = 0; r < t->size; r++) {
        const UnetPiece *piece = &t->sent[r][t->rank];
        if (r == t->rank)
            continue;
        if (piece->count != receive[r].count)
            status = unet_fail(error, UNET_BUG, "rank %d sends %zu bytes and %zu are awaited", (int)r,
                               piece->count, receive[r].count);
        else if (piece->count > 0)
            memcpy(receive[r].bytes, piece->bytes, piece->count);
    }
    (void)pthread_barrier_wait(t->barrier);
    return status;
}

static bool serves_threads(const void *state) {
    (void)state;
    return true;
}

static const UnetTransport between_threads = {
    .name = "threads", .exchange = exchange, .serves_threads = serves_threads};

/* ---- ranks ---- */

typedef struct {
    Thread thread;
    Ranks ranks;
    int32_t with_work;
    bool differs; /* its weights */
    bool overlaps;
    float numbers[NUMBERS], room[2 * (NUMBERS + BUCKETS * MOST)];
    int64_t counts[3];
    UnetStatus compared;
    char said[1024];
} Rank;

static Ranks ranks_of(Thread *thread, Rank *rank) {
    const size_t size = (size_t)thread->size;
    Ranks all = rank->ranks; /* its functions */
    all.transport = &between_threads;
    all.state = thread;
    all.rank = thread->rank;
    all.size = thread->size;
    all.with_work = rank->with_work;
    all.number = sizeof(float);
    all.bucket = buckets;
    all.nbucket = rank->overlaps ? BUCKETS : 0;
    all.status = ranks_mail_new(&all.mail, all.size, &all.error);
    all.counts = calloc(size * RANKS_MOST_COUNTS, sizeof *all.counts);
    all.said = 64;
    all.room = calloc(size, all.said);
    return all;
}

static void compare_weights(Rank *rank) {
    static const UnetModel model = {.persistent = 64};
    static const UnetTraining training = {.ranks = MOST};
    static Driver drivers[MOST];
    Driver *driver = &drivers[rank->thread.rank];
    char weights[64] = {0};
    weights[40] = (char)rank->differs;
    driver->ranks = rank->ranks;
    Run run = {.driver = driver,
               .model = &model,
               .training = &training,
               .device = {.model = &model, .arena = weights},
               .state = {.step = 7},
               .saved = 5};
    rank->compared = train_compare_weights(&run);
    (void)snprintf(rank->said, sizeof rank->said, "%s",
                   rank->compared == UNET_OK ? "" : driver->error.text);
}

static void *work(void *argument) {
    Rank *rank = argument;
    Ranks *ranks = &rank->ranks;
    *ranks = ranks_of(&rank->thread, rank);
    ranks->portion = rank->with_work % 2 == 0 ? PORTION : NUMBERS;
    const bool whole = rank->with_work % 3 != 0;
    if (rank->overlaps && ranks->status == UNET_OK)
        ranks->status = ranks_overlap(ranks, &ranks->error);
    for (int32_t b = 0; rank->thread.rank < rank->with_work && b < BUCKETS - 1; b++)
        ranks->team.start(ranks, rank->numbers + buckets[b].first, rank->room + buckets[b].place, b, whole);
    ranks->team.sum(ranks, rank->numbers, rank->room, NUMBERS, whole);
    if (!whole) /* each has its slice */
        ranks->team.gather(ranks, rank->numbers, NUMBERS);
    ranks->team.add(ranks, rank->counts, 3);
    compare_weights(rank);
    ranks_end_overlap(ranks);
    ranks_mail_free(&ranks->mail);
    free(ranks->counts);
    free(ranks->room);
    return NULL;
}

/* The number of rank R at I: numbers whose sum depends on the order. */
static float number_of(int32_t r, int i) {
    return (float)((r * 37 + i * 11) % 101 - 50) * (i % 3 == 0 ? 1e7f : 0.37f);
}

/* T(0..n) = T(0..p) + T(p..n), p the largest power of two below n. */
static float tree(int32_t first, int32_t count, int i) {
    int32_t half = 1;
    if (count == 1)
        return number_of(first, i);
    while (2 * half < count)
        half *= 2;
    return tree(first, half, i) + tree(first + half, count - half, i);
}

static void run_ranks(const Ranks *functions, int32_t size, int32_t with_work, int32_t different,
                      bool overlaps) {
    static Rank rank[MOST];
    pthread_t thread[MOST];
    pthread_barrier_t barrier;
    const UnetPiece *sent[MOST];
    (void)pthread_barrier_init(&barrier, NULL, (unsigned)size);
    for (int32_t r = 0; r < size; r++) {
        rank[r] = (Rank){.thread = {&barrier, sent, r, size},
                         .ranks = *functions,
                         .with_work = with_work,
                         .differs = r == different,
                         .overlaps = overlaps,
                         .counts = {r, 1, INT64_C(1) << 40}};
        for (int i = 0; i < NUMBERS; i++)
            rank[r].numbers[i] = r < with_work ? number_of(r, i) : 12345; /* of no step */
    }
    for (int32_t r = 0; r < size; r++)
        (void)pthread_create(&thread[r], NULL, work, &rank[r]);
    for (int32_t r = 0; r < size; r++)
        (void)pthread_join(thread[r], NULL);
    (void)pthread_barrier_destroy(&barrier);
    for (int32_t r = 0; r < size; r++) {
        CHECK(rank[r].ranks.status == UNET_OK, "%d ranks: %s", size, rank[r].ranks.error.text);
        for (int i = 0; i < NUMBERS; i++) {
            const float expected = tree(0, with_work, i);
            if (memcmp(&rank[r].numbers[i], &expected, sizeof expected) != 0) {
                CHECK(false, "%d of %d ranks: rank %d has %.9g at %d, not %.9g", with_work, size, r,
                      (double)rank[r].numbers[i], i, (double)expected);
                break;
            }
        }
        CHECK(rank[r].counts[0] == size * (size - 1) / 2 && rank[r].counts[1] == size &&
                  rank[r].counts[2] == (int64_t)size << 40,
              "counts of %d ranks", size);
        CHECK((rank[r].compared == UNET_BUG) == (different >= 0), "rank %d of %d compares its weights", r,
              size);
        CHECK(different < 1 || strstr(rank[r].said, "after step 7 rank") != NULL, "it says `%s`",
              rank[r].said);
    }
}

/* ---- launchers ---- */

static void launched(const char *const *variables, UnetStatus expected, int64_t rank, int64_t size,
                     const char *word) {
    Launch launch;
    char note[256];
    UnetError error = {.text = ""};
    for (const char *const *v = variables; *v != NULL; v += 2)
        (void)setenv(v[0], v[1], 1);
    const UnetStatus status = ranks_find_launch(&launch, note, sizeof note, &error);
    CHECK(status == expected && (status != UNET_OK || (launch.rank == rank && launch.size == size)),
          "%s=%s: status %d, rank %lld of %lld", variables[0], variables[1], (int)status,
          (long long)launch.rank, (long long)launch.size);
    CHECK(status != UNET_OK || size == 1 || launch.by_mpi == (strcmp(variables[0], "RANK") != 0),
          "%s: started by MPI: %d", variables[0], launch.by_mpi);
    CHECK(strstr(status == UNET_OK ? note : error.text, word) != NULL, "`%s` in `%s%s`", word, note,
          error.text);
    for (const char *const *v = variables; *v != NULL; v += 2)
        (void)unsetenv(v[0]);
}

#define LAUNCHED(status, rank, size, word, ...)                                                            \
    launched((const char *const[]){__VA_ARGS__, NULL}, status, rank, size, word)

static void launchers(void) {
    static const char *const all[] = {
        "RANK",     "WORLD_SIZE",   "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
        "PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS",         "SLURM_STEP_ID",        "SLURM_JOB_ID"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)unsetenv(all[i]);
    LAUNCHED(UNET_OK, 0, 1, "", "OTHER", "1");
    LAUNCHED(UNET_OK, 1, 4, "", "RANK", "1", "WORLD_SIZE", "4");
    LAUNCHED(UNET_OK, 3, 4, "", "OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "4");
    LAUNCHED(UNET_OK, 2, 4, "", "PMI_RANK", "2", "PMI_SIZE", "4");
    LAUNCHED(UNET_OK, 2, 4, "", "SLURM_PROCID", "2", "SLURM_NTASKS", "4", "SLURM_JOB_ID", "9",
             "SLURM_STEP_ID", "0");
    LAUNCHED(UNET_OK, 0, 1, "4 tasks", "SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_JOB_ID", "9");
    LAUNCHED(UNET_OK, 1, 2, "", "OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2", "SLURM_PROCID",
             "0", "SLURM_NTASKS", "1", "SLURM_JOB_ID", "9", "SLURM_STEP_ID", "0");
    LAUNCHED(UNET_USAGE, 0, 0, "unset the one", "RANK", "1", "WORLD_SIZE", "4", "PMI_RANK", "2", "PMI_SIZE",
             "4");
    LAUNCHED(UNET_USAGE, 0, 0, "RANK=4", "RANK", "4", "WORLD_SIZE", "4");
    LAUNCHED(UNET_USAGE, 0, 0, "PMI_SIZE=(nothing)", "PMI_RANK", "0");
    LAUNCHED(UNET_USAGE, 0, 0, "WORLD_SIZE=two", "RANK", "0", "WORLD_SIZE", "two");
}

int main(void) {
    static const UnetModel alone = {.real = UNET_F32};
    static const UnetMeeting meeting = {.timeout = 600};
    Ranks functions;
    UnetError error;
    launchers();
    if (ranks_join(&functions, &alone, &meeting, &error) != UNET_OK)
        return printf("FAILED: %s\n", error.text) > 0;
    for (int32_t size = 2; size <= MOST; size++)
        for (int32_t with_work = 1; with_work <= size; with_work++)
            for (int overlaps = 0; overlaps < 2; overlaps++)
                run_ranks(&functions, size, with_work, with_work == size ? size - 1 : -1, overlaps == 1);
    ranks_leave(&functions, 0);
    printf("%s\n", failures == 0 ? "ranks add as the tree says" : "ranks_test failed");
    return failures != 0;
}
