/* ranks_launch.c - which of several processes this one is, as the launcher says by the environment.
 *
 * RANK and WORLD_SIZE (torchrun, or set by hand) come first, then mpirun of Open MPI, of MPICH, and srun.
 * Launchers may be started by one another, and then agree. */
#include "ranks.h"

#include "unet/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *by, *rank, *size, *local, *place;
} Launcher;

static const Launcher launchers[] = {
    {"RANK and WORLD_SIZE", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "LOCAL_RANK"},
    {"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"mpirun (PMI)", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE", "SLURM_LOCALID"},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers, SLURM = LAUNCHERS - 1 };

/* The number in the variable NAME; MISSING where there is none, -1 where it is no number. */
static int64_t number_of(const char *name, int64_t missing) {
    const char *text = getenv(name);
    char *end;
    if (text == NULL || *text == '\0')
        return missing;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return *end != '\0' || errno != 0 || value < 0 || value > INT32_MAX ? -1 : (int64_t)value;
}

/* A batch step of Slurm runs on one node without srun, whatever the job has asked for. */
static bool is_batch_step(void) {
    return getenv("SLURM_JOB_ID") != NULL && getenv("SLURM_STEP_ID") == NULL;
}

static UnetStatus read_launcher(const Launcher *launcher, Launch *found, UnetError *error) {
    enum { MISSING = -2 };
    *found = (Launch){.rank = number_of(launcher->rank, MISSING),
                      .size = number_of(launcher->size, MISSING),
                      .local = number_of(launcher->local, 1),
                      .place = number_of(launcher->place, 0),
                      .by = launcher->by};
    if (found->rank == MISSING && found->size == MISSING) {
        found->by = NULL;
        return UNET_OK;
    }
    if (found->size < 1 || found->rank < 0 || found->rank >= found->size)
        return unet_fail(error, UNET_USAGE,
                         "the environment has %s=%s and %s=%s: ranks are numbered from 0, up to one less "
                         "than their number",
                         launcher->rank, found->rank == MISSING ? "(nothing)" : getenv(launcher->rank),
                         launcher->size, found->size == MISSING ? "(nothing)" : getenv(launcher->size));
    if (found->local < 1)
        found->local = 1;
    if (found->place < 0)
        found->place = 0;
    return UNET_OK;
}

UnetStatus ranks_find_launch(Launch *launch, char *note, size_t size, UnetError *error) {
    *launch = (Launch){.size = 1, .local = 1};
    note[0] = '\0';
    for (int i = 0; i < LAUNCHERS; i++) {
        Launch found;
        if (i == SLURM && is_batch_step()) {
            if (launch->by == NULL && number_of(launchers[i].size, 1) > 1)
                (void)snprintf(note, size,
                               "the job has %s tasks, and this is one process alone: start the program by "
                               "srun or mpirun",
                               getenv(launchers[i].size));
            continue;
        }
        const UnetStatus status = read_launcher(&launchers[i], &found, error);
        if (status != UNET_OK)
            return status;
        if (found.by == NULL)
            continue;
        const bool by_mpi = launch->by_mpi || i > 0;
        if (launch->by == NULL)
            *launch = found;
        /* mpirun in an allocation of Slurm starts processes that srun knows nothing of */
        else if (i != SLURM && (found.rank != launch->rank || found.size != launch->size))
            return unet_fail(error, UNET_USAGE,
                             "%s says this is rank %lld of %lld, and %s says %lld of %lld: unset the one "
                             "that is not meant",
                             launch->by, (long long)launch->rank, (long long)launch->size, found.by,
                             (long long)found.rank, (long long)found.size);
        launch->by_mpi = by_mpi;
    }
    return UNET_OK;
}
