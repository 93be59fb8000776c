/* planted_fault_test.c [FOLDER] - faults planted in a sound plan, and who must see them.
 *
 * 1. Offsets: overlapping, unaligned, outside the arena, on buffers that must survive; loops over bands
 *    that leave out rows, or read rows that are not there; updates of buffers that do not persist; buckets
 * of gradients that are sent too early.  plan_verify names each, and of all rings every one that is a row
 * too short, or whose bytes others have between two iterations though rows stay in it, of all lags every
 * one that is a row too small.
 * 2. Lifetimes: every buffer in turn dies in the step that begins it, or one before its last reader, and
 *    the arena is placed anew.  If that lets another buffer take its bytes too early, plan_verify must
 *    say so; elsewhere the plan is still sound and it must not.
 * 3. Operand lists: a program compiled with --poison is told that a skip connection dies before its last
 *    reader.  AddressSanitizer must stop it in that very step.  Only with a FOLDER, as it calls the C
 *    compiler.
 */
#include "ir/ops.h"
#include "ir/target.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "ast.h"
#include "emit/build_program.h"
#include "search/budget_search.h"
#include "emit/sources.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAID = 16384 };

static const char net[] = "input  noisy : image(3, 12, 12)\n"
                          "target clean : image(3)\n"
                          "top    = noisy -> conv(4, 3) -> relu -> conv(4, 3) -> relu\n"
                          "low    = max_pool(top) -> conv(6, 3) -> relu\n"
                          "back   = concat(upconv(low, 4), top) -> conv(4, 3) -> relu\n"
                          "output answer = conv(back + top, 3, 1)\n"
                          "train {\n"
                          "    loss  mse(answer, clean)\n"
                          "    batch 2\n"
                          "    steps 1\n"
                          "}\n";

static const char skip[] = "top.3"; /* the name of its skip connection */

/* Its chain of pools and points runs in a loop over bands. */
static const char chain[] = "input  noisy : image(3, 24, 21)\n"
                            "target clean : image(3)\n"
                            "stem   = conv(noisy, 4, 3)\n"
                            "first  = relu(max_pool(stem, 3, stride = 1, padding = 1))\n"
                            "wide   = max_pool(first, 3, stride = 1, padding = 1)\n"
                            "other  = relu(first)\n"
                            "second = wide + other\n"
                            "output answer = conv(second, 3, 1)\n"
                            "train {\n"
                            "    loss  mse(answer, clean)\n"
                            "    optimizer adam\n"
                            "    batch 3\n"
                            "    steps 1\n"
                            "}\n";

static int failures;

static void expect(bool good, const char *what, const char *said) {
    if (good)
        return;
    printf("FAILED: %s\n%s\n", what, said);
    failures++;
}

static Plan *plan_options(Pool *pool, const char *text, const Options *options, Choices choices) {
    LowerOptions lower_options = {.path = "net.unet", .text = text};
    Diag *diag = diag_new(pool, "net.unet", text, FORMAT_HUMAN, COLOR_NEVER);
    Ast *file = parse(pool, diag, text);
    Plan *plan = file == NULL ? NULL : plan_file(pool, diag, file, &lower_options, options, &choices);
    if (plan == NULL)
        exit(1);
    return plan;
}

static Plan *plan_program(Pool *pool, const char *text, ProgramKind kind, const Target *target, bool poison,
                          int micro_batches, int bands) {
    Options *options = NEW(pool, Options); /* the plan points to them */
    const Architecture *usual = target->architecture;
    *options = (Options){.reference = target == targets[0],
                         .target = target,
                         .architecture = usual == NULL ? NULL : usual->architecture,
                         .card = usual == NULL ? NULL : usual->word,
                         .poison = poison,
                         .max_threads = 4,
                         .micro_batches = micro_batches,
                         .bands = bands,
                         .command = "",
                         .training = ""};
    options->wanted[kind] = true;
    if (target->open != NULL)
        options->device = target->open(pool, options);
    Plan *plan = plan_options(pool, text, options, (Choices){0});
    if (target->open != NULL)
        target->close(options->device);
    return plan;
}

static Plan *plan_text(Pool *pool, const char *text, bool poison, int micro_batches, int bands) {
    return plan_program(pool, text, PROGRAM_TRAIN, targets[0], poison, micro_batches, bands);
}

static Plan *plan_of(Pool *pool, bool poison) {
    return plan_text(pool, net, poison, 1, 0);
}

