/* engines.c - engines with notes, knobs and workspaces, such that every choice can go wrong: the first ones
 * of the list must not be taken, knobs decide how much workspace is needed, and some engines do not compute
 * some graphs.  The results stay the same in all cases. */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NOTES = 2 };

typedef struct {
    int nnote, note[MAX_NOTES]; /* numerical */
    bool runtime_compiled;
    bool fused;  /* computes graphs that add a bias, and ReLU behind it */
    bool others; /* and those in which anything else follows the convolution */
    int64_t workspace;
    int nknob;
    struct {
        int type;
        int64_t most, initial; /* values from 0; without a choice: initial */
        int64_t workspace;     /* for each unit of the value */
    } knob[MAX_KNOBS];
} Engine;

static const Engine engines[] = {
    /* the last resort */
    {.fused = true, .workspace = 48},
    /* fast, on tensor cores */
    {.nnote = 1,
     .note = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE},
     .fused = true,
     .workspace = 16,
     .nknob = 2,
     .knob = {{CUDNN_KNOB_TYPE_TILE_SIZE, 3, 0, 64}, {CUDNN_KNOB_TYPE_STAGES, 4, 2, 0}}},
    /* not deterministic */
    {.nnote = 2,
     .note = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC},
     .fused = true,
     .nknob = 1,
     .knob = {{CUDNN_KNOB_TYPE_SPLIT_K_BUF, 1, 0, 32}}},
    /* exact, more workspace than anyone has if it splits the sum */
    {.fused = true,
     .workspace = 80,
     .nknob = 2,
     .knob = {{CUDNN_KNOB_TYPE_SPLIT_K_SLC, 1, 0, INT64_C(1) << 40},
              {CUDNN_KNOB_TYPE_TILE_SIZE, 3, 1, 16}}},
    /* for whatever follows a convolution, compiled when it is needed */
    {.nnote = 1,
     .note = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE},
     .runtime_compiled = true,
     .fused = true,
     .others = true,
     .workspace = 32,
     .nknob = 1,
     .knob = {{CUDNN_KNOB_TYPE_KERNEL_CFG, 7, 0, 0}}},
    /* sums in 16 bits */
    {.nnote = 2,
     .note = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}},
    /* rounds its operands first */
    {.nnote = 1, .note = {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}, .fused = true},
    /* exact, compiled when it is needed */
    {.runtime_compiled = true, .fused = true, .others = true, .workspace = 64},
};

enum { NENGINES = sizeof engines / sizeof *engines, WANTS_DRIVER = 92800 };

/* Another version numbers its engines differently. */
static int64_t first_index(void) {
    return cudnnGetVersion() == CUDNN_VERSION ? 0 : 10;
}

static const Engine *engine_of(const Descriptor *engine) {
    return &engines[number_of(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX) - first_index()];
}

