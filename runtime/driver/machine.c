/* machine.c - processors, memory and clock of the machine the program runs on.
 *
 * Containers matter: a process may see 64 processors and 256 GiB and be allowed two of the former and four
 * of the latter, so the limits of its control group are read besides the machine's own.
 */
#define _GNU_SOURCE /* sched_getaffinity, madvise, environ */
#include "driver.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* The share of processors that the control group allows, rounded up; INT32_MAX: no limit. */
static int32_t processors_of_group(void) {
    int64_t quota, period;
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "r");
    if (file == NULL)
        return INT32_MAX;
    int n = fscanf(file, "%" SCNd64 " %" SCNd64, &quota, &period);
    (void)fclose(file);
    if (n != 2 || quota <= 0 || period <= 0 || quota / period >= INT32_MAX)
        return INT32_MAX;
    return (int32_t)((quota - 1) / period + 1);
}

int32_t machine_processors(void) {
    cpu_set_t set;
    int32_t group = processors_of_group();
    int32_t mine = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return mine < group ? mine : group;
}

double machine_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Between two kernels threads wait at a barrier.  OpenMP's default is to spin for many milliseconds there,
 * which takes processors from the loader threads and from other programs: four threads on four processors
 * beside two busy ones took 946 ms for what takes 127 ms with a short spin and 168 ms with none.  The
 * library reads the setting before main() starts, hence the second start; the variable tells it from the
 * first. */
void machine_set_wait_policy(char **argv) {
    if (getenv("OMP_WAIT_POLICY") != NULL || getenv("GOMP_SPINCOUNT") != NULL ||
        getenv("KMP_BLOCKTIME") != NULL)
        return;
    char path[4096]; /* the name itself, so that the process is called what it was */
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0 || setenv("GOMP_SPINCOUNT", "2000", 1) != 0 || setenv("KMP_BLOCKTIME", "0", 1) != 0)
        return;
    path[length] = 0;
    (void)execv(path, argv);
}

/* The number behind KEY, which begins a line of the file PATH, in units of so many bytes; -1: none. */
static int64_t number_of(const char *path, const char *key, int64_t unit) {
    char line[128];
    int64_t value = -1;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    while (value < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%" SCNd64, &value) == 1)
            value = value < INT64_MAX / unit ? value * unit : INT64_MAX;
    (void)fclose(file);
    return value;
}

static int64_t meminfo(const char *key) {
    return number_of("/proc/meminfo", key, 1024);
}

/* The bytes that the control group allows in all; its present use is no guide, since it counts cached
 * files. */
static int64_t memory_of_group(void) {
    int64_t bytes;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    if (file == NULL)
        return INT64_MAX;
    int n = fscanf(file, "%" SCNd64, &bytes);
    (void)fclose(file);
    return n == 1 ? bytes : INT64_MAX;
}

/* Bytes that `ulimit -v` leaves this process; INT64_MAX: there is no limit. */
static int64_t memory_of_limit(void) {
    struct rlimit limit;
    int64_t pages = 0, used;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= (rlim_t)INT64_MAX)
        return INT64_MAX;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%" SCNd64, &pages) != 1)
            pages = 0;
        (void)fclose(file);
    }
    const int64_t most = (int64_t)limit.rlim_cur;
    if (__builtin_mul_overflow(pages, (int64_t)sysconf(_SC_PAGESIZE), &used) || used > most)
        return 0;
    return most - used;
}

int64_t machine_memory(void) {
    int64_t available = meminfo("MemAvailable:"), swap = meminfo("SwapFree:"), group = memory_of_group();
    int64_t bytes = memory_of_limit();
    if (available >= 0 && !__builtin_add_overflow(available, swap > 0 ? swap : 0, &available) &&
        available < bytes)
        bytes = available;
    return bytes < group ? bytes : group;
}

int64_t machine_free_memory(void) {
    const int64_t available = meminfo("MemAvailable:"), limit = memory_of_limit();
    int64_t group = memory_of_group(), used = number_of("/sys/fs/cgroup/memory.stat", "anon ", 1);
    int64_t bytes = available >= 0 && available < limit ? available : limit;
    if (group != INT64_MAX && used > 0)
        group = used < group ? group - used : 0;
    return bytes < group ? bytes : group;
}

static UnetStatus too_small(int64_t bytes, int64_t beside, int64_t available, UnetError *error) {
    char need[32], more[32], have[32];
    const bool limited = memory_of_limit() <= available;
    format_bytes(need, sizeof need, bytes);
    format_bytes(more, sizeof more, beside);
    format_bytes(have, sizeof have, available);
    return unet_fail(error, UNET_TOO_SMALL,
                     "the model needs %s (and %s for loading data), and %s %s free; "
                     "compile it for less with `unetc --mem=SIZE`, or with a smaller --batch or --size",
                     need, more, limited ? "`ulimit -v` leaves this process" : "this machine has", have);
}

/* ---- threads ---- */

static void *wait_for_the_others(void *gate) {
    (void)pthread_mutex_lock(gate);
    (void)pthread_mutex_unlock(gate);
    return NULL;
}

UnetStatus machine_try_threads(int32_t count, UnetError *error) {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *thread = calloc((size_t)count + 1, sizeof *thread);
    int32_t begun = 0;
    int problem = thread == NULL ? ENOMEM : 0;
    (void)pthread_mutex_lock(&gate);
    while (problem == 0 && begun < count - 1) {
        problem = pthread_create(&thread[begun], NULL, wait_for_the_others, &gate);
        begun += problem == 0;
    }
    (void)pthread_mutex_unlock(&gate);
    for (int32_t i = 0; i < begun; i++)
        (void)pthread_join(thread[i], NULL);
    free(thread);
    if (problem == 0)
        return UNET_OK;
    return unet_fail(error, UNET_TOO_SMALL,
                     "no %" PRId32 " threads can be started (%s): ask for fewer by `--threads`, or raise "
                     "the limit of memory, `ulimit -v`, or of threads, `ulimit -u`",
                     count, strerror(problem));
}

UnetStatus arena_take(char **arena, int64_t bytes, int64_t beside, UnetError *error) {
    int64_t all, available = machine_memory();
    *arena = NULL;
    if (bytes <= 0 || beside < 0 || __builtin_add_overflow(bytes, beside, &all))
        return unet_fail(error, UNET_BUG, "the model's tables ask for %" PRId64 " bytes of memory", bytes);
    if (all > available)
        return too_small(bytes, beside, available, error);
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return too_small(bytes, beside, available, error);
    (void)madvise(memory, (size_t)bytes, MADV_HUGEPAGE); /* fewer TLB misses where the kernel can */
    *arena = memory;
    return UNET_OK;
}

UnetStatus mirror_take(char **mirror, int64_t bytes, UnetError *error) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *mirror = memory == MAP_FAILED ? NULL : memory;
    return *mirror != NULL ? UNET_OK
                           : unet_fail(error, UNET_TOO_SMALL,
                                       "cannot reserve addresses for the host's copy of the arena");
}

void arena_give_back(char *arena, int64_t bytes) {
    if (arena != NULL)
        (void)munmap(arena, (size_t)bytes);
}

void format_bytes(char *text, size_t size, int64_t bytes) {
    static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int u = 0;
    for (; value >= 1024 && u < 4; u++)
        value /= 1024;
    (void)snprintf(text, size, u == 0 ? "%.0f %s" : "%.2f %s", value, unit[u]);
}