static Plan *plan_of_chain(Pool *pool) {
    return plan_text(pool, chain, false, 3, 4);
}

/* ---- in a process of its own --------------------------------------------------------------------- */

/* Its output, and its exit code. */
static int finish(pid_t child, int from, char said[SAID]) {
    size_t length = 0;
    ssize_t got;
    char rest[512];
    int status;
    while ((got = length < SAID - 1 ? read(from, said + length, SAID - 1 - length)
                                    : read(from, rest, sizeof rest)) > 0)
        length += length < SAID - 1 ? (size_t)got : 0;
    said[length] = '\0';
    close(from);
    while (waitpid(child, &status, 0) < 0)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Zero in the child, whose output is read at *FROM. */
static pid_t start(int *from) {
    int end[2];
    (void)fflush(NULL);
    if (pipe(end) != 0)
        exit(1);
    pid_t child = fork();
    if (child < 0)
        exit(1);
    if (child == 0) {
        (void)dup2(end[1], STDOUT_FILENO);
        (void)dup2(end[1], STDERR_FILENO);
        close(end[0]);
    }
    close(end[1]);
    *from = end[0];
    return child;
}

/* The exit code of plan_verify; the child's copy of the plan is judged. */
static int judged(const Plan *plan, char said[SAID]) {
    int from;
    pid_t child = start(&from);
    if (child == 0) {
        verify_plan(plan);
        _exit(0);
    }
    return finish(child, from, said);
}

/* ---- offsets ------------------------------------------------------------------------------------- */

static bool movable(const Buffer *b) {
    return b->program >= 0 && b->same < 0 && b->slice < 0;
}

static Buffer *named(const Plan *plan, const char *name) {
    for (int b = 0; b < plan->nbuffer; b++)
        if (strcmp(plan->buffer[b].name, name) == 0)
            return &plan->buffer[b];
    printf("FAILED: there is no buffer %s\n", name);
    exit(1);
}

static void on_another(Plan *plan) {
    named(plan, "upconv")->offset = named(plan, skip)->offset;
}
static void unaligned(Plan *plan) {
    named(plan, skip)->offset += 4;
}
static void outside(Plan *plan) {
    named(plan, skip)->offset = plan->program[PROGRAM_TRAIN].extent;
}
static void partly_outside(Plan *plan) {
    Buffer *b = named(plan, skip);
    b->offset = plan->program[PROGRAM_TRAIN].extent - b->bytes + plan->target->align;
}
static void negative(Plan *plan) {
    named(plan, skip)->offset = -plan->target->align;
}
static void on_the_persistent(Plan *plan) {
    named(plan, skip)->offset = 0;
}
static void persistent_on_persistent(Plan *plan) {
    Buffer *first = NULL;
    for (int b = 0; b < plan->nbuffer; b++)
        if (plan->buffer[b].program < 0 && plan->buffer[b].slice < 0) {
            if (first != NULL)
                plan->buffer[b].offset = first->offset;
            first = &plan->buffer[b];
        }
}

/* The first two steps in a section, each in a branch of its own: the second reads what the first writes. */
static void before_its_join(Plan *plan) {
    Step *step = plan->program[PROGRAM_TRAIN].step;
    for (int i = 0; i < 2; i++) {
        step[i].section = 1;
        step[i].branch = i + 1;
    }
}

typedef struct {
    const char *what;
    void (*plant)(Plan *);
    const char *said;
} Fault;

static void test_offsets(void) {
    static const Fault faults[] = {
        {"two buffers at one place", on_another, "overwritten"},
        {"an unaligned buffer", unaligned, "`top.3` is not aligned"},
        {"a buffer behind the end", outside, "`top.3` lies outside the arena"},
        {"a buffer across the end", partly_outside, "`top.3` lies outside the arena"},
        {"a buffer before the start", negative, "`top.3` lies outside the arena"},
        {"a buffer on the parameters", on_the_persistent, "`top.3` lies on what must survive"},
        {"moments on the parameters", persistent_on_persistent, "both persist and overlap"},
        {"a branch that reads before its join", before_its_join, "may run at once"},
    };
    char said[SAID];
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        Pool *pool = pool_new();
        Plan *plan = plan_of(pool, false);
        expect(judged(plan, said) == 0, "the sound plan is accepted", said);
        faults[k].plant(plan);
        expect(judged(plan, said) == EXIT_BUG && strstr(said, faults[k].said) != NULL, faults[k].what,
               said);
        pool_free(pool);
    }
    printf("%zu wrong offsets named\n", sizeof faults / sizeof *faults);
}

