/* rules.c - which attributes a descriptor has, and whether a finalised one makes sense. */
#include "reference.h"

/* ---- one attribute ---- */

/* An attribute: its type, the least and the most values; for descriptors, their type (-1: any
 * operation). */
typedef struct {
    int of, name;
    cudnnBackendAttributeType_t type;
    int64_t least, most;
    bool required;
    int part;
} Rule;

#define NUMBERS(of, name, least, most)                                                                     \
    { of, name, CUDNN_TYPE_INT64, least, most, true, 0 }
#define CHOICE(of, name, type)                                                                             \
    { of, name, type, 1, 1, true, 0 }
#define PART(of, name, part, required)                                                                     \
    { of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, 1, required, part }

#define TENSOR CUDNN_BACKEND_TENSOR_DESCRIPTOR
#define WINDOW CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR
#define FORWARD CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
#define DATA CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
#define FILTER CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR
#define MODE CUDNN_BACKEND_POINTWISE_DESCRIPTOR
#define POINTWISE CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR
#define REDUCTION CUDNN_BACKEND_REDUCTION_DESCRIPTOR
#define REDUCE CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR
#define GRAPH CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
#define DEVICE CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
#define HEURISTIC CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR
#define ENGINE CUDNN_BACKEND_ENGINE_DESCRIPTOR
#define KNOB CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR
#define CONFIG CUDNN_BACKEND_ENGINECFG_DESCRIPTOR
#define PLAN CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
#define PACK CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR

enum { ANY_OPERATION = -1 };

static const Rule rules[] = {
    CHOICE(TENSOR, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE),
    NUMBERS(TENSOR, CUDNN_ATTR_TENSOR_DIMENSIONS, 4, MAX_DIMENSIONS),
    NUMBERS(TENSOR, CUDNN_ATTR_TENSOR_STRIDES, 4, MAX_DIMENSIONS),
    NUMBERS(TENSOR, CUDNN_ATTR_TENSOR_UNIQUE_ID, 1, 1),
    NUMBERS(TENSOR, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1, 1),
    CHOICE(TENSOR, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN),

    CHOICE(WINDOW, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE),
    CHOICE(WINDOW, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE),
    NUMBERS(WINDOW, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 1, 1),
    NUMBERS(WINDOW, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 2, 3),
    NUMBERS(WINDOW, CUDNN_ATTR_CONVOLUTION_DILATIONS, 2, 3),
    NUMBERS(WINDOW, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 2, 3),
    NUMBERS(WINDOW, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 2, 3),

    PART(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, TENSOR, true),
    PART(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, TENSOR, true),
    PART(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, TENSOR, true),
    PART(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, WINDOW, true),
    CHOICE(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT),
    CHOICE(FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT),

    PART(DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, TENSOR, true),
    PART(DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, TENSOR, true),
    PART(DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, TENSOR, true),
    PART(DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, WINDOW, true),
    CHOICE(DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_TYPE_FLOAT),
    CHOICE(DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_TYPE_FLOAT),

    PART(FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, TENSOR, true),
    PART(FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, TENSOR, true),
    PART(FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, TENSOR, true),
    PART(FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, WINDOW, true),
    CHOICE(FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_TYPE_FLOAT),
    CHOICE(FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_TYPE_FLOAT),

    CHOICE(MODE, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE),
    CHOICE(MODE, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE),

    PART(POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, MODE, true),
    PART(POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, TENSOR, true),
    PART(POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, TENSOR, false),
    PART(POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, TENSOR, false),
    PART(POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, TENSOR, false),
    PART(POINTWISE, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, TENSOR, false),

    CHOICE(REDUCTION, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE),
    CHOICE(REDUCTION, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE),

    PART(REDUCE, CUDNN_ATTR_OPERATION_REDUCTION_DESC, REDUCTION, true),
    PART(REDUCE, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, TENSOR, true),
    PART(REDUCE, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, TENSOR, true),

    {GRAPH, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, false, 0},
    {GRAPH, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, MAX_OPERATIONS, true,
     ANY_OPERATION},

    {DEVICE, CUDNN_ATTR_DEVICEPROP_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, false, 0},
    {DEVICE, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 1, 4096, false, 0},

    PART(HEURISTIC, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, GRAPH, true),
    CHOICE(HEURISTIC, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE),
    PART(HEURISTIC, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, DEVICE, false),

    PART(ENGINE, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, GRAPH, true),
    NUMBERS(ENGINE, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1, 1),
    PART(ENGINE, CUDNN_ATTR_ENGINE_DEVICEPROP, DEVICE, false),

    CHOICE(KNOB, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE),
    NUMBERS(KNOB, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 1, 1),

    PART(CONFIG, CUDNN_ATTR_ENGINECFG_ENGINE, ENGINE, true),
    {CONFIG, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, MAX_KNOBS, false, KNOB},

    {PLAN, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, 1, false, 0},
    PART(PLAN, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CONFIG, true),
    PART(PLAN, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, DEVICE, false),

    NUMBERS(PACK, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, 1, 16),
    {PACK, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 1, 16, true, 0},
    CHOICE(PACK, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR),
};

