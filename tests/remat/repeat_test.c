/* repeat_test.c - operations that a loop over bands of rows runs again: a chain of activations; the forward
 * pass reads each next and the backward pass in the opposite order, through windows of three rows.
 */
#include "solve/repeat.h"

#include <stdio.h>

enum { FORWARD = 12, OPERATIONS = 2 * FORWARD, PICTURE = OPERATIONS, TENSORS };
enum { ROW = REPEAT_POSITIONS, BAND = 4 * ROW, HEIGHT = 1000 * ROW, CHEAP = 1, DEAR = 1000 };

typedef struct {
    RematOperation operation[OPERATIONS];
    int read[OPERATIONS][2], write[OPERATIONS];
    int64_t bytes[TENSORS];
    RematProblem problem;
    RepeatRows rows[OPERATIONS];
    RepeatWindow window[2];
    RepeatProblem bands;
} Chain;

/* Operation o makes tensor o from the one before; 2 * FORWARD - 1 - o, its gradient, reads what it read and
 * the gradient before.  A tensor has a byte per position.  The first two are cheap. */
static void chain_new(Chain *c) {
    *c = (Chain){.problem = {.noperation = OPERATIONS, .ntensor = TENSORS, .nforward = FORWARD},
                 .window = {{ROW, ROW}, {ROW, ROW}}};
    for (int o = 0; o < OPERATIONS; o++) {
        const bool backward = o >= FORWARD;
        c->read[o][0] = o > 0 ? o - 1 : PICTURE;
        c->read[o][1] = o == OPERATIONS - 1 ? PICTURE : OPERATIONS - 2 - o;
        c->write[o] = o;
        c->bytes[o] = HEIGHT;
        c->operation[o] = (RematOperation){.nread = backward ? 2 : 1,
                                           .nwrite = 1,
                                           .read = c->read[o],
                                           .write = &c->write[o],
                                           .cost = o < 2 ? CHEAP : DEAR,
                                           .repeatable = o < 2,
                                           .in_place = -1};
        c->rows[o] = (RepeatRows){.loop = 0, .pitch = ROW, .window = c->window};
    }
    c->problem.operation = c->operation;
    c->problem.bytes = c->bytes;
    c->bands = (RepeatProblem){&c->problem, c->rows, HEIGHT, BAND};
}

static int failures, checks;

static void expect(bool right, const char *what) {
    checks++;
    if (!right) {
        printf("FAILED: %s\n", what);
        failures++;
    }
}

/* Is S the given order, with operation AGAIN (-1: none) once more, right before BEFORE? */
static bool runs_again(const RematSchedule *s, int again, int before) {
    int k = 0;
    for (int o = 0; o < OPERATIONS; o++) {
        if (o == before && again >= 0 && s->operation[k++] != again)
            return false;
        if (s->operation[k++] != o)
            return false;
    }
    return k == s->length;
}

/* A band of each tensor; the rows between its writer and the gradient that reads it, or else the next
 * operation; and that operation's window. */
static int64_t bytes_of_chain(void) {
    int64_t bytes = 0;
    for (int o = 0; o < OPERATIONS; o++) {
        const int last = o < FORWARD - 1 ? OPERATIONS - 2 - o : o < OPERATIONS - 1 ? o + 1 : -1;
        bytes += BAND + (last < 0 ? 0 : (last - o + 1) * ROW);
    }
    return bytes;
}

static void check_first(Pool *pool) {
    Chain c;
    chain_new(&c);
    const RematSchedule *none = repeat_in_bands(pool, &c.bands);
    expect(runs_again(none, -1, 0) && none->cost == none->base_cost, "first of all nothing runs again");
    expect(none->peak == bytes_of_chain(), "rings have the rows between writers and readers");
    const RematSchedule *next = none->next;
    expect(next != NULL && runs_again(next, 0, OPERATIONS - 2) && next->cost == none->cost + CHEAP,
           "the first activation is made again before its gradient");
    int64_t peak = none->peak, cost = none->cost;
    for (; next != NULL; next = next->next) {
        expect(next->peak < peak && next->cost > cost, "more work needs less memory");
        peak = next->peak, cost = next->cost;
    }
}

static void check_others(Pool *pool) {
    Chain c;
    chain_new(&c);
    c.operation[0].repeatable = false;
    const RematSchedule *next = repeat_in_bands(pool, &c.bands)->next;
    expect(next != NULL && runs_again(next, 1, OPERATIONS - 3),
           "else the second one, of which the first is kept");
    c.operation[1].cost = OPERATIONS * DEAR;
    expect(repeat_in_bands(pool, &c.bands)->next == NULL, "what costs too much is kept");
    chain_new(&c);
    c.rows[OPERATIONS - 2].loop = c.rows[OPERATIONS - 3].loop = -1;
    expect(repeat_in_bands(pool, &c.bands)->next == NULL, "nothing runs again outside of loops");
    chain_new(&c);
    c.bytes[3] = INT64_MAX;
    const RematSchedule *none = repeat_in_bands(pool, &c.bands);
    expect(none->peak == INT64_MAX && none->next == NULL, "what is too large to add up is left alone");
}

/* An activation that the next one alone reads comes back together with what it is made of. */
static void check_depth(Pool *pool) {
    Chain c;
    chain_new(&c);
    c.read[OPERATIONS - 2][1] = PICTURE;
    bool both = false;
    for (const RematSchedule *s = repeat_in_bands(pool, &c.bands); s != NULL; s = s->next)
        for (int k = 2; k < s->length; k++)
            both |=
                s->operation[k - 2] == 0 && s->operation[k - 1] == 1 && s->operation[k] == OPERATIONS - 3;
    expect(both, "two are made again, one from the other");
}

int main(void) {
    Pool *pool = pool_new();
    check_first(pool);
    check_others(pool);
    check_depth(pool);
    pool_free(pool);
    printf("%d checks, %d failures\n", checks, failures);
    return failures > 0;
}