/* ---- loops and persistent storage ----------------------------------------------------------------- */

/* The first value of CLASS that NODE of OP touches, or the first value of CLASS of any node. */
static ValueId touched(const Plan *plan, Op op, Class class) {
    const Graph *g = plan->program[PROGRAM_TRAIN].graph;
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (g->node[i].op == op && g->value[t.value].class == class)
                return t.value;
    printf("FAILED: no %s touches a %s\n", op_table[op].name, class_text(class));
    exit(1);
}

static int buffer_number(const Plan *plan, const char *name) {
    return (int)(named(plan, name) - plan->buffer);
}

static Step *loop_over(Step *step, int nstep, LoopAxis axis) {
    for (int i = 0; i < nstep; i++) {
        if (step[i].node >= 0)
            continue;
        Step *inner = step[i].axis == axis ? &step[i] : loop_over(step[i].body, step[i].nbody, axis);
        if (inner != NULL)
            return inner;
    }
    return NULL;
}

/* The first loop over bands; it must be inside of one over samples. */
static Step *bands_of(Plan *plan) {
    Program *train = &plan->program[PROGRAM_TRAIN];
    Step *samples = loop_over(train->step, train->nstep, AXIS_SAMPLES);
    Step *bands = samples == NULL ? NULL : loop_over(samples->body, samples->nbody, AXIS_BANDS);
    if (bands != NULL)
        return bands;
    printf("FAILED: no loop over bands in one over samples\n");
    exit(1);
}

/* The first step in it that stays behind others. */
static Step *late_step(Plan *plan) {
    Step *bands = bands_of(plan);
    for (int i = 0; i < bands->nbody; i++)
        if (bands->body[i].lag > 0)
            return &bands->body[i];
    printf("FAILED: no step of the loop over bands stays behind\n");
    exit(1);
}

static void state_on_activation(Plan *plan) {
    named(plan, "optimiser state 1")->offset = named(plan, "stem")->offset;
}
static void optimiser_updates_sum(Plan *plan) {
    plan->program[PROGRAM_TRAIN].buffer_of[touched(plan, OP_ADAM, CLASS_STATE)] =
        buffer_number(plan, "mse");
}
static void summed_where_it_persists(Plan *plan) {
    plan->program[PROGRAM_TRAIN].buffer_of[touched(plan, OP_MSE, CLASS_METRIC)] =
        buffer_number(plan, "stem.bias");
}
static void band_reads_too_early(Plan *plan) {
    late_step(plan)->lag = 0;
}
static void band_leaves_out_rows(Plan *plan) {
    bands_of(plan)->body[0].lag = -1;
}
static void bands_end_too_early(Plan *plan) {
    bands_of(plan)->times--;
}
static void rows_in_place_too_early(Plan *plan) {
    Buffer *relu = named(plan, "other");
    relu->same = buffer_number(plan, "first");
    if (plan->buffer[relu->same].same >= 0)
        relu->same = plan->buffer[relu->same].same;
    relu->offset = plan->buffer[relu->same].offset;
}
static void in_place_of_pooled(Plan *plan) {
    Buffer *pooled = named(plan, "first.max_pool");
    pooled->same = buffer_number(plan, "stem");
    pooled->offset = plan->buffer[pooled->same].offset;
}
static void slice_outside(Plan *plan) {
    const Program *train = &plan->program[PROGRAM_TRAIN];
    Buffer *slice = &plan->buffer[train->buffer_of[touched(plan, OP_ADAM, CLASS_PARAMETER_GRADIENT)]];
    const Buffer *region = &plan->buffer[slice->slice];
    slice->offset = region->offset >= plan->persistent + slice->bytes ? region->offset - slice->bytes
                                                                      : region->offset + region->bytes;
}
static void slots_overlap(Plan *plan) {
    named(plan, "loader slot 1")->offset -= 64;
}

