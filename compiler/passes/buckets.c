/* buckets.c - training by ranks: gradients are sent while the backward pass goes on.
 *
 * The region of the gradients is cut into a few buckets.  A bucket is a slice of the region, in the order
 * in which gradients are completed (update.c).  Each has a `group_sum` of its own and a `rank_start`, right
 * behind the last step that adds to its gradients; `rank_sum`, behind the loop, waits for all of them:
 *
 *     backward, group_sum, rank_sum    ->    backward, [group_sum, rank_start], backward, ..., rank_sum
 *
 * A bucket is sent behind the one in front of it.  The cuts are those with which the last one is through
 * first, by a slow network and by a fast one together.  Were the whole exchange to take as long as the
 * backward pass, it should begin early; were it to take a quarter of that, little should be left for the
 * end.  In a net that is a bucket of the decoder, large ones of the deepest levels, and a small one of the
 * shallowest convolutions.
 *
 * A step that completes a gradient moves up, to right behind the last step that it depends on.  Without the
 * move it would stand at the end of an iteration.
 *
 * If samples are merged on the way (merges.c), gradients are sent all at once: each is complete in one of
 * several loops.
 *
 * Requires: the schedule.  Provides: program->bucket, their steps.
 */
#include "ir/ops.h"
#include "passes/passes.h"

/* The times of the whole exchange that count, in parts of the backward pass; the least gain of a bucket. */
static const double exchange[] = {1, 0.25}, GAIN = 0.02;

/* The steps of an iteration, or of a program without a loop over samples. */
typedef struct {
    Program *program;
    Step *step;
    int nstep;
    NodeId sum; /* the `group_sum` of all gradients, */
    int at;     /*   and the number of its step */
} Iteration;

/* ---- what completes gradients ---- */

static bool touches_gradients(const Graph *g, const Node *node) {
    for (Touch t = node_touches(g, node); touch_next(&t);)
        if (t.is_output && g->value[t.value].class == CLASS_PARAMETER_GRADIENT)
            return true;
    return false;
}

static bool is_sum_of_groups(const Graph *g, const Step *step) {
    const Node *node = step->node < 0 ? NULL : &g->node[step->node];
    return node != NULL && has_trait(node, TRAIT_OF_RANKS) && node->ends_group &&
           touches_gradients(g, node);
}

/* Moves up the steps at the end of an iteration that complete gradients. */
static void move_ends_up(Iteration *it) {
    const Graph *g = it->program->graph;
    for (int i = 0; i < it->at; i++) {
        const Node *node = it->step[i].node < 0 ? NULL : &g->node[it->step[i].node];
        if (node == NULL || !(node->ends_group || has_trait(node, TRAIT_ENDS_SUMS)) ||
            !touches_gradients(g, node))
            continue;
        move_step_up(g, it->step, i);
    }
}

/* ---- where to cut ---- */

/* The end of a segment of the region: the step behind which the segment and all in front of it are
 * complete, how much of the backward pass was over then, and where the segment ends, in numbers. */
typedef struct {
    int step;
    double ready;
    int64_t end;
} Segment;

static double step_cost(const Program *program, const Step *step) {
    double cost = 0;
    for (int i = 0; i < step->nbody && step->node < 0; i++)
        cost += step_cost(program, &step->body[i]);
    return step->node < 0 ? cost : (double)node_cost(program, &program->graph->node[step->node]);
}

/* LAST becomes I for each value that STEP touches. */
static void see(const Graph *g, const Step *step, int i, int *last) {
    for (int k = 0; step->node < 0 && k < step->nbody; k++)
        see(g, &step->body[k], i, last);
    if (step->node < 0)
        return;
    for (Touch t = node_touches(g, &g->node[step->node]); touch_next(&t);)
        last[t.value] = i;
}

static void find_segments(const Iteration *it, const ValueId *value, int count, Segment *segment) {
    const Graph *g = it->program->graph;
    int *last = NEW_ARRAY(g->pool, int, g->nvalue), first = it->at;
    double *spent = NEW_ARRAY(g->pool, double, it->at + 1);
    for (int i = 0; i < it->at; i++) {
        see(g, &it->step[i], i, last);
        spent[i + 1] = spent[i] + step_cost(it->program, &it->step[i]);
    }
    for (int k = 0; k < count; k++) {
        const Segment before = k > 0 ? segment[k - 1] : (Segment){0, 0, 0};
        const int step = last[value[k]];
        first = step < first ? step : first;
        segment[k] = (Segment){.step = step > before.step ? step : before.step,
                               .end = before.end + region_numbers(it->program, value[k])};
    }
    const double all = spent[it->at] - spent[first];
    for (int k = 0; k < count; k++)
        segment[k].ready = all > 0 ? (spent[segment[k].step + 1] - spent[first]) / all : 1;
}

/* When all is sent if the buckets end behind the segments CUT[0..COUNT), in parts of the backward pass: the
 * sum over the networks. */
static double sent_at(const Segment *segment, int n, const int *cut, int count) {
    double sum = 0;
    for (size_t k = 0; k < sizeof exchange / sizeof *exchange; k++) {
        double end = 0;
        int64_t begin = 0;
        for (int b = 0; b < count; b++) {
            const Segment *last = &segment[cut[b]];
            end = (end > last->ready ? end : last->ready) +
                  exchange[k] * (double)(last->end - begin) / (double)segment[n - 1].end;
            begin = last->end;
        }
        sum += end;
    }
    return sum;
}

