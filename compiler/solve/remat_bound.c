/* remat_bound.c - lower bounds on the cost and the peak of every schedule, in any order.
 *
 * Consider the moment at which operation k runs for the first time.  All its ancestors have run by then,
 * and its descendants are still to run.  A tensor of an ancestor that is needed from then on is alive at
 * that moment, beside what k itself reads and writes, or its maker runs once more; and so do, for that, the
 * makers of what it reads, unless they are alive.  The cheapest choice of what to keep in the bytes that k
 * leaves is a minimum cut with one side constraint.  The constraint is priced (Lagrange): each price gives
 * a valid bound, namely the cut less the price of the room, and the best price is found between two known
 * cuts, where their lines cross.  The bound is the largest over all k.
 *
 * No peak is lower than the bytes of the widest such moment, with all tensors that cannot be made again.
 */
#include "solve/remat_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { UNRELATED, ANCESTOR, SELF, DESCENDANT } Relation;

/* The moment at which one operation runs for the first time. */
typedef struct {
    const RematGraph *graph;
    int operation;
    Relation *relation; /* per operation */
    bool *present;      /* per tensor: alive at this moment in any case */
    bool *needed;       /* per tensor: read by a descendant, made by no descendant */
    int64_t bytes;      /* alive in any case */
} Moment;

static Moment new_moment(Pool *pool, const RematGraph *graph) {
    return (Moment){.graph = graph,
                    .relation = NEW_ARRAY(pool, Relation, graph->noperation),
                    .present = NEW_ARRAY(pool, bool, graph->ntensor),
                    .needed = NEW_ARRAY(pool, bool, graph->ntensor)};
}

static void relate(Moment *moment, int k) {
    const RematGraph *graph = moment->graph;
    Relation *relation = moment->relation;
    memset(relation, 0, (size_t)graph->noperation * sizeof *relation);
    relation[k] = SELF;
    for (int o = k; o >= 0; o--)
        for (int i = graph->node[o - 1].read_end; relation[o] != UNRELATED && i < graph->node[o].read_end;
             i++)
            relation[graph->maker[graph->read[i]]] = ANCESTOR;
    for (int o = k + 1; o < graph->noperation; o++)
        for (int i = graph->node[o - 1].read_end; i < graph->node[o].read_end; i++)
            if (relation[graph->maker[graph->read[i]]] >= SELF)
                relation[o] = DESCENDANT;
}

static void mark_needed(Moment *moment) {
    const RematGraph *graph = moment->graph;
    memset(moment->needed, 0, (size_t)graph->ntensor * sizeof *moment->needed);
    for (int o = moment->operation + 1; o < graph->noperation; o++)
        for (int i = graph->node[o - 1].read_end; i < graph->node[o].read_end; i++)
            if (moment->relation[o] == DESCENDANT &&
                moment->relation[graph->maker[graph->read[i]]] != DESCENDANT)
                moment->needed[graph->read[i]] = true;
}

static void enter_moment(Moment *moment, int k) {
    const RematGraph *graph = moment->graph;
    const RematNode *node = &graph->node[k];
    moment->operation = k;
    moment->bytes = node->own - node->saved;
    relate(moment, k);
    mark_needed(moment);
    memset(moment->present, 0, (size_t)graph->ntensor * sizeof *moment->present);
    for (int i = node[-1].read_end; i < node->read_end; i++)
        moment->present[graph->read[i]] = true;
    for (int t = 0; t < graph->ntensor; t++) {
        if (graph->maker[t] < 0)
            continue;
        bool made = moment->relation[graph->maker[t]] == ANCESTOR;
        bool lasts = graph->is_kept[t] || (moment->needed[t] && !graph->node[graph->maker[t]].repeatable);
        moment->present[t] |= made && lasts;
        moment->bytes += moment->present[t] ? graph->bytes[t] : 0;
    }
    for (int i = node[-1].write_end; i < node->write_end; i++)
        moment->present[graph->write[i]] = true;
}

/* ---- the peak ---- */

/* Room for a walk along the paths of one tensor: flags per operation. */
typedef struct {
    bool *follows, *reads, *leads; /* it runs behind the maker; reads the tensor; runs before a reader */
} Paths;