static void test_laws(void) {
    static const Fault faults[] = {
        {"the optimiser's state on an activation", state_on_activation, "lies outside the arena"},
        {"the optimiser's state given to a sum", optimiser_updates_sum,
         "updates `mse`, which does not persist"},
        {"a sum in a loop where it persists", summed_where_it_persists,
         "writes `stem.bias`, which persists"},
        {"a band that reads rows not yet computed", band_reads_too_early, "that are not computed yet"},
        {"a band that leaves out rows", band_leaves_out_rows, "leaves out rows"},
        {"a loop over bands that ends too early", bands_end_too_early, "does not compute all rows"},
        {"rows overwritten in place that a window reads", rows_in_place_too_early, "that were overwritten"},
        {"in place of what is read through a window", in_place_of_pooled, "writes over its own operand"},
        {"a slice outside of its region", slice_outside, "lies outside of its region"},
        {"two slots of the loader ring that overlap", slots_overlap, "both persist and overlap"},
    };
    char said[SAID];
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        Pool *pool = pool_new();
        Plan *plan = plan_of_chain(pool);
        expect(judged(plan, said) == 0, "the sound plan is accepted", said);
        faults[k].plant(plan);
        expect(judged(plan, said) == EXIT_BUG && strstr(said, faults[k].said) != NULL, faults[k].what,
               said);
        pool_free(pool);
    }
    printf("%zu faults of loops and persistent storage named\n", sizeof faults / sizeof *faults);
}

/* ---- buckets of gradients ---- */

static const char ranked[] = "input  noisy : image(3, 12, 12)\n"
                             "target clean : image(3)\n"
                             "low    = max_pool(conv(noisy, 4, 3)) -> conv(8, 3) -> conv(8, 3)\n"
                             "output answer = conv(upconv(low, 4), 3, 1)\n"
                             "train {\n"
                             "    loss  mse(answer, clean)\n"
                             "    batch 4\n"
                             "    ranks 2\n"
                             "    steps 1\n"
                             "}\n";

/* Bucket NUMBER is sent so many steps too EARLY. */
static void send_early(Plan *plan, int number, int early) {
    Program *train = &plan->program[PROGRAM_TRAIN];
    Step *samples = loop_over(train->step, train->nstep, AXIS_SAMPLES);
    for (int i = early; i < samples->nbody; i++) {
        const Node *node = &train->graph->node[samples->body[i].node];
        if (node->op != OP_RANK_START || node->in[0] != train->bucket[number].gradients)
            continue;
        const Step sent = samples->body[i];
        memmove(&samples->body[i - early + 1], &samples->body[i - early], (size_t)early * sizeof sent);
        samples->body[i - early] = sent;
        return;
    }
    printf("FAILED: bucket %d is not sent in the loop over samples\n", number);
    exit(1);
}

static void sent_before_its_sum(Plan *plan) {
    send_early(plan, 0, 1);
}
static void sent_before_its_gradient(Plan *plan) {
    send_early(plan, 1, 2);
}
static void sent_beside_its_sum(Plan *plan) {
    Program *train = &plan->program[PROGRAM_TRAIN];
    const Step *samples = loop_over(train->step, train->nstep, AXIS_SAMPLES);
    for (int i = 0; i < samples->nbody; i++)
        if (train->graph->node[samples->body[i].node].op == OP_RANK_START)
            samples->body[i].section = samples->body[i].branch = 1;
}
static void in_no_bucket(Plan *plan) {
    plan->program[PROGRAM_TRAIN].bucket[1].first += 16;
}
static void rooms_overlap(Plan *plan) {
    plan->program[PROGRAM_TRAIN].bucket[1].place -= 1;
}

static void test_buckets(void) {
    static const Fault faults[] = {
        {"a bucket sent before the sum of its groups", sent_before_its_sum,
         "on its way to other processes"},
        {"a bucket sent before its last gradient", sent_before_its_gradient,
         "on its way to other processes"},
        {"a bucket sent beside other steps", sent_beside_its_sum,
         "needs what stands before it to be through"},
        {"gradients in no bucket", in_no_bucket, "does not end where the next one begins"},
        {"a bucket in the room of another", rooms_overlap, "has the room of the next one"},
    };
    char said[SAID];
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        Pool *pool = pool_new();
        Plan *plan = plan_text(pool, ranked, false, 2, 0);
        expect(judged(plan, said) == 0, "the sound plan is accepted", said);
        expect(plan->program[PROGRAM_TRAIN].nbucket > 1, "there are several buckets", "");
        faults[k].plant(plan);
        expect(judged(plan, said) == EXIT_BUG && strstr(said, faults[k].said) != NULL, faults[k].what,
               said);
        pool_free(pool);
    }
    printf("%zu faults of buckets named\n", sizeof faults / sizeof *faults);
}

