/* convolution.c - chooses the engine of cuDNN that computes a convolution, and runs it.
 *
 * cuDNN lists engine configurations, an engine with settings ("knobs") each, by the speed it expects (mode
 * A), then the engines that should always work (FALLBACK).  The notes of every one are read, and the engine
 * and knobs written down; the plan is made from these alone, so that a choice can be made again from
 * numbers in a table.
 */
#include "convolution.h"

#include <string.h>

#include "convolution_graph.h"

enum { MAX_CANDIDATES = UNET_CUDNN_CANDIDATES / 2 }; /* of a list */

/* ---- reading what cuDNN proposes ---- */

static bool has_note(const int *note, int64_t count, int wanted) {
    for (int64_t i = 0; i < count; i++) {
        if (note[i] == wanted) {
            return true;
        }
    }
    return false;
}

/* Whether results are as exact as C asks, and the same in every run unless it does without that. */
static bool is_admissible(const Build *b, cudnnBackendDescriptor_t engine, const UnetConvolution *c) {
    int note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT + 8]; /* a newer library may know more */
    const int64_t capacity = sizeof note / sizeof *note;
    int64_t count =
        build_get(b, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, capacity, note);
    if (count < 0 || count > capacity ||
        (!c->nondeterministic && has_note(note, count, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) ||
        has_note(note, count, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) {
        return false;
    }
    bool exact = c->type == UNET_F32 && !c->tf32;
    return !exact || (!has_note(note, count, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) &&
                      !has_note(note, count, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS));
}

static bool is_runtime_compiled(const Build *b, cudnnBackendDescriptor_t engine) {
    int note[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT + 8];
    const int64_t capacity = sizeof note / sizeof *note;
    int64_t count =
        build_get(b, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, capacity, note);
    return count < 0 || count > capacity || has_note(note, count, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
}

static bool read_knobs(Build *b, cudnnBackendDescriptor_t config, UnetEngine *engine) {
    cudnnBackendDescriptor_t choice[UNET_MAX_KNOBS];
    for (int i = 0; i < UNET_MAX_KNOBS; i++) {
        choice[i] = build_new(b, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    }
    int64_t count = build_get(b, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              UNET_MAX_KNOBS, choice);
    if (count < 0 || count > UNET_MAX_KNOBS) {
        return false;
    }
    engine->nknob = (int32_t)count;
    for (int64_t i = 0; i < count; i++) {
        cudnnBackendKnobType_t type;
        if (build_get(b, choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type) !=
                1 ||
            build_get(b, choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                      &engine->knob[i].value) != 1) {
            return false;
        }
        engine->knob[i].type = type;
    }
    return true;
}

/* False where it may not be used. */
static bool read_candidate(Build *b, cudnnBackendDescriptor_t config, const UnetConvolution *c,
                           UnetCudnnCandidate *candidate) {
    const int32_t mark = b->count;
    UnetEngine *pin = &candidate->engine;
    *pin = (UnetEngine){.version = (int64_t)b->target->api->version()};
    cudnnBackendDescriptor_t engine = build_new(b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    bool usable =
        build_get(b, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine) == 1 &&
        build_get(b, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &pin->engine) == 1 &&
        is_admissible(b, engine, c) && read_knobs(b, config, pin);
    candidate->runtime_compiled = usable && is_runtime_compiled(b, engine);
    if (usable && build_get(b, config, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                            &pin->workspace) != 1) {
        pin->workspace = -1;
    }
    build_release(b, mark);
    return usable;
}

/* The usable ones of a list of cuDNN, in its order; none if it has no list. */
static int32_t list_candidates(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                               cudnnBackendHeurMode_t mode, UnetCudnnCandidate list[MAX_CANDIDATES]) {
    const int32_t mark = b->count;
    cudnnBackendDescriptor_t config[MAX_CANDIDATES];
    cudnnBackendDescriptor_t heuristic = build_new(b, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    build_set_part(b, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    build_set(b, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (b->target->device != NULL) {
        build_set_part(b, heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, b->target->device);
    }
    build_finish(b, heuristic, "its list of engines");
    for (int i = 0; i < MAX_CANDIDATES; i++) {
        config[i] = build_new(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    }
    int64_t count = build_get(b, heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                              MAX_CANDIDATES, config);
    int32_t usable = 0;
    for (int64_t i = 0; i < count && i < MAX_CANDIDATES; i++) {
        usable += read_candidate(b, config[i], c, &list[usable]);
    }
    build_release(b, mark);
    return usable;
}

/* ---- making a plan of an engine and its knobs ---- */

/* Fails for an engine that C does not admit, wherever its number comes from. */
static cudnnBackendDescriptor_t pinned_config(Build *b, cudnnBackendDescriptor_t graph,
                                              const UnetConvolution *c, const UnetEngine *pin) {
    cudnnBackendDescriptor_t engine = build_new(b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    build_set_part(b, engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    build_set(b, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &pin->engine);
    if (b->target->device != NULL) {
        build_set_part(b, engine, CUDNN_ATTR_ENGINE_DEVICEPROP, b->target->device);
    }
    build_finish(b, engine, "an engine");
    if (b->status == UNET_OK && !is_admissible(b, engine, c)) {
        b->status = unet_fail(b->error, UNET_BUG, "an engine that rounds or changes more than it may");
    }
    cudnnBackendDescriptor_t choice[UNET_MAX_KNOBS];
    for (int32_t i = 0; i < pin->nknob; i++) {
        const cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)pin->knob[i].type;
        choice[i] = build_new(b, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        build_set(b, choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
        build_set(b, choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                  &pin->knob[i].value);
        build_finish(b, choice[i], "a knob of an engine");
    }
    cudnnBackendDescriptor_t config = build_new(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    build_set_part(b, config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (pin->nknob > 0) {
        build_set(b, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, pin->nknob,
                  choice);
    }
    build_finish(b, config, "the knobs of an engine");
    return config;
}

cudnnBackendDescriptor_t build_plan(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                                    UnetEngine *pin) {
    const int32_t mark = b->count;
    cudnnBackendDescriptor_t config = pinned_config(b, graph, c, pin);
    cudnnBackendDescriptor_t plan = build_new(b, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if (b->target->handle != NULL) {
        build_set(b, plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->target->handle);
    }
    if (b->target->device != NULL) {
        build_set_part(b, plan, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, b->target->device);
    }
    build_set_part(b, plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    build_finish(b, plan, "an execution plan");
    if (build_get(b, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                  &pin->workspace) != 1) {
        build_release(b, mark);
        return NULL;
    }
    return plan;
}

/* ---- choosing ---- */

typedef struct {
    int64_t cap;
    bool runtime_compiled; /* which of the candidates are looked at */
    int64_t min;           /* smallest workspace that any engine needs; -1: no engine works */
    UnetEngine engine;
    cudnnBackendDescriptor_t plan; /* may be NULL for an engine that is compiled when there is a device */
} Search;

/* With a device, cuDNN knows the workspace; without one, more is planned for some engines. */
static void reserve(const Build *b, const UnetConvolution *c, UnetEngine *engine) {
    if (b->target->handle == NULL && engine->workspace >= 0) {
        engine->workspace = unet_cudnn_workspace(c, engine, b->target->multiprocessors);
    }
}

static bool try_candidate(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                          const UnetCudnnCandidate *candidate, Search *s) {
    const int32_t mark = b->count;
    UnetEngine engine = candidate->engine;
    bool believed = candidate->runtime_compiled && b->target->handle == NULL && engine.workspace >= 0;
    if (!believed && (engine.workspace <= s->cap || s->min < 0)) {
        s->plan = build_plan(b, graph, c, &engine);
        if (s->plan == NULL) {
            return false;
        }
    }
    reserve(b, c, &engine);
    if (s->min < 0 || engine.workspace < s->min) {
        s->min = engine.workspace;
    }
    if (engine.workspace > s->cap) {
        build_release(b, mark);
        s->plan = NULL;
        return false;
    }
    s->engine = engine;
    return true;
}

static bool try_list(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                     const UnetCudnnCandidate *list, int32_t count, Search *s) {
    for (int32_t i = 0; i < count; i++) {
        if (list[i].runtime_compiled == s->runtime_compiled && try_candidate(b, graph, c, &list[i], s)) {
            return true;
        }
    }
    return false;
}

static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
enum { NMODES = sizeof modes / sizeof *modes };

/* The descriptors of the plan that is found stay in B. */
static UnetStatus search(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c, int64_t cap,
                         Search *s) {
    UnetCudnnCandidate list[NMODES][MAX_CANDIDATES];
    int32_t count[NMODES];
    *s = (Search){.cap = cap, .min = -1};
    for (int i = 0; i < NMODES; i++) {
        count[i] = list_candidates(b, graph, c, modes[i], list[i]);
        if (try_list(b, graph, c, list[i], count[i], s)) {
            return UNET_OK;
        }
    }
    s->runtime_compiled = true;
    for (int i = 0; i < NMODES; i++) {
        if (try_list(b, graph, c, list[i], count[i], s)) {
            return UNET_OK;
        }
    }
    size_t version = b->target->api->version();
    if (s->min >= 0) {
        return unet_fail(
            b->error, UNET_TOO_SMALL,
            "cuDNN %zu needs %lld bytes of workspace for a convolution; the plan gives it %lld", version,
            (long long)s->min, (long long)cap);
    }
    return unet_fail(b->error, UNET_TOO_SMALL, "cuDNN %zu has no%s engine for a convolution", version,
                     c->nondeterministic ? "" : " deterministic");
}

UnetStatus unet_cudnn_describe_device(const UnetCudnn *api, const char *json,
                                      cudnnBackendDescriptor_t *device, UnetError *error) {
    const UnetCudnnTarget target = {.api = api};
    Build b = build_start(&target, error);
    *device = build_new(&b, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    build_set(&b, *device, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
              (int64_t)strlen(json), json);
    build_finish(&b, *device, "the properties of a device");
    UnetStatus status = b.status;
    if (status != UNET_OK) {
        build_release(&b, 0);
        *device = NULL;
    }
    return status;
}

UnetStatus unet_cudnn_choose(const UnetCudnnTarget *target, UnetConvolution *c, int64_t cap,
                             UnetError *error) {
    Build b = build_start(target, error);
    cudnnBackendDescriptor_t graph = build_convolution(&b, c);
    UnetStatus status = b.status;
    Search s;
    if (status == UNET_OK) {
        status = search(&b, graph, c, cap, &s);
    }
    if (status == UNET_OK) {
        c->engine = s.engine;
    }
    build_release(&b, 0);
    return status;
}

int32_t build_candidates(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                         UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES]) {
    int32_t count = 0;
    for (int i = 0; i < NMODES; i++) {
        count += list_candidates(b, graph, c, modes[i], list + count);
    }
    return count;
}

UnetStatus unet_cudnn_candidates(const UnetCudnnTarget *target, const UnetConvolution *c,
                                 UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES], int32_t *count,
                                 UnetError *error) {
    Build b = build_start(target, error);
    cudnnBackendDescriptor_t graph = build_convolution(&b, c);
    const UnetStatus status = b.status;
    *count = status == UNET_OK ? build_candidates(&b, graph, c, list) : 0;
    build_release(&b, 0);
    return status;
}

/* ---- with a device ---- */

/* The plan of the engine that C names, if cuDNN accepts it within its workspace. */
static bool plan_pinned(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                        UnetCudnnPlan *plan) {
    const UnetEngine *pin = &c->engine;
    plan->wanted = -1;
    if (pin->version != (int64_t)b->target->api->version() || pin->nknob < 0 ||
        pin->nknob > UNET_MAX_KNOBS) {
        return false;
    }
    const int32_t mark = b->count;
    plan->engine = *pin;
    plan->plan = build_plan(b, graph, c, &plan->engine);
    plan->wanted = plan->plan != NULL ? plan->engine.workspace : -1;
    plan->pinned = plan->plan != NULL && plan->engine.workspace <= pin->workspace;
    if (!plan->pinned) {
        build_release(b, mark);
    }
    return plan->pinned;
}

static UnetStatus plan_searched(Build *b, cudnnBackendDescriptor_t graph, const UnetConvolution *c,
                                UnetCudnnPlan *plan) {
    Search s;
    UnetStatus status = search(b, graph, c, c->engine.workspace, &s);
    plan->engine = s.engine;
    plan->plan = s.plan;
    return status;
}

/* SEARCHES: where the engine that C names will not do. */
static UnetStatus make_ready(const UnetCudnnTarget *target, const UnetConvolution *c, bool searches,
                             UnetCudnnPlan *plan, UnetError *error) {
    *plan = (UnetCudnnPlan){.plan = NULL};
    if (target->handle == NULL) {
        return unet_fail(error, UNET_BUG, "a convolution is prepared without a device");
    }
    Build b = build_start(target, error);
    cudnnBackendDescriptor_t graph = build_convolution(&b, c);
    UnetStatus status = b.status;
    if (status == UNET_OK && !plan_pinned(&b, graph, c, plan)) {
        status = searches ? plan_searched(&b, graph, c, plan) : UNET_TOO_SMALL;
    }
    if (status == UNET_OK && b.count > UNET_CUDNN_DESCRIPTORS) {
        status = unet_fail(error, UNET_BUG, "a plan of %d descriptors", (int)b.count);
    }
    if (status != UNET_OK) {
        build_release(&b, 0);
        plan->plan = NULL;
        return status;
    }
    plan->ndescriptor = b.count;
    memcpy(plan->descriptor, b.item, (size_t)b.count * sizeof *b.item);
    return UNET_OK;
}

UnetStatus unet_cudnn_plan(const UnetCudnnTarget *target, const UnetConvolution *c, UnetCudnnPlan *plan,
                           UnetError *error) {
    return make_ready(target, c, true, plan, error);
}

bool unet_cudnn_plan_pinned(const UnetCudnnTarget *target, const UnetConvolution *c, UnetCudnnPlan *plan) {
    UnetError unused;
    return make_ready(target, c, false, plan, &unused) == UNET_OK;
}

void unet_cudnn_plan_free(const UnetCudnnTarget *target, UnetCudnnPlan *plan) {
    while (plan->ndescriptor > 0) {
        target->api->destroy(plan->descriptor[--plan->ndescriptor]);
    }
    plan->plan = NULL;
}

static bool is_aligned(const void *pointer) {
    return ((uintptr_t)pointer & 15) == 0;
}

UnetStatus build_launch(const UnetCudnnTarget *target, cudnnBackendDescriptor_t plan, const Bindings *bound,
                        void *workspace, UnetError *error) {
    bool usable = plan != NULL && is_aligned(workspace);
    for (int64_t i = 0; i < bound->count; i++) {
        usable = usable && bound->pointer[i] != NULL && is_aligned(bound->pointer[i]);
    }
    if (!usable) {
        return unet_fail(error, UNET_BUG, "an operand of a convolution is missing or not aligned");
    }
    Build pack = build_start(target, error);
    cudnnBackendDescriptor_t d = build_new(&pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    build_set(&pack, d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, bound->count, bound->uid);
    build_set(&pack, d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, bound->count,
              bound->pointer);
    build_set(&pack, d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    build_finish(&pack, d, "the operands of a convolution");
    build_execute(&pack, plan, d);
    UnetStatus status = pack.status;
    build_release(&pack, 0);
    return status;
}

static void bind(Bindings *bound, int64_t uid, const void *pointer) {
    bound->uid[bound->count] = uid;
    bound->pointer[bound->count++] = pointer;
}

UnetStatus unet_cudnn_execute(const UnetCudnnTarget *target, const UnetConvolution *c,
                              const UnetCudnnPlan *plan, void *result, const void *a, const void *b,
                              const void *bias, void *workspace, UnetError *error) {
    Bindings bound = {.count = 3, .uid = {UID_RESULT, UID_A, UID_B}, .pointer = {result, a, b}};
    if (c->bias) {
        bind(&bound, UID_BIAS, bias);
    }
    if (convolution_has_sum(c)) {
        bind(&bound, UID_SUM, result);
    }
    if (plan->engine.workspace > 0 && workspace == NULL) {
        return unet_fail(error, UNET_BUG, "a convolution has no workspace");
    }
    return build_launch(target, plan->plan, &bound, workspace, error);
}
