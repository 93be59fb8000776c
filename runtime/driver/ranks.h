/* ranks.h - processes that train together.
 *
 * Each process, a rank, computes a share of the samples of every step, and all of them then update the same
 * weights (UnetTraining.ranks).  All else is built on one function of a transport, by which every rank
 * sends something to every other one.  All ranks call the same functions in the same order; whoever fails
 * ends the others, too.
 */
#ifndef UNET_RANKS_H
#define UNET_RANKS_H

#include "unet/model.h"
#include "unet/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message to a rank, or from it. */
typedef struct {
    void *bytes;
    size_t count; /* at most UNET_MOST_SENT */
} UnetPiece;

enum { UNET_MOST_SENT = 1 << 30 };

/* How long a rank waits for the others, and which of them it believes. */
typedef struct {
    double timeout;
    bool trusts_network; /* whoever comes from another machine, though the job has no secret */
} UnetMeeting;

/* How ranks reach each other. */
typedef struct {
    const char *name; /* "MPI" */
    /* Joins the processes that were started together.  RANK and SIZE come from the launcher, and become the
     * numbers that this transport finds.  *STATE, once it is set, is left after a failure, too. */
    UnetStatus (*join)(void **state, int32_t *rank, int32_t *size, const UnetMeeting *meeting,
                       UnetError *error);
    /* SEND and RECEIVE have a piece for each rank; nobody sends to itself.  If nothing comes or goes for
     * TIMEOUT seconds, the error names the ranks that are waited for. */
    UnetStatus (*exchange)(void *state, const UnetPiece *send, const UnetPiece *receive, double timeout,
                           UnetError *error);
    /* May another thread than the one that joined exchange, while no other does?  NULL: no. */
    bool (*serves_threads)(const void *state);
    /* A failure names a rank that has ended; NULL: the launcher sees to that. */
    UnetStatus (*look)(void *state, UnetError *error);
    /* Frees STATE; an exit CODE other than 0 ends all ranks. */
    void (*leave)(void *state, int code);
} UnetTransport;

/* ranks_tcp.c: connections of its own, for those whom no MPI has started. */
extern const UnetTransport ranks_tcp_transport;

/* The words of a transport for ranks (their numbers) that are silent for some seconds. */
#define RANKS_SILENT                                                                                       \
    "nothing came from rank %s for %.0f s: it may be stopped, or have lost its network (--timeout); the "  \
    "last checkpoint is whole"

/* One exchange, a piece for each rank, and a pointer. */
typedef struct {
    UnetPiece *send, *receive;
    void **part;
} RanksMail;

/* COUNT numbers, a bucket or all, which become the sum over all ranks; with ROOM for the numbers that
 * others send. In FRONT of them are so many of ALL.  If not the WHOLE, a rank needs its slice of all. */
typedef struct {
    void *numbers;
    char *room;
    int64_t count, front, all;
    bool whole;
} RanksSum;

typedef struct RanksThread RanksThread;

typedef struct {
    UnetTeam team;                  /* with this rank, and how many there are, once more */
    const UnetTransport *transport; /* NULL: alone */
    void *state;
    int32_t rank, size;
    int32_t share;     /* samples of a batch that a rank has, the last ones fewer or none */
    int32_t with_work; /* ranks that have samples in this step: the first so many */
    size_t number;     /* bytes of a number of the gradients */
    int64_t portion;   /* numbers that are added at a time */
    double timeout;
    RanksMail mail;           /* of the thread that trains */
    const UnetBucket *bucket; /* of the gradients, */
    int32_t nbucket;          /*   so many, or 0 */
    RanksThread *thread;      /* sums buckets while a step goes on; NULL: all are summed in its end */
    int64_t *counts;          /* room for whole numbers of all ranks */
    char *room;               /* for what all ranks say, */
    size_t said;              /*   so many bytes each at most */
    double seconds;           /* that steps have waited for what others send, and added it; */
    double sent;              /*   and that sending and adding took, beside a step, too */
    UnetStatus status;        /* of the first failure within a step */
    UnetError error;
    bool alike;     /* all ranks have failed for the same reason, which the first one tells */
    char note[256]; /* a warning about how the program was started, or "" */
    int32_t local;  /* ranks on this machine, as far as the launcher says so, */
    int32_t place;  /*   and the number of this one among them */
} Ranks;