static bool overlap(const Buffer *a, const Buffer *b) {
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* ---- rings --------------------------------------------------------------------------------------- */

/* Its training is one loop over bands of two rows, and so is prediction, on a CPU of images of any height.
 */
static const char pyramid[] = "input  noisy : image(3, 24, 20)\n"
                              "target clean : image(3)\n"
                              "top    = noisy -> conv(4, 3) -> relu -> conv(4, 3) -> relu\n"
                              "low    = max_pool(top) -> conv(6, 3) -> relu -> conv(6, 3) -> relu\n"
                              "back   = concat(upconv(low, 4), top) -> conv(4, 3) -> relu\n"
                              "output answer = conv(back, 3, 1)\n"
                              "train {\n"
                              "    loss   mse(answer, clean)\n"
                              "    metric psnr(answer, clean)\n"
                              "    batch  2\n"
                              "    steps  1\n"
                              "}\n";

static Plan *plan_of_pyramid(Pool *pool, const Target *target, ProgramKind kind) {
    return plan_program(pool, pyramid, kind, target, false, kind == PROGRAM_TRAIN ? 2 : 0, 12);
}

static void expect_judged(const Plan *plan, const char *what, const char *name) {
    char said[SAID];
    const bool named = judged(plan, said) == EXIT_BUG && (strstr(said, "reads rows of") != NULL ||
                                                          strstr(said, "before they were written") != NULL);
    expect(named, what, pool_text(plan->pool, "%s: %s", name, said));
}

/* Each ring has as many rows as it needs, and no more. */
static int test_short_rings(const Target *target, ProgramKind kind) {
    Pool *pool = pool_new();
    Plan *plan = plan_of_pyramid(pool, target, kind);
    int count = 0;
    for (int b = 0; b < plan->nbuffer; b++) {
        if (plan->buffer[b].ring <= 1 || plan->buffer[b].same >= 0)
            continue;
        for (int change = -1; change <= 1; change += 2) {
            for (int other = 0; other < plan->nbuffer; other++)
                if (other == b || plan->buffer[other].same == b)
                    plan->buffer[other].ring += change;
            if (change < 0)
                expect_judged(plan, "a ring that is a row too short is named", plan->buffer[b].name);
        }
        count++;
    }
    pool_free(pool);
    return count;
}

/* Each step is as far behind as it must be, and no more. */
static int test_small_lags(const Target *target, ProgramKind kind) {
    Pool *pool = pool_new();
    Plan *plan = plan_of_pyramid(pool, target, kind);
    Program *program = &plan->program[kind];
    const Step *bands =
        kind == PROGRAM_TRAIN ? bands_of(plan) : loop_over(program->step, program->nstep, AXIS_BANDS);
    int count = 0;
    for (int i = 0; i < bands->nbody; i++) {
        if (bands->body[i].lag == 0)
            continue;
        bands->body[i].lag--;
        expect_judged(plan, "a lag that is a row too small is named",
                      op_table[program->graph->node[bands->body[i].node].op].name);
        bands->body[i].lag++;
        count++;
    }
    pool_free(pool);
    return count;
}

/* A sum that goes on from one band to the next must find what it had come to. */
static void test_overwritten_sum(void) {
    char said[SAID];
    Pool *pool = pool_new();
    Plan *plan = plan_of_pyramid(pool, targets[0], PROGRAM_TRAIN);
    expect(judged(plan, said) == 0, "the sound plan is accepted", said);
    named(plan, "top.0 sums")->offset = named(plan, "low.0 sums")->offset;
    expect(judged(plan, said) == EXIT_BUG && strstr(said, "was overwritten while") != NULL,
           "a sum over rows that is overwritten", said);
    pool_free(pool);
}

/* Does a ring that has its bytes for a part of each iteration lie on B? */
static bool shares_bytes(const Plan *plan, const Buffer *b) {
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *other = &plan->buffer[i];
        if (other != b && other->fleeting && movable(other) && overlap(b, other))
            return true;
    }
    return false;
}

/* Rows stay in ring B, and it is taken for one in which none do: 1 where another has its bytes meanwhile.
 */