enum { NRULES = sizeof rules / sizeof *rules };

size_t attribute_size(cudnnBackendAttributeType_t type) {
    switch (type) {
    case CUDNN_TYPE_INT64:
        return sizeof(int64_t);
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
        return sizeof(void *);
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
        return 1;
    default:
        return sizeof(int); /* enumerations; float */
    }
}

static bool is_operation(const Descriptor *d) {
    return convolution_names(d) != NULL || d->type == POINTWISE || d->type == REDUCE;
}

static cudnnStatus_t check_parts(const Rule *rule, int64_t count, const void *values) {
    Descriptor *const *part = values;
    for (int64_t i = 0; i < count; i++) {
        if (part[i] == NULL || !part[i]->finalized) {
            return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a part is not finalised");
        }
        if (rule->part == ANY_OPERATION ? !is_operation(part[i]) : (int)part[i]->type != rule->part) {
            return refuse(CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE, "a part is of the wrong type");
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t rules_allow(const Descriptor *d, int name, cudnnBackendAttributeType_t type, int64_t count,
                          const void *values) {
    for (int i = 0; i < NRULES; i++) {
        const Rule *rule = &rules[i];
        if (rule->of != (int)d->type || rule->name != name) {
            continue;
        }
        if (rule->type != type) {
            return refuse(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "an attribute of the wrong type");
        }
        if (count < rule->least || count > rule->most) {
            return refuse(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, "too few or too many values");
        }
        return type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? check_parts(rule, count, values)
                                                     : CUDNN_STATUS_SUCCESS;
    }
    return refuse(CUDNN_STATUS_NOT_SUPPORTED, "an attribute that this descriptor does not have");
}

/* ---- tensors and windows ---- */

static bool all_at_least(const Descriptor *d, int name, int64_t least) {
    int64_t count;
    const int64_t *value = values_of(d, name, &count);
    for (int64_t i = 0; i < count; i++) {
        if (value[i] < least) {
            return false;
        }
    }
    return true;
}

static bool same_count(const Descriptor *d, int name, int64_t wanted) {
    int64_t count;
    values_of(d, name, &count);
    return count == wanted;
}

static cudnnStatus_t check_tensor(const Descriptor *d) {
    int64_t axes;
    values_of(d, CUDNN_ATTR_TENSOR_DIMENSIONS, &axes);
    const bool *is_virtual = values_of(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, NULL);
    int type = choice_of(d, CUDNN_ATTR_TENSOR_DATA_TYPE);
    if (!same_count(d, CUDNN_ATTR_TENSOR_STRIDES, axes) ||
        !all_at_least(d, CUDNN_ATTR_TENSOR_DIMENSIONS, 1) ||
        !all_at_least(d, CUDNN_ATTR_TENSOR_STRIDES, 1)) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor's sizes or strides");
    }
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_HALF && type != CUDNN_DATA_BFLOAT16) {
        return refuse(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, "a tensor's type");
    }
    if (*is_virtual && type != CUDNN_DATA_FLOAT) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "what is virtual should be f32");
    }
    if (number_of(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT) != 16 ||
        number_of(d, CUDNN_ATTR_TENSOR_UNIQUE_ID) <= 0) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a tensor's alignment or name");
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_window(const Descriptor *d) {
    int64_t axes = number_of(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    static const struct {
        int name;
        int64_t least;
    } each[] = {{CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1},
                {CUDNN_ATTR_CONVOLUTION_DILATIONS, 1},
                {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0},
                {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        if (!same_count(d, each[i].name, axes) || !all_at_least(d, each[i].name, each[i].least)) {
            return refuse(CUDNN_STATUS_BAD_PARAM, "a window's strides, dilations or paddings");
        }
    }
    if (choice_of(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE) != CUDNN_DATA_FLOAT ||
        choice_of(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE) != CUDNN_CROSS_CORRELATION) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a window's arithmetic should be f32, and not mirrored");
    }
    return CUDNN_STATUS_SUCCESS;
}

/* ---- operations ---- */

const ConvolutionNames *convolution_names(const Descriptor *d) {
    static const ConvolutionNames names[] = {
        {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
        {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
         CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
    };
    return d->type == FORWARD  ? &names[0]
           : d->type == DATA   ? &names[1]
           : d->type == FILTER ? &names[2]
                               : NULL;
}

Descriptor *result_of(const Descriptor *operation) {
    const ConvolutionNames *names = convolution_names(operation);
    if (names != NULL) {
        return part_of(operation, names->result);
    }
    if (operation->type == REDUCE) {
        return part_of(operation, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    }
    Descriptor *dx = part_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC);
    return dx != NULL ? dx : part_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
}

int operands_of(const Descriptor *operation, Descriptor *operand[2]) {
    const ConvolutionNames *names = convolution_names(operation);
    if (operation->type == REDUCE) {
        operand[0] = part_of(operation, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
        return 1;
    }
    if (names == NULL) {
        Descriptor *dy = part_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC);
        operand[0] = part_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
        operand[1] = dy != NULL ? dy : part_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
        return operand[1] != NULL ? 2 : 1;
    }
    const int each[] = {names->x, names->w, names->y};
    int count = 0;
    for (int i = 0; i < 3; i++) {
        if (each[i] != names->result) {
            operand[count++] = part_of(operation, each[i]);
        }
    }
    return count;
}

static bool is_virtual(const Descriptor *tensor) {
    return *(const bool *)values_of(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, NULL);
}

static cudnnStatus_t check_convolution(const Descriptor *d) {
    const ConvolutionNames *names = convolution_names(d);
    const Descriptor *window = part_of(d, names->window);
    const int64_t axes = number_of(window, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    const Descriptor *tensor[3] = {part_of(d, names->x), part_of(d, names->w), part_of(d, names->y)};
    for (int i = 0; i < 3; i++) {
        if (!same_count(tensor[i], CUDNN_ATTR_TENSOR_DIMENSIONS, axes + 2)) {
            return refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a convolution of different axes");
        }
    }
    const int64_t *x = values_of(tensor[0], CUDNN_ATTR_TENSOR_DIMENSIONS, NULL);
    const int64_t *w = values_of(tensor[1], CUDNN_ATTR_TENSOR_DIMENSIONS, NULL);
    const int64_t *y = values_of(tensor[2], CUDNN_ATTR_TENSOR_DIMENSIONS, NULL);
    const int64_t *stride = values_of(window, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, NULL);
    const int64_t *dilation = values_of(window, CUDNN_ATTR_CONVOLUTION_DILATIONS, NULL);
    const int64_t *before = values_of(window, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, NULL);
    const int64_t *after = values_of(window, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, NULL);
    bool agree = x[0] == y[0] && x[1] == w[1] && y[1] == w[0];
    for (int64_t k = 0; k < axes; k++) {
        int64_t room = x[2 + k] + before[k] + after[k] - (w[2 + k] - 1) * dilation[k] - 1;
        agree = agree && room >= 0 && room / stride[k] + 1 == y[2 + k];
    }
    if (!agree) {
        return refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "the sizes of a convolution do not agree");
    }
    if (is_virtual(result_of(d)) && factor_of(d, names->beta) != 0) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a convolution adds to a virtual tensor");
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Which operands a mode has: Y out of X, of X and B, or DX out of X and DY. */
static bool operands_fit(const Descriptor *d, int mode) {
    const bool backward = mode == CUDNN_POINTWISE_RELU_BWD, two = mode == CUDNN_POINTWISE_ADD;
    return (part_of(d, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC) != NULL) == backward &&
           (part_of(d, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC) != NULL) == backward &&
           (part_of(d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC) != NULL) == !backward &&
           (part_of(d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) != NULL) == two;
}

static cudnnStatus_t check_pointwise(const Descriptor *d) {
    const Descriptor *mode = part_of(d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    int what = choice_of(mode, CUDNN_ATTR_POINTWISE_MODE);
    if (what != CUDNN_POINTWISE_ADD && what != CUDNN_POINTWISE_RELU_FWD &&
        what != CUDNN_POINTWISE_RELU_BWD && what != CUDNN_POINTWISE_IDENTITY) {
        return refuse(CUDNN_STATUS_NOT_SUPPORTED, "this pointwise operation is not known here");
    }
    if (!operands_fit(d, what)) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "an operand too many or too few");
    }
    if (choice_of(mode, CUDNN_ATTR_POINTWISE_MATH_PREC) != CUDNN_DATA_FLOAT) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a pointwise operation should be computed in f32");
    }
    int64_t axes;
    const int64_t *y = values_of(result_of(d), CUDNN_ATTR_TENSOR_DIMENSIONS, &axes);
    Descriptor *operand[2];
    int count = operands_of(d, operand);
    for (int i = 0; i < count; i++) {
        const int64_t *size = values_of(operand[i], CUDNN_ATTR_TENSOR_DIMENSIONS, NULL);
        bool agree = same_count(operand[i], CUDNN_ATTR_TENSOR_DIMENSIONS, axes);
        for (int64_t k = 0; agree && k < axes; k++) {
            agree = size[k] == y[k] || (i == 1 && what == CUDNN_POINTWISE_ADD && size[k] == 1);
        }
        if (!agree) {
            return refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "pointwise operands differ in size");
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

/* Sums of each channel. */
static cudnnStatus_t check_reduction(const Descriptor *d) {
    const Descriptor *what = part_of(d, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
    if (choice_of(what, CUDNN_ATTR_REDUCTION_OPERATOR) != CUDNN_REDUCE_TENSOR_ADD ||
        choice_of(what, CUDNN_ATTR_REDUCTION_COMP_TYPE) != CUDNN_DATA_FLOAT) {
        return refuse(CUDNN_STATUS_NOT_SUPPORTED, "this reduction is not known here");
    }
    int64_t axes, count;
    const Descriptor *from = part_of(d, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
    const int64_t *x = values_of(from, CUDNN_ATTR_TENSOR_DIMENSIONS, &axes);
    const int64_t *y = values_of(result_of(d), CUDNN_ATTR_TENSOR_DIMENSIONS, &count);
    bool agree = axes == count && choice_of(result_of(d), CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_FLOAT;
    for (int64_t k = 0; agree && k < axes; k++) {
        agree = y[k] == (k == 1 ? x[k] : 1);
    }
    return agree ? CUDNN_STATUS_SUCCESS
                 : refuse(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH, "a sum of each channel, in f32");
}

/* ---- graphs and plans ---- */

Descriptor *const *operations_of(const Descriptor *graph, int64_t *count) {
    return values_of(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, count);
}

/* Whether an operation before number LAST writes TENSOR. */
static bool written_before(Descriptor *const *operation, int64_t last, const Descriptor *tensor) {
    for (int64_t i = 0; i < last; i++) {
        if (result_of(operation[i]) == tensor) {
            return true;
        }
    }
    return false;
}

/* An operation before writes a virtual tensor; a reduction alone reads a tensor that is stored, too. */
static bool operands_are_there(Descriptor *const *operation, int64_t i) {
    Descriptor *operand[2];
    int count = operands_of(operation[i], operand);
    for (int k = 0; k < count; k++) {
        bool written = written_before(operation, i, operand[k]);
        if (is_virtual(operand[k]) ? !written : written && operation[i]->type != REDUCE) {
            return false;
        }
    }
    return true;
}

static cudnnStatus_t check_graph(const Descriptor *d) {
    int64_t count;
    Descriptor *const *operation = operations_of(d, &count);
    for (int64_t i = 0; i < count; i++) {
        if (!operands_are_there(operation, i)) {
            return refuse(CUDNN_STATUS_BAD_PARAM, "a virtual tensor is one that the graph writes first");
        }
        bool is_last = i == count - 1, is_summed = i == count - 2 && operation[i + 1]->type == REDUCE;
        if (is_virtual(result_of(operation[i])) == (is_last || is_summed) ||
            (i > 0) == (convolution_names(operation[i]) != NULL)) {
            return refuse(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN,
                          "not a convolution and what follows it");
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t check_plan(const Descriptor *d) {
    bool handle = values_of(d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, NULL) != NULL;
    bool device = part_of(d, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP) != NULL;
    return handle != device ? CUDNN_STATUS_SUCCESS
                            : refuse(CUDNN_STATUS_BAD_PARAM, "a plan is for a handle or for a device");
}

static cudnnStatus_t check_device(const Descriptor *d) {
    bool handle = values_of(d, CUDNN_ATTR_DEVICEPROP_HANDLE, NULL) != NULL;
    bool described = values_of(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, NULL) != NULL;
    return handle != described ? CUDNN_STATUS_SUCCESS
                               : refuse(CUDNN_STATUS_BAD_PARAM, "a device is there, or it is described");
}

/* Names of tensors with a pointer each, no name twice. */
static cudnnStatus_t check_pack(const Descriptor *d) {
    int64_t count;
    const int64_t *uid = values_of(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &count);
    if (!same_count(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, count)) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a pointer for each name");
    }
    for (int64_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < i; k++) {
            if (uid[i] == uid[k]) {
                return refuse(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES, "a name twice");
            }
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t rules_finalize(const Descriptor *d) {
    for (int i = 0; i < NRULES; i++) {
        if (rules[i].of == (int)d->type && rules[i].required && values_of(d, rules[i].name, NULL) == NULL) {
            return refuse(CUDNN_STATUS_BAD_PARAM, "an attribute is missing");
        }
    }
    switch ((int)d->type) {
    case TENSOR:
        return check_tensor(d);
    case WINDOW:
        return check_window(d);
    case FORWARD:
    case DATA:
    case FILTER:
        return check_convolution(d);
    case POINTWISE:
        return check_pointwise(d);
    case REDUCE:
        return check_reduction(d);
    case GRAPH:
        return check_graph(d);
    case ENGINE:
        return engine_check(d);
    case CONFIG:
        return config_check(d);
    case PLAN:
        return check_plan(d);
    case PACK:
        return check_pack(d);
    case DEVICE:
        return check_device(d);
    default:
        return CUDNN_STATUS_SUCCESS;
    }
}