/* Fills the flags of the operations from the maker of TENSOR to the one in front of END. */
static void find_paths(const RematGraph *graph, int tensor, int end, Paths *paths) {
    const int maker = graph->maker[tensor];
    const size_t size = (size_t)(end - maker) * sizeof(bool);
    const RematNode *node = graph->node;
    memset(paths->follows + maker, 0, size);
    memset(paths->reads + maker, 0, size);
    memset(paths->leads + maker, 0, size);
    for (int o = maker + 1; o < end; o++)
        for (int i = node[o - 1].read_end; i < node[o].read_end; i++) {
            const int from = graph->maker[graph->read[i]];
            paths->follows[o] |= from == maker || (from > maker && paths->follows[from]);
            paths->reads[o] |= graph->read[i] == tensor;
        }
    for (int o = end - 1; o > maker; o--)
        for (int i = node[o - 1].read_end; i < node[o].read_end; i++) {
            const int from = graph->maker[graph->read[i]];
            if (from > maker)
                paths->leads[from] |= paths->reads[o] || paths->leads[o];
        }
}

/* A tensor that is not made again.  All operations that need it stand in front of END. */
typedef struct {
    int tensor, end;
    int64_t bytes;
} Lasting;

/* The largest first. */
static int compare_lasting(const void *left, const void *right) {
    const Lasting *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->tensor > b->tensor) - (a->tensor < b->tensor);
}

/* In LASTING, which has room for all tensors; returns how many there are. */
static int find_lasting(Pool *pool, const RematGraph *graph, Lasting *lasting) {
    const int n = graph->noperation;
    int *end = NEW_ARRAY(pool, int, graph->ntensor), count = 0;
    for (int o = 0; o < n; o++)
        for (int i = graph->node[o - 1].read_end; i < graph->node[o].read_end; i++)
            end[graph->read[i]] = o + 1;
    for (int t = 0; t < graph->ntensor; t++)
        if (graph->bytes[t] > 0 && graph->maker[t] >= 0 &&
            (graph->is_kept[t] || (end[t] > 0 && !graph->node[graph->maker[t]].repeatable)))
            lasting[count++] = (Lasting){t, graph->is_kept[t] ? n : end[t], graph->bytes[t]};
    if (count > 0)
        qsort(lasting, (size_t)count, sizeof *lasting, compare_lasting);
    return count;
}

/* Adds a tensor that is not made again to the BYTES of the moments at which it is alive in any case. */
static void add_lasting(const RematGraph *graph, const Lasting *l, Paths *paths, int64_t *bytes) {
    find_paths(graph, l->tensor, l->end, paths);
    for (int o = graph->maker[l->tensor] + 1; o < l->end; o++)
        if (paths->follows[o] && !paths->reads[o] && (graph->is_kept[l->tensor] || paths->leads[o]))
            bytes[o] += l->bytes;
}

/* Returns the largest bytes of all moments, as enter_moment() adds them up.  Few tensors last, so each
 * lasting tensor is added to its moments.  If many last, the walk ends after MOST_WORK operations: the
 * largest tensors come first, and the bound stays valid without the rest. */
int64_t remat_peak_bound(Pool *pool, const RematGraph *graph) {
    enum { MOST_WORK = 1 << 22 }; /* visits of an operation */
    const int n = graph->noperation;
    Paths paths = {NEW_ARRAY(pool, bool, n), NEW_ARRAY(pool, bool, n), NEW_ARRAY(pool, bool, n)};
    int64_t *bytes = NEW_ARRAY(pool, int64_t, n), bound = 0;
    for (int o = 0; o < n; o++) {
        bytes[o] = graph->node[o].own - graph->node[o].saved;
        for (int i = graph->node[o - 1].read_end; i < graph->node[o].read_end; i++)
            bytes[o] += graph->bytes[graph->read[i]];
    }
    Lasting *lasting = NEW_ARRAY(pool, Lasting, graph->ntensor);
    const int count = find_lasting(pool, graph, lasting);
    for (int64_t k = 0, work = 0; k < count && work < MOST_WORK; k++) {
        add_lasting(graph, &lasting[k], &paths, bytes);
        work += lasting[k].end - graph->maker[lasting[k].tensor];
    }
    for (int o = 0; o < n; o++)
        bound = bytes[o] > bound ? bytes[o] : bound;
    return bound;
}

/* ---- the cut ---- */

/* A choice at a moment: operations that run again at COST, tensors kept at BYTES.  At a price it is worth
 * cost + price * bytes: a line. */
typedef struct {
    double cost, bytes;
} Cut;

/* A flow network: node 0 is the source, 1 the sink, then the operations, then the tensors.  Edges come in
 * pairs, an edge and its reverse. */
typedef struct {
    const Moment *moment;
    int nnode, nedge;
    int *first, *next_edge, *head; /* per node; per edge */
    double *left;                  /* per edge: capacity not used yet */
    int *level, *present_edge, *queue;
    double min; /* smaller flows are rounding errors */
} Network;

enum { SOURCE, SINK, FIRST_OPERATION };