static int test_taken_for_fleeting(const Target *target, int b) {
    Pool *pool = pool_new();
    Plan *plan = plan_of_pyramid(pool, target, PROGRAM_TRAIN);
    for (int other = 0; other < plan->nbuffer; other++)
        plan->buffer[other].fleeting |= other == b || plan->buffer[other].same == b;
    live(plan);
    plan->persistent = plan->arena = plan->lower_bound = 0;
    offsets(plan);
    const int harm = shares_bytes(plan, &plan->buffer[b]);
    if (harm)
        expect_judged(plan, "a ring that others overwrite between two iterations", plan->buffer[b].name);
    pool_free(pool);
    return harm;
}

/* Rings in which no row stays share bytes, and no others do. */
static int test_fleeting(const Target *target) {
    Pool *pool = pool_new();
    const Plan *plan = plan_of_pyramid(pool, target, PROGRAM_TRAIN);
    const int nbuffer = plan->nbuffer;
    int sharing = 0, harm = 0;
    for (int b = 0; b < nbuffer; b++)
        sharing +=
            plan->buffer[b].fleeting && movable(&plan->buffer[b]) && shares_bytes(plan, &plan->buffer[b]);
    expect(sharing > 0, "rings in which no row stays share bytes", "there are none");
    for (int b = 0; b < nbuffer; b++)
        if (plan->buffer[b].ring > 0 && !plan->buffer[b].fleeting && movable(&plan->buffer[b]))
            harm += test_taken_for_fleeting(target, b);
    pool_free(pool);
    expect(harm > 0, "rings in which rows stay would share bytes", "there are none");
    return harm;
}

static void test_rings(void) {
    test_overwritten_sum();
    for (int k = 0; targets[k] != NULL; k++) {
        const Target *target = targets[k];
        if (!target->rings)
            continue;
        const int rings = test_short_rings(target, PROGRAM_TRAIN),
                  lags = test_small_lags(target, PROGRAM_TRAIN);
        expect(rings > 10 && lags > 10, "training is a loop over bands", "there are few rings or lags");
        const int any = test_short_rings(target, PROGRAM_PREDICT),
                  behind = test_small_lags(target, PROGRAM_PREDICT);
        expect(any > 5 && behind > 5, "prediction is a loop over bands", "there are few rings or lags");
        printf("%s: %d rings and %d lags, each a row too small, named; %d rings that others overwrite\n",
               target->name, rings + any, lags + behind, test_fleeting(target));
    }
}

/* ---- the graph ----------------------------------------------------------------------------------- */

/* The complaint of the verifier of graphs about a plan's training when the first value of CLASS that OP
 * touches is of class PLANTED. */
static void test_class(Op op, Class class, Class planted, const char *expected) {
    Pool *pool = pool_new();
    Plan *plan = plan_of_chain(pool);
    const Program *train = &plan->program[PROGRAM_TRAIN];
    char said[SAID];
    int from;
    train->graph->value[touched(plan, op, class)].class = planted;
    pid_t child = start(&from);
    if (child == 0) {
        NodeId *order;
        const Step **loop;
        const int count = schedule_nodes(train->graph->pool, train, &order, &loop);
        verify_graph(train->graph, "planting", order, count);
        _exit(0);
    }
    expect(finish(child, from, said) == EXIT_BUG && strstr(said, expected) != NULL, expected, said);
    pool_free(pool);
}

static void test_graphs(void) {
    test_class(OP_MSE, CLASS_METRIC, CLASS_RUNNING_STATISTIC, "outlives the step and may only be updated");
    test_class(OP_ADAM, CLASS_STATE, CLASS_ACTIVATION, "which does not outlive the step");
    printf("a running statistic that is summed, and an activation that is updated, are named\n");
}

/* Weights live until they are packed; the second prediction finds no others than what was packed. */
static void test_loaded_weights(void) {
    char said[SAID];
    Pool *pool = pool_new();
    Options *options = NEW(pool, Options);
    *options = (Options){.wanted = {[PROGRAM_PREDICT] = true},
                         .real = TYPE_F32,
                         .stored = TYPE_F32,
                         .target = targets[0],
                         .max_threads = 4,
                         .command = "",
                         .training = ""};
    Plan *plan = plan_options(pool, net, options, (Choices){.packs_once = true});
    Program *predict = &plan->program[PROGRAM_PREDICT];
    expect(named(plan, "top.0.weight")->lifetime == LIFETIME_LOADED && predict->nonce > 1,
           "weights that are packed once live no longer", "");
    expect(judged(plan, said) == 0, "the sound plan is accepted", said);
    predict->nonce--;
    expect(judged(plan, said) == EXIT_BUG && strstr(said, "after its bytes were overwritten") != NULL,
           "weights that are packed for each picture and gone after the first", said);
    pool_free(pool);
}

