/* repeat_test.c - what a loop over bands of rows runs again: a chain of activations, each of which the
 * forward pass reads next and the backward pass in the opposite order.
 */
#include "solve/repeat.h"

#include <stdio.h>

enum { FORWARD = 6, OPERATIONS = 2 * FORWARD, PICTURE = OPERATIONS, TENSORS };

typedef struct {
    RematOperation operation[OPERATIONS];
    int read[OPERATIONS][2], write[OPERATIONS];
    int64_t bytes[TENSORS];
    RematProblem problem;
} Chain;

/* Operation o makes tensor o from the one before; 2 * FORWARD - 1 - o, its gradient, reads what it read and
 * the gradient before.  The first two are cheap. */
static void chain_new(Chain *c) {
    *c = (Chain){.problem = {.noperation = OPERATIONS, .ntensor = TENSORS, .nforward = FORWARD}};
    for (int o = 0; o < OPERATIONS; o++) {
        const bool backward = o >= FORWARD;
        c->read[o][0] = o > 0 ? o - 1 : PICTURE;
        c->read[o][1] = o == OPERATIONS - 1 ? PICTURE : OPERATIONS - 2 - o;
        c->write[o] = o;
        c->bytes[o] = 1000;
        c->operation[o] = (RematOperation){.nread = backward ? 2 : 1,
                                           .nwrite = 1,
                                           .read = c->read[o],
                                           .write = &c->write[o],
                                           .cost = o < 2 ? 1 : 1000,
                                           .repeatable = true,
                                           .in_place = -1};
    }
    c->problem.operation = c->operation;
    c->problem.bytes = c->bytes;
}

static int failures;

/* Of operation AGAIN (-1: none) there is one more, right before BEFORE. */
static void expect(const Chain *c, int64_t permille, int again, int before, const char *what) {
    Pool *pool = pool_new();
    const RematSchedule *s = repeat_in_bands(pool, &c->problem, permille);
    bool right = s->length == OPERATIONS + (again >= 0) && s->cost == s->base_cost + (again >= 0);
    for (int k = 0, o = 0; right && k < s->length; k++)
        if (o == before && again >= 0 && s->operation[k] == again && s->operation[k - 1] == before - 1)
            continue;
        else
            right = s->operation[k] == o++;
    if (!right) {
        printf("FAILED: %s\n", what);
        failures++;
    }
    pool_free(pool);
}

int main(void) {
    Chain c;
    chain_new(&c);
    expect(&c, 1, 0, OPERATIONS - 2, "the first activation is made again before its gradient");
    expect(&c, 0, -1, 0, "nothing is made again for nothing");
    c.operation[0].repeatable = false;
    expect(&c, 1, 1, OPERATIONS - 3, "else the second one, of which the first is kept");
    c.operation[1].cost = 1000;
    expect(&c, 1, -1, 0, "what costs too much is kept");
    chain_new(&c);
    c.read[OPERATIONS - 2][1] = OPERATIONS - 3;
    expect(&c, 1, -1, 0, "nothing is kept longer so that another can be made again");
    printf("5 chains, %d failures\n", failures);
    return failures > 0;
}