enum { RANKS_MOST_COUNTS = UNET_IGNORED + 1 };

/* This process, by its environment: RANK of SIZE, and who started it. */
typedef struct {
    int64_t rank, size, local, place;
    const char *by; /* "mpirun"; NULL: no launcher */
    bool by_mpi;    /* a launcher whose processes find each other by MPI is among its launchers */
} Launch;

/* ranks_launch.c: UNET_USAGE where launchers contradict each other; NOTE (of SIZE bytes) becomes a warning,
 * or "". */
UNET_MUST_USE UnetStatus ranks_find_launch(Launch *launch, char *note, size_t size, UnetError *error);

/* Joins the others, if there are any.  RANKS is memory of the caller, who leaves, even after a failure. */
UNET_MUST_USE UnetStatus ranks_join(Ranks *ranks, const UnetModel *model, const UnetMeeting *meeting,
                                    UnetError *error);
void ranks_leave(Ranks *ranks, int code);

/* Buckets of gradients are sent beside the step from now on, if the program has some and the transport
 * allows it. */
UNET_MUST_USE UnetStatus ranks_overlap(Ranks *ranks, UnetError *error);
void ranks_end_overlap(Ranks *ranks);
/* Waits for buckets on their way. */
void ranks_settle(Ranks *ranks);

/* A step has waited for what others send. */
void ranks_waited(Ranks *ranks, double since);

/* UnetTeam.sum, UnetTeam.start; a step cannot fail, and so the caller of the step looks at Ranks.status. */
void ranks_sum(void *team, void *sum, void *room, int64_t count, int whole);
void ranks_start_sum(void *team, void *sum, void *room, int32_t bucket, int whole);

UNET_MUST_USE UnetStatus ranks_mail_new(RanksMail *mail, int32_t size, UnetError *error);
void ranks_mail_free(RanksMail *mail);
/* Sends and receives the messages of MAIL.  One thread at a time. */
UNET_MUST_USE UnetStatus ranks_exchange(Ranks *ranks, const RanksMail *mail, UnetError *error);

static inline bool ranks_alone(const Ranks *ranks) {
    return ranks->size <= 1;
}

/* Takes memory so that ranks can say up to BYTES each. */
UNET_MUST_USE UnetStatus ranks_reserve(Ranks *ranks, size_t bytes, UnetError *error);

/* Everybody says BYTES of MINE; ALL becomes what all say, in their order, in memory of RANKS until the next
 * call. */
UNET_MUST_USE UnetStatus ranks_say(Ranks *ranks, const void *mine, size_t bytes, const char **all,
                                   UnetError *error);

/* BYTES of the first rank go to all others. */
UNET_MUST_USE UnetStatus ranks_copy_first(Ranks *ranks, void *bytes, size_t count, UnetError *error);

/* Rank r has the slice [COUNT * r / size, COUNT * (r + 1) / size) of so many NUMBERs: the first rank gets
 * all of them, or, if TO_ALL, all ranks do. */
UNET_MUST_USE UnetStatus ranks_gather(Ranks *ranks, void *numbers, int64_t count, bool to_all,
                                      UnetError *error);

/* The largest of the numbers that ranks say. */
UNET_MUST_USE UnetStatus ranks_most(Ranks *ranks, int64_t mine, int64_t *most, UnetError *error);

/* The plan has room for the share of one of so many processes. */
UNET_MUST_USE UnetStatus ranks_check_share(Ranks *ranks, const UnetModel *model, UnetError *error);

/* The samples [*FIRST, *LAST) of a batch of N that this rank has, and which ranks have some. */
void ranks_begin_step(Ranks *ranks, int32_t n, int32_t *first, int32_t *last);

/* Ranks that have samples of a batch of N: the first so many. */
int32_t ranks_with_work(const Ranks *ranks, int32_t n);

/* PART[0..COUNT), each of so many NUMBERs (f32, or doubles), become their sum in the first of them, as a
 * binary tree. */
void ranks_add(void *const *part, int32_t count, int64_t numbers, bool doubles);

#endif