/* ---- lifetimes ----------------------------------------------------------------------------------- */

/* Does a buffer that begins after DIED, and before its last reader, lie on B? */
static bool harmful(const Plan *plan, const Buffer *b, int died, int last) {
    for (int i = 0; i < plan->nbuffer; i++) {
        const Buffer *other = &plan->buffer[i];
        if (other != b && movable(other) && overlap(b, other) && other->first > died &&
            other->first <= last)
            return true;
    }
    return false;
}

/* Zero: buffer B is none to shorten; else 1, or 2 where its bytes went to another too early. */
static int shorten(int b, bool at_once) {
    Pool *pool = pool_new();
    Plan *plan = plan_of(pool, false);
    Buffer *buffer = &plan->buffer[b];
    int last = buffer->last, result = 0;
    char said[SAID];
    if (movable(buffer) && buffer->first < last && buffer->lifetime == LIFETIME_STEP) {
        buffer->last = at_once ? buffer->first : last - 1;
        plan->persistent = plan->arena = plan->lower_bound = 0;
        offsets(plan);
        result = harmful(plan, buffer, buffer->last, last) ? 2 : 1;
        int code = judged(plan, said);
        bool accused = code == EXIT_BUG && strstr(said, ": plan: ") != NULL;
        expect(result == 2 ? accused : code == 0, buffer->name, said);
    }
    pool_free(pool);
    return result;
}

static void test_lifetimes(void) {
    Pool *pool = pool_new();
    int nbuffer = plan_of(pool, false)->nbuffer, count[3] = {0};
    pool_free(pool);
    for (int b = 0; b < 2 * nbuffer; b++)
        count[shorten(b / 2, b % 2)]++;
    expect(count[2] > 0, "a life cut short does harm", "");
    printf("%d lives cut short, %d with harm, all of these seen\n", count[1] + count[2], count[2]);
}

/* ---- operand lists ------------------------------------------------------------------------------- */

/* The line of the source where a step begins. */
static int line_of_step(const char *source, int position) {
    char mark[32];
    (void)snprintf(mark, sizeof mark, "begin(step, %d, ", position);
    const char *found = strstr(source, mark);
    int line = 1;
    for (const char *s = source; found != NULL && s < found; s++)
        line += *s == '\n';
    return found == NULL ? 0 : line;
}

/* Does the report's stack pass through a line of net.c in [FROM, TO)? */
static bool passes(const char *said, int from, int to) {
    for (const char *s = strstr(said, "/net.c:"); s != NULL; s = strstr(s + 1, "/net.c:")) {
        long line = strtol(s + strlen("/net.c:"), NULL, 10);
        if (from <= line && line < to)
            return true;
    }
    return false;
}

static int run_program(const char *program, char said[SAID]) {
    int from;
    pid_t child = start(&from);
    if (child == 0) {
        (void)execl(program, program, "bench", "--threads=1", (char *)NULL);
        _exit(127);
    }
    return finish(child, from, said);
}

static void test_operands(const char *folder) {
    Pool *pool = pool_new();
    Plan *plan = plan_of(pool, true);
    const char *program = pool_text(pool, "%s/net", folder);
    char said[SAID];
    for (int planted = 0; planted < 2; planted++) {
        Buffer *buffer = named(plan, skip);
        int last = buffer->last;
        Sources sources = {0};
        buffer->last -= planted;
        plan->target->emit(plan, &sources);
        if (build_program(plan, &sources, program) != 0) {
            expect(false, "building", "");
            break;
        }
        int code = run_program(program, said), line = line_of_step(sources.file[0].text->bytes, last);
        if (planted == 0)
            expect(code == 0, "the sound program runs", said);
        else
            expect(code != 0 && strstr(said, "use-after-poison") != NULL &&
                       passes(said, line, line_of_step(sources.file[0].text->bytes, last + 1)),
                   "an operand that is not alive", said);
    }
    printf("an access outside a life is stopped in its step\n");
    pool_free(pool);
}

int main(int argc, char **argv) {
    test_offsets();
    test_laws();
    test_buckets();
    test_rings();
    test_loaded_weights();
    test_graphs();
    test_lifetimes();
    if (argc > 1)
        test_operands(argv[1]);
    return failures > 0;
}