/* One cut more, where it helps most, as long as it helps; returns how many buckets there are. */
static int find_cuts(const Segment *segment, int n, int cut[MOST_BUCKETS]) {
    int count = 1;
    cut[0] = n - 1;
    for (double best = sent_at(segment, n, cut, 1); count < MOST_BUCKETS; count++) {
        int better[MOST_BUCKETS], tried[MOST_BUCKETS];
        double soonest = best - GAIN;
        bool found = false;
        for (int k = 0; k + 1 < n; k++) {
            int at = 0;
            while (cut[at] < k)
                at++;
            for (int b = 0; b <= count; b++)
                tried[b] = b < at ? cut[b] : b == at ? k : cut[b - 1];
            const double end = cut[at] == k ? best : sent_at(segment, n, tried, count + 1);
            if (end >= soonest)
                continue;
            soonest = end;
            found = true;
            for (int b = 0; b <= count; b++)
                better[b] = tried[b];
        }
        if (!found)
            break;
        best = soonest;
        for (int b = 0; b <= count; b++)
            cut[b] = better[b];
    }
    return count;
}

/* ---- buckets ---- */

static ValueId slice_new(Program *program, ValueId gradients, const ValueId *segment, int count) {
    Graph *g = program->graph;
    const ValueId v = value_concat_like(g, segment, count, g->value[gradients]);
    PUSH(g->pool, program->layout, program->nlayout, program->layout[gradients]);
    return v;
}

/* The nodes of the bucket that was made last.  The first bucket takes the node that summed all gradients.
 */
static void bucket_nodes(Program *program, NodeId sum, NodeId made[2]) {
    Graph *g = program->graph;
    const Bucket *bucket = &program->bucket[program->nbucket - 1];
    Node node = g->node[sum];
    const ValueId touched[2] = {bucket->gradients, node.out[1]};
    node.name = pool_text(g->pool, "bucket %d of gradients", program->nbucket);
    made[0] = sum;
    if (program->nbucket == 1) {
        g->node[sum].name = node.name;
        node_set_output(g, &g->node[sum], 0, bucket->gradients);
    } else {
        made[0] = node_new(g, node, NULL, touched);
    }
    made[1] = node_new(g, (Node){.op = OP_RANK_START, .nin = 2, .name = node.name, .span = node.span},
                       touched, NULL);
}

/* The buckets that end behind the segments CUT of VALUE; the steps of the iteration are made anew. */
static void make_buckets(Iteration *it, const ValueId *value, const Segment *segment, const int *cut,
                         int count, Step **made, int *nmade) {
    Program *program = it->program;
    Graph *g = program->graph;
    const ValueId gradients = g->node[it->sum].out[0], levels = g->node[it->sum].out[1];
    const int64_t depth = g->value[levels].shape.dim[0], ranks = program->model->train.ranks;
    NodeId node[MOST_BUCKETS][2];
    program->bucket = NEW_ARRAY(g->pool, Bucket, count);
    for (int b = 0, first = 0; b < count; first = cut[b++] + 1) {
        Bucket *bucket = &program->bucket[b];
        bucket->first = first == 0 ? 0 : segment[first - 1].end;
        bucket->numbers = segment[cut[b]].end - bucket->first;
        bucket->place = depth * (bucket->first + b * ranks);
        bucket->gradients = slice_new(program, gradients, value + first, cut[b] + 1 - first);
        program->nbucket = b + 1;
        bucket_nodes(program, it->sum, node[b]);
    }
    for (int i = 0, b = 0; i < it->nstep; i++) {
        if (i != it->at)
            PUSH(g->pool, *made, *nmade, it->step[i]);
        for (; b < count && segment[cut[b]].step == i; b++)
            for (int k = 0; k < 2; k++)
                PUSH(g->pool, *made, *nmade, ((Step){.node = node[b][k]}));
    }
}

static void cut_iteration(Iteration *it, Step **step, int *nstep) {
    Graph *g = it->program->graph;
    const ValueId *value;
    int cut[MOST_BUCKETS];
    const int n = value_segments(g, &g->node[it->sum].out[0], &value);
    Segment *segment = NEW_ARRAY(g->pool, Segment, n);
    move_ends_up(it);
    find_segments(it, value, n, segment);
    const int count = find_cuts(segment, n, cut);
    if (count == 1)
        return;
    Step *made = NULL;
    int nmade = 0;
    make_buckets(it, value, segment, cut, count, &made, &nmade);
    *step = made;
    *nstep = nmade;
}

/* Is the sum of the groups' gradients among the steps? Then they are cut. */
static bool cut_steps(Program *program, Step **step, int *nstep) {
    for (int i = 0; i < *nstep; i++) {
        if (is_sum_of_groups(program->graph, &(*step)[i])) {
            Iteration it = {program, *step, *nstep, (*step)[i].node, i};
            cut_iteration(&it, step, nstep);
            return true;
        }
        if ((*step)[i].node < 0 && cut_steps(program, &(*step)[i].body, &(*step)[i].nbody))
            return true;
    }
    return false;
}

void cut_buckets(Program *program) {
    if (program->group > 0 && program->target->overlaps_ranks && merging_node(program->graph) == NULL)
        (void)cut_steps(program, &program->step, &program->nstep);
}

int64_t bucket_room(const Program *program) {
    const int64_t buckets = program->target->overlaps_ranks ? MOST_BUCKETS : 1;
    return buckets * program->model->train.ranks;
}