static Network new_network(Pool *pool, const Moment *moment) {
    const RematGraph *graph = moment->graph;
    int n = FIRST_OPERATION + graph->noperation + graph->ntensor;
    int nread = graph->noperation > 0 ? graph->node[graph->noperation - 1].read_end : 0;
    int nedge = 2 * (graph->noperation + 2 * graph->ntensor + nread);
    return (Network){.moment = moment,
                     .nnode = n,
                     .first = NEW_ARRAY(pool, int, n),
                     .next_edge = NEW_ARRAY(pool, int, nedge),
                     .head = NEW_ARRAY(pool, int, nedge),
                     .left = NEW_ARRAY(pool, double, nedge),
                     .level = NEW_ARRAY(pool, int, n),
                     .present_edge = NEW_ARRAY(pool, int, n),
                     .queue = NEW_ARRAY(pool, int, n)};
}

static void add_edge(Network *net, int tail, int head, double capacity) {
    int end[2] = {tail, head};
    for (int i = 0; i < 2; i++) {
        int edge = net->nedge++;
        net->head[edge] = end[1 - i];
        net->left[edge] = i == 0 ? capacity : 0;
        net->next_edge[edge] = net->first[end[i]];
        net->first[end[i]] = edge;
    }
}

/* Returns the cost of running an operation after the moment: 0 if it must run then anyway. */
static double cost_again(const Moment *moment, int o) {
    Relation relation = moment->relation[o];
    if (relation != ANCESTOR && relation != SELF)
        return 0;
    return moment->graph->node[o].repeatable ? (double)moment->graph->node[o].cost : INFINITY;
}

static double bytes_to_keep(const Moment *moment, int tensor) {
    return moment->present[tensor] ? 0 : (double)moment->graph->bytes[tensor];
}

/* On the source's side: operations that run after the moment, tensors that are needed then. */
static void build(Network *net, double price) {
    const Moment *moment = net->moment;
    const RematGraph *graph = moment->graph;
    int first_tensor = FIRST_OPERATION + graph->noperation;
    net->nedge = 0;
    for (int i = 0; i < net->nnode; i++)
        net->first[i] = -1;
    for (int o = 0; o < graph->noperation; o++) {
        if (moment->relation[o] == DESCENDANT)
            continue;
        add_edge(net, FIRST_OPERATION + o, SINK, cost_again(moment, o));
        for (int i = graph->node[o - 1].read_end; i < graph->node[o].read_end; i++)
            add_edge(net, FIRST_OPERATION + o, first_tensor + graph->read[i], INFINITY);
    }
    for (int t = 0; t < graph->ntensor; t++) {
        if (moment->needed[t])
            add_edge(net, SOURCE, first_tensor + t, INFINITY);
        if (graph->maker[t] >= 0)
            add_edge(net, first_tensor + t, FIRST_OPERATION + graph->maker[t],
                     price * bytes_to_keep(moment, t));
    }
}

/* Distances from the source along edges with capacity left; false if the sink is out of reach. */
static bool find_levels(Network *net) {
    for (int i = 0; i < net->nnode; i++)
        net->level[i] = -1;
    int count = 0;
    net->level[SOURCE] = 0;
    net->queue[count++] = SOURCE;
    for (int i = 0; i < count; i++)
        for (int e = net->first[net->queue[i]]; e >= 0; e = net->next_edge[e])
            if (net->left[e] > net->min && net->level[net->head[e]] < 0) {
                net->level[net->head[e]] = net->level[net->queue[i]] + 1;
                net->queue[count++] = net->head[e];
            }
    return net->level[SINK] >= 0;
}

static double push(Network *net, int node, double amount) {
    if (node == SINK)
        return amount;
    for (int *e = &net->present_edge[node]; *e >= 0; *e = net->next_edge[*e]) {
        int head = net->head[*e];
        if (net->left[*e] <= net->min || net->level[head] != net->level[node] + 1)
            continue;
        double pushed = push(net, head, fmin(amount, net->left[*e]));
        if (pushed > 0) {
            net->left[*e] -= pushed;
            net->left[*e ^ 1] += pushed;
            return pushed;
        }
    }
    return 0;
}

/* The value of the minimum cut at PRICE (Dinic's maximum flow), and what it chooses. */
static double minimum_cut(Network *net, double price, Cut *cut) {
    const Moment *moment = net->moment;
    const RematGraph *graph = moment->graph;
    double flow = 0;
    net->min = 1e-12 * ((double)graph->base_cost + 1);
    build(net, price);
    while (find_levels(net)) {
        memcpy(net->present_edge, net->first, (size_t)net->nnode * sizeof *net->first);
        for (double pushed; (pushed = push(net, SOURCE, INFINITY)) > 0 && pushed < INFINITY;)
            flow += pushed;
    }
    const int *reached = net->level + FIRST_OPERATION, *tensor_reached = reached + graph->noperation;
    *cut = (Cut){0, 0};
    for (int o = 0; o < graph->noperation; o++)
        cut->cost += reached[o] >= 0 ? cost_again(moment, o) : 0;
    for (int t = 0; t < graph->ntensor; t++)
        if (tensor_reached[t] >= 0 && reached[graph->maker[t]] < 0)
            cut->bytes += bytes_to_keep(moment, t);
    return flow;
}

