/* count_allocations.c - preloaded into a program, says at its end how often its main thread allocated, and
 * at any time, to a test that asks, how often the other threads did.
 *
 * Two runs of different length with the same count prove that a step allocates nothing.
 */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's own entry points, which ours stand in front of. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *memory, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size);
long allocations_of_threads(void);

/* The only writer is the main thread. */
static long allocations;
static atomic_long of_threads;

long allocations_of_threads(void) {
    return atomic_load(&of_threads);
}

static void count(void) {
    if (syscall(SYS_gettid) == getpid())
        allocations++;
    else
        (void)atomic_fetch_add(&of_threads, 1);
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory != NULL ? 0 : ENOMEM;
}

__attribute__((destructor)) static void report(void) {
    char line[64];
    int length = snprintf(line, sizeof line, "allocations %ld\n", allocations);
    (void)!write(STDERR_FILENO, line, (size_t)length);
}
