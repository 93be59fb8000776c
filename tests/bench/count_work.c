/* count_work.c - counts the work of a compiler that is built with -fsanitize-coverage=trace-pc: the blocks
 * of its code that run, and the memory that is cleared or copied, sixteen bytes of it like one block.
 *
 * The same input gives the same count on every machine.  It is written to stderr at the end: "work 12345".
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each thread has a counter of its own, which stays when the thread ends. */
typedef struct Counter Counter;
struct Counter {
    unsigned long long work;
    Counter *next;
};

static Counter *first;
static _Thread_local Counter *mine;

void *__real_calloc(size_t count, size_t size);

static void begin(void) {
    mine = __real_calloc(1, sizeof *mine);
    if (mine == NULL)
        abort();
    mine->next = __atomic_load_n(&first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&first, &mine->next, mine, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

static void add(size_t count) {
    if (mine == NULL)
        begin();
    mine->work += count;
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
    add(1);
}

/* The linker calls these for the functions behind `__real_`. */
void *__wrap_calloc(size_t count, size_t size);
void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);

enum { BYTES = 16 };

void *__wrap_calloc(size_t count, size_t size) {
    add(count * size / BYTES);
    return __real_calloc(count, size);
}

void *__wrap_memcpy(void *to, const void *from, size_t size) {
    add(size / BYTES);
    return __real_memcpy(to, from, size);
}

void *__wrap_memmove(void *to, const void *from, size_t size) {
    add(size / BYTES);
    return __real_memmove(to, from, size);
}

void *__wrap_memset(void *to, int byte, size_t size) {
    add(size / BYTES);
    return __real_memset(to, byte, size);
}

static void __attribute__((destructor)) tell(void) {
    unsigned long long work = 0;
    for (const Counter *counter = first; counter != NULL; counter = counter->next)
        work += counter->work;
    fprintf(stderr, "work %llu\n", work);
}