int64_t engine_number(const Descriptor *plan) {
    const Descriptor *config = part_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    return number_of(part_of(config, CUDNN_ATTR_ENGINECFG_ENGINE), CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
}

/* Sums of channels that are stored in 16 bits: no engine computes those. */
static bool sums_halves(Descriptor *const *operation, int64_t count) {
    const Descriptor *last = operation[count - 1];
    Descriptor *operand[2];
    if (last->type != CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
        return false;
    }
    operands_of(last, operand);
    return choice_of(operand[0], CUDNN_ATTR_TENSOR_DATA_TYPE) != CUDNN_DATA_FLOAT;
}

static bool computes(const Engine *engine, const Descriptor *graph) {
    const char *refused = getenv("UNET_CUDNN_REFERENCE_REFUSES");
    int64_t count;
    if (refused != NULL && strtoll(refused, NULL, 10) == engine - engines) {
        return false;
    }
    Descriptor *const *operation = operations_of(graph, &count);
    if (count == 1) {
        return true;
    }
    if (sums_halves(operation, count)) {
        return false;
    }
    const Descriptor *mode = part_of(operation[1], CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    bool bias = operation[0]->type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
                choice_of(mode, CUDNN_ATTR_POINTWISE_MODE) == CUDNN_POINTWISE_ADD;
    return bias ? engine->fused : engine->others;
}

cudnnStatus_t engine_check(const Descriptor *engine) {
    int64_t index = number_of(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX) - first_index();
    if (index < 0 || index >= NENGINES ||
        !computes(&engines[index], part_of(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH))) {
        return refuse(CUDNN_STATUS_NOT_SUPPORTED, "no such engine for this graph");
    }
    return CUDNN_STATUS_SUCCESS;
}

/* The value of knob NUMBER in CONFIG; false if a choice names it twice or sets it too high. */
static bool knob_value(const Descriptor *config, int number, int64_t *value) {
    const Engine *engine = engine_of(part_of(config, CUDNN_ATTR_ENGINECFG_ENGINE));
    int64_t count, found = 0;
    Descriptor *const *choice = values_of(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, &count);
    *value = engine->knob[number].initial;
    for (int64_t i = 0; i < count; i++) {
        if (choice_of(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) == engine->knob[number].type) {
            *value = number_of(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
            found++;
        }
    }
    return found <= 1 && *value >= 0 && *value <= engine->knob[number].most;
}

cudnnStatus_t config_check(const Descriptor *config) {
    const Engine *engine = engine_of(part_of(config, CUDNN_ATTR_ENGINECFG_ENGINE));
    int64_t count;
    Descriptor *const *choice = values_of(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, &count);
    for (int64_t i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < engine->nknob; k++) {
            known = known || choice_of(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) == engine->knob[k].type;
        }
        if (!known) {
            return refuse(CUDNN_STATUS_NOT_SUPPORTED, "the engine has no such knob");
        }
    }
    for (int k = 0; k < engine->nknob; k++) {
        int64_t value;
        if (!knob_value(config, k, &value)) {
            return refuse(CUDNN_STATUS_NOT_SUPPORTED, "a knob cannot be set so");
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

int64_t config_workspace(const Descriptor *config) {
    const Engine *engine = engine_of(part_of(config, CUDNN_ATTR_ENGINECFG_ENGINE));
    int64_t bytes = engine->workspace;
    for (int k = 0; k < engine->nknob; k++) {
        int64_t value;
        knob_value(config, k, &value);
        bytes += value * engine->knob[k].workspace;
    }
    return bytes;
}

cudnnStatus_t engine_notes(const Descriptor *descriptor, int name, int64_t capacity, int64_t *count,
                           void *values) {
    const Engine *engine = engine_of(descriptor);
    const int compiled = CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
    bool numerical = name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE;
    *count = numerical ? engine->nnote : engine->runtime_compiled;
    if (capacity < *count) {
        return refuse(CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT, "no room for the notes");
    }
    memcpy(values, numerical ? engine->note : &compiled, (size_t)*count * sizeof(int));
    return CUDNN_STATUS_SUCCESS;
}

/* ---- heuristics ---- */

/* The proposals, in this order; -1: no choice. */
typedef struct {
    int engine;
    int64_t knob[MAX_KNOBS];
} Proposal;

static const Proposal fast[] = {{2, {1, -1}}, {5, {-1, -1}}, {4, {3, -1}}, {1, {3, 4}},
                                {1, {2, 3}},  {6, {-1, -1}}, {3, {1, 2}},  {3, {0, 3}}};
static const Proposal fallback[] = {{2, {-1, -1}}, {3, {-1, -1}}, {0, {-1, -1}}, {7, {-1, -1}}};

static void propose(const Descriptor *graph, const Proposal *proposal, Descriptor *config) {
    const Engine *engine = &engines[proposal->engine];
    const int64_t index = first_index() + proposal->engine;
    cudnnBackendDescriptor_t made, choice[MAX_KNOBS];
    int64_t nchoice = 0;
    cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &made);
    attribute_put(made, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    attribute_put(made, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    cudnnBackendFinalize(made);
    attribute_put(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &made);
    for (int k = 0; k < engine->nknob; k++) {
        if (proposal->knob[k] >= 0) {
            cudnnBackendDescriptor_t *one = &choice[nchoice++];
            cudnnBackendCreateDescriptor(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, one);
            attribute_put(*one, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1,
                          &engine->knob[k].type);
            attribute_put(*one, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &proposal->knob[k]);
            cudnnBackendFinalize(*one);
        }
    }
    if (nchoice > 0) {
        attribute_put(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, nchoice,
                      choice);
    }
    config->finalized = true;
    descriptor_release(made);
    for (int64_t i = 0; i < nchoice; i++) {
        descriptor_release(choice[i]);
    }
}

cudnnStatus_t heuristic_results(const Descriptor *heuristic, int64_t capacity, int64_t *count,
                                void *values) {
    Descriptor **config = values;
    const Descriptor *graph = part_of(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
    bool is_fallback = choice_of(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE) == CUDNN_HEUR_MODE_FALLBACK;
    const Proposal *proposal = is_fallback ? fallback : fast;
    size_t nproposal = is_fallback ? sizeof fallback / sizeof *fallback : sizeof fast / sizeof *fast;
    bool handle = values_of(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, NULL) != NULL;
    if (handle == (part_of(heuristic, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP) != NULL)) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a heuristic is for a handle or for a device");
    }
    *count = 0;
    if (!handle && cudnnGetVersion() >= WANTS_DRIVER) {
        return CUDNN_STATUS_SUCCESS; /* and no engine, where there is no driver */
    }
    for (size_t i = 0; i < nproposal && *count < capacity; i++) {
        if (computes(&engines[proposal[i].engine], graph)) {
            Descriptor *target = config[*count];
            if (target == NULL || target->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR ||
                target->nattribute > 0) {
                return refuse(CUDNN_STATUS_BAD_PARAM, "the result needs fresh configurations");
            }
            propose(graph, &proposal[i], target);
            ++*count;
        }
    }
    return CUDNN_STATUS_SUCCESS;
}