/* ---- the price ---- */

/* The two cuts at the ends: all that is needed is kept; all that can is made again. */
static void extreme_cuts(const Moment *moment, bool *wanted, Cut *keep, Cut *repeat) {
    const RematGraph *graph = moment->graph;
    *keep = *repeat = (Cut){0, 0};
    memcpy(wanted, moment->needed, (size_t)graph->ntensor * sizeof *wanted);
    for (int t = 0; t < graph->ntensor; t++)
        keep->bytes += moment->needed[t] ? bytes_to_keep(moment, t) : 0;
    for (int o = graph->noperation - 1; o >= 0; o--) {
        const RematNode *node = &graph->node[o];
        bool any = false;
        for (int i = node[-1].write_end; i < node->write_end; i++) {
            any |= wanted[graph->write[i]];
            if (wanted[graph->write[i]] && isinf(cost_again(moment, o)))
                repeat->bytes += bytes_to_keep(moment, graph->write[i]);
        }
        if (!any || isinf(cost_again(moment, o)))
            continue;
        repeat->cost += cost_again(moment, o);
        for (int i = node[-1].read_end; i < node->read_end; i++)
            wanted[graph->read[i]] = true;
    }
}

/* The price at which two cuts are worth the same. */
static double crossing(const Cut *keep, const Cut *repeat) {
    return (repeat->cost - keep->cost) / (keep->bytes - repeat->bytes);
}

static double value_at(const Cut *cut, double price, double room) {
    return cut->cost + price * (cut->bytes - room);
}

/* No price yields more than the worth of the two cuts where they cross. */
static double best_hope(const Cut *keep, const Cut *repeat, double room) {
    if (keep->bytes <= room)
        return 0;
    if (repeat->bytes > room)
        return INFINITY;
    return value_at(keep, crossing(keep, repeat), room);
}

/* The minimum of the cost beyond the base that this moment calls for, if it is more than KNOWN. */
static double moment_bound(Network *net, Cut keep, Cut repeat, double room, double known) {
    enum { MAX_CUTS = 20 };
    for (int i = 0; i < MAX_CUTS && best_hope(&keep, &repeat, room) > known; i++) {
        double price = crossing(&keep, &repeat);
        Cut cut;
        double bound = minimum_cut(net, price, &cut) - price * room;
        known = fmax(known, bound);
        if (cut.bytes > room ? cut.bytes >= keep.bytes : cut.bytes <= repeat.bytes)
            break;
        *(cut.bytes > room ? &keep : &repeat) = cut;
    }
    return known;
}

/* Most promising moments first, until none promises more than is known. */
int64_t remat_cost_bound(Pool *pool, const RematGraph *graph, int64_t capacity) {
    enum { MAX_MOMENTS = 64, MAX_OPERATIONS = 2000 };
    int n = graph->noperation;
    if (n > MAX_OPERATIONS)
        return graph->base_cost;
    Moment moment = new_moment(pool, graph);
    Network net = new_network(pool, &moment);
    Cut *keep = NEW_ARRAY(pool, Cut, n), *repeat = NEW_ARRAY(pool, Cut, n);
    double *room = NEW_ARRAY(pool, double, n), *hope = NEW_ARRAY(pool, double, n), known = 0;
    bool *wanted = NEW_ARRAY(pool, bool, graph->ntensor);
    for (int k = 0; k < n; k++) {
        enter_moment(&moment, k);
        extreme_cuts(&moment, wanted, &keep[k], &repeat[k]);
        room[k] = (double)(capacity - moment.bytes);
        hope[k] = best_hope(&keep[k], &repeat[k], room[k]);
        hope[k] = isinf(hope[k]) ? 0 : hope[k];
    }
    for (int i = 0; i < MAX_MOMENTS && n > 0; i++) {
        int k = 0;
        for (int other = 1; other < n; other++)
            k = hope[other] > hope[k] ? other : k;
        if (hope[k] <= known)
            break;
        enter_moment(&moment, k);
        known = moment_bound(&net, keep[k], repeat[k], room[k], known);
        hope[k] = 0;
    }
    double rounding = 1e-9 * ((double)graph->base_cost + 1);
    return graph->base_cost + (known > rounding ? (int64_t)ceil(known - rounding) : 0);
}
