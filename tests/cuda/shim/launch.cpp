/* launch.cpp - runs a grid of threads, block after block.
 *
 * In a kernel whose threads wait for each other, each thread of a block is a fiber. A fiber runs until it
 * waits: at a barrier for the whole block, at a shuffle for its warp. Whoever waits goes on when all for
 * whom it waits have come; if that never happens, the kernel is wrong. A program switches fibers millions
 * of times, and swapcontext() makes a system call each time; on x86-64 a few instructions replace it. */
#include "internal.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#elif defined __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace shim {

Position position;

namespace {

const unsigned warp_size = 32, most_threads = 1024;
const size_t stack_bytes = 32 << 10;

enum State { runs, waits_for_block, waits_for_warp, done };

#ifdef __x86_64__
typedef void *Context; /* the stack pointer; what calls preserve lies there */
#else
typedef ucontext_t Context;
#endif

/* Begins with its first block and then runs a thread of each. */
struct Fiber {
    Context context;
    std::unique_ptr<char[]> stack;
    State state;
    uint3 thread;
    int barrier;                 /* line of the one it waits at */
    unsigned exchanges;          /* so far */
    unsigned long long value[2]; /* what it gives in an exchange, by turns */
    void *fake_stack;            /* of AddressSanitizer */
};

/* The fibers of the block that runs, and of the block that is set aside. */
std::vector<Fiber> sets[2] = {std::vector<Fiber>(most_threads), std::vector<Fiber>(most_threads)};
Fiber *fibers = sets[0].data();
unsigned long blocks_begun, block_number;
Context scheduler;
void *scheduler_fake_stack;
const void *scheduler_stack;
size_t scheduler_stack_bytes;
const Kernel *kernel;
const std::function<void()> *body;
Fiber *current; /* NULL in a kernel without barriers */

/* A block that counted itself (atomicInc) is set aside until all others have ended: the last of them to
 * count itself must find complete results, whatever the threads behind the count still do. */
struct Shared {
    char *array;
    unsigned long *block;
    std::vector<char> bytes; /* while the block is set aside */
};
std::vector<Shared> arrays; /* of the block that runs */
bool may_set_aside, set_aside;

[[noreturn]] void stop(const std::string &why) {
    const Position &p = position;
    fprintf(stderr, "shim: %s, %s, block (%u, %u, %u), thread (%u, %u, %u): %s\n", kernel->launcher,
            kernel->name, p.block.x, p.block.y, p.block.z, p.thread.x, p.thread.y, p.thread.z, why.c_str());
    abort();
}

/* ---- orders ----------------------------------------------------------------------------------------- */

enum Order { forward, reverse, permuted };

Order chosen_order() {
    const std::string name = environment("UNET_SHIM_ORDER");
    if (name == "reverse")
        return reverse;
    if (name == "permuted")
        return permuted;
    if (!name.empty() && name != "forward") {
        fprintf(stderr, "shim: UNET_SHIM_ORDER is forward, reverse or permuted\n");
        exit(2);
    }
    return forward;
}

Order order() {
    static const Order chosen = chosen_order();
    return chosen;
}

size_t common_divisor(size_t a, size_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Which of `count` comes as number i. */
size_t ordered(size_t i, size_t count) {
    if (order() == forward)
        return i;
    if (order() == reverse)
        return count - 1 - i;
    size_t step = 7919;
    while (common_divisor(step, count) != 1)
        step++;
    return (i * step + count / 3) % count;
}

uint3 place(size_t i, dim3 size) {
    return {(unsigned)(i % size.x), (unsigned)(i / size.x % size.y), (unsigned)(i / size.x / size.y)};
}

size_t number(dim3 size) {
    return (size_t)size.x * size.y * size.z;
}

/* ---- fibers ----------------------------------------------------------------------------------------- */

/* Names: `from` is left, `to` goes on. */
void before_switch(void **from_fake_stack, const void *to_stack, size_t to_bytes) {
#ifdef ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(from_fake_stack, to_stack, to_bytes);
#else
    (void)from_fake_stack, (void)to_stack, (void)to_bytes;
#endif
}

void after_switch(void *fake_stack, const void **from_stack, size_t *from_bytes) {
#ifdef ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, from_stack, from_bytes);
#else
    (void)fake_stack, (void)from_stack, (void)from_bytes;
#endif
}

#ifdef __x86_64__
/* Keeps the registers that a call preserves on the stack that is left, and its pointer in *from. */
extern "C" void shim_switch(Context *from, Context to);
asm(".pushsection .text\n"
    ".type shim_switch, @function\n"
    "shim_switch:\n"
    "    push %rbp\n    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
    "    mov %rsp, (%rdi)\n"
    "    mov %rsi, %rsp\n"
    "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbx\n    pop %rbp\n"
    "    ret\n"
    ".size shim_switch, . - shim_switch\n"
    ".popsection\n");

void switch_context(Context *from, Context *to) {
    shim_switch(from, *to);
}

/* The first switch to it finds six registers and returns to `main`, as if that had been called. */
void make_context(Context *context, char *stack, void (*main)()) {
    void **top = reinterpret_cast<void **>(((uintptr_t)stack + stack_bytes) & ~(uintptr_t)15) - 8;
    memset(top, 0, 8 * sizeof *top);
    top[6] = reinterpret_cast<void *>(main);
    *context = top;
}
#else
void switch_context(Context *from, Context *to) {
    swapcontext(from, to);
}

void make_context(Context *context, char *stack, void (*main)()) {
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = stack_bytes;
    context->uc_link = nullptr;
    makecontext(context, main, 0);
}
#endif

void to_scheduler(Fiber *fiber) {
    before_switch(&fiber->fake_stack, scheduler_stack, scheduler_stack_bytes);
    switch_context(&fiber->context, &scheduler);
    after_switch(fiber->fake_stack, &scheduler_stack, &scheduler_stack_bytes);
}

void fiber_main() {
    after_switch(nullptr, &scheduler_stack, &scheduler_stack_bytes);
    for (;;) {
        (*body)();
        current->state = done;
        to_scheduler(current);
    }
}

void go_on(Fiber *fiber) {
    current = fiber;
    position.thread = fiber->thread;
    before_switch(&scheduler_fake_stack, fiber->stack.get(), stack_bytes);
    switch_context(&scheduler, &fiber->context);
    after_switch(scheduler_fake_stack, nullptr, nullptr);
}

void prepare(Fiber *fiber, uint3 thread) {
    if (fiber->stack == nullptr) {
        fiber->stack.reset(new char[stack_bytes]);
        make_context(&fiber->context, fiber->stack.get(), fiber_main);
    }
    fiber->state = runs;
    fiber->thread = thread;
    fiber->exchanges = 0;
}

/* ---- a block ---------------------------------------------------------------------------------------- */

size_t count_state(size_t first, size_t last, State state) {
    size_t found = 0;
    for (size_t i = first; i < last; i++)
        found += fibers[i].state == state;
    return found;
}

/* Lets warps go on whose lanes have all come to an exchange; true if there is one. In forward order all do,
 * and take turns; else one runs as far as it can before the next one does. */
bool release_warps(size_t threads) {
    const size_t warps = threads / warp_size;
    bool released = false;
    for (size_t i = 0; i < warps && (!released || order() == forward); i++) {
        const size_t first = ordered(i, warps) * warp_size, last = first + warp_size;
        if (count_state(first, last, waits_for_warp) < warp_size)
            continue;
        for (size_t k = first; k < last; k++)
            fibers[k].state = runs;
        released = true;
    }
    return released;
}

/* All wait, and no warp could go on. */
void release_block(size_t threads) {
    if (count_state(0, threads, waits_for_warp) > 0)
        stop("a shuffle that some lanes of the warp do not reach");
    if (count_state(0, threads, done) > 0)
        stop("a barrier that some threads do not reach: they have returned");
    for (size_t i = 1; i < threads; i++)
        if (fibers[i].barrier != fibers[0].barrier)
            stop("threads wait at different barriers: lines " + std::to_string(fibers[0].barrier) +
                 " and " + std::to_string(fibers[i].barrier));
    for (size_t i = 0; i < threads; i++)
        fibers[i].state = runs;
}

/* Runs the fibers of a block until all have ended, or until one has set it aside. */
void run_fibers() {
    const size_t threads = number(position.threads);
    while (count_state(0, threads, done) < threads) {
        for (size_t i = 0; i < threads; i++) {
            Fiber *fiber = &fibers[ordered(i, threads)];
            if (fiber->state == runs)
                go_on(fiber);
            if (set_aside)
                return;
        }
        if (!release_warps(threads) && count_state(0, threads, done) < threads)
            release_block(threads);
    }
    current = nullptr;
}

void run_block() {
    block_number = ++blocks_begun;
    arrays.clear();
    const size_t threads = number(position.threads);
    for (size_t i = 0; i < threads; i++)
        if (kernel->waits) {
            prepare(&fibers[i], place(i, position.threads));
        } else {
            position.thread = place(ordered(i, threads), position.threads);
            (*body)();
        }
    if (kernel->waits)
        run_fibers();
}

/* Runs the blocks of a grid from number BEGIN on, in order. */
void run_blocks(size_t begin) {
    for (size_t i = begin; i < number(position.blocks) && !set_aside; i++) {
        position.block = place(ordered(i, number(position.blocks)), position.blocks);
        run_block();
    }
}

/* The first block waits where it has counted itself.  The others run, and then it goes on. */
void run_others_first() {
    const unsigned long number_of_first = block_number;
    const uint3 block = position.block;
    std::vector<Shared> kept = arrays;
    for (Shared &shared : kept)
        shared.bytes.assign(shared.array, shared.array + shared.bytes.size());
    fibers = sets[1].data();
    set_aside = false;
    run_blocks(1);
    fibers = sets[0].data();
    position.block = block;
    block_number = number_of_first;
    for (const Shared &shared : kept) {
        memcpy(shared.array, shared.bytes.data(), shared.bytes.size());
        *shared.block = block_number;
    }
    run_fibers();
}

void run_grid(const Kernel &of, dim3 blocks, dim3 threads, const std::function<void()> &work) {
    kernel = &of;
    body = &work;
    position.threads = threads;
    position.blocks = blocks;
    position.block = place(ordered(0, number(blocks)), blocks);
    may_set_aside = of.waits && number(blocks) > 1;
    run_block();
    may_set_aside = false;
    if (set_aside)
        run_others_first();
    else
        run_blocks(1);
}

bool possible(dim3 blocks, dim3 threads) {
    return number(blocks) > 0 && number(threads) > 0 && number(threads) <= most_threads &&
           threads.z <= 64 && blocks.x <= 0x7fffffff && blocks.y <= 0xffff && blocks.z <= 0xffff;
}

} // namespace

/* ---- what kernels call ------------------------------------------------------------------------------ */

void launch_body(cudaStream_t stream, Kernel of, dim3 blocks, dim3 threads, std::function<void()> work) {
    if (!possible(blocks, threads)) {
        fail(cudaErrorInvalidConfiguration);
        return;
    }
    submit(stream, [=] {
        static const long faulty = atol(environment("UNET_SHIM_FAULT"));
        if (++count.launches == faulty)
            stop_device();
        else
            run_grid(of, blocks, threads, work);
    });
}

void barrier(int line) {
    if (current == nullptr)
        stop("a barrier in a kernel that was launched as one without");
    current->state = waits_for_block;
    current->barrier = line;
    to_scheduler(current);
}

/* A lane may be one exchange ahead of the others, never two, so two places for its value are enough. */
unsigned long long exchange(unsigned mask, unsigned long long value, unsigned lane) {
    if (current == nullptr)
        stop("a shuffle in a kernel that was launched as one without");
    if (mask != ~0u)
        stop("a shuffle of a part of a warp");
    const unsigned turn = current->exchanges++ % 2;
    current->value[turn] = value;
    current->state = waits_for_warp;
    to_scheduler(current);
    const size_t self = (size_t)(current - fibers);
    return fibers[self / warp_size * warp_size + lane].value[turn];
}

void expect(bool holds, const char *what) {
    if (!holds)
        stop(what);
}

void arrived() {
    if (!may_set_aside)
        return;
    set_aside = true;
    to_scheduler(current);
}

void fill_shared(void *array, size_t bytes, unsigned long *block) {
    if (*block == block_number)
        return;
    *block = block_number;
    arrays.push_back({static_cast<char *>(array), block, std::vector<char>(bytes)});
    memset(array, 0xFF, bytes);
}

} // namespace shim
