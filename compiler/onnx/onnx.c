/* onnx.c - see onnx.h.
 *
 * requires   the graph of the file, as lowered: nothing fused, nothing packed
 * provides   a file in which tensors have the names of the state dict, and of the lines of the .unet file
 */
#include "onnx/onnx.h"
#include "base/exit_codes.h"
#include "base/size_math.h"
#include "base/table.h"
#include "onnx/fields.h"
#include "onnx/nodes.h"
#include "unet/atomic_file.h"
#include "unet/parameters.h"

enum { IR_VERSION = 8, OPSET = 17 };

/* ---- what the outputs need ---- */

typedef struct {
    const Model *model;
    OnnxGraph onnx;
    bool *needed;        /* per value */
    const char **output; /* per output: its name in the file */
    Table taken;         /* names of tensors */
    UnetModel weights;   /* what unet_parameters_load() fills: the parameters that are needed, */
    float *arena;        /*   and their values */
} Export;

static void need(Export *e, ValueId v) {
    const Value *value = &e->model->graph->value[v];
    e->needed[v] = true;
    for (int k = 0; k < value->nsegments; k++)
        need(e, value->segment[k]);
}

static bool makes_needed(const Export *e, const Node *node) {
    bool any = false;
    for (int k = 0; k < node->nout; k++)
        any |= node->out[k] >= 0 && e->needed[node->out[k]];
    return any;
}

/* Each reader stands behind the maker of what it reads. */
static void find_needed(Export *e) {
    const Graph *g = e->model->graph;
    for (int i = 0; i < e->model->noutput; i++)
        need(e, e->model->output[i].value);
    for (int i = g->nnode - 1; i >= 0; i--)
        for (int k = 0; k < g->node[i].nin && makes_needed(e, &g->node[i]); k++)
            if (g->node[i].in[k] >= 0)
                need(e, g->node[i].in[k]);
}

static bool report_no_form(const Export *e, const Node *node) {
    diag_begin(e->model->diag, ERROR, "U0706", node_line(node), "`%s` cannot be written to an ONNX file",
               op_table[node->op].name);
    diag_note(e->model->diag, "ONNX opset %d has no operator that computes the same", OPSET);
    diag_end(e->model->diag);
    return false;
}

/* ---- names ---- */

static const char *unique(Export *e, const char *name) {
    Pool *pool = e->model->pool;
    const char *own = name;
    for (int k = 2; table_find(&e->taken, own) >= 0; k++)
        own = pool_text(pool, "%s#%d", name, k);
    table_set(pool, &e->taken, own, 0);
    return own;
}

/* Inputs and outputs first: theirs are what others know them by. */
static void choose_names(Export *e) {
    const Model *m = e->model;
    const char **name = e->onnx.name;
    for (int i = 0; i < m->ninput; i++)
        if (e->needed[m->input[i].value])
            name[m->input[i].value] = unique(e, m->input[i].name);
    for (int i = 0; i < m->noutput; i++) {
        e->output[i] = unique(e, m->output[i].name);
        if (name[m->output[i].value] == NULL)
            name[m->output[i].value] = e->output[i];
    }
    for (ValueId v = 0; v < m->graph->nvalue; v++)
        if (e->needed[v] && name[v] == NULL)
            name[v] = unique(e, m->graph->value[v].name);
}

/* ---- the graph, all but its weights ---- */

/* A ValueInfoProto: N x channels x height x width. */
static void add_value(Export *e, int field, const char *name, const Value *value, const char *doc) {
    const Shape shape = value->shape;
    Pool *pool = e->model->pool;
    Text info = text_new(pool), type = text_new(pool), tensor = text_new(pool), dims = text_new(pool);
    for (int k = -1; k < shape.rank; k++) {
        Text dim = text_new(pool);
        if (k < 0)
            message_text(&dim, DIM_PARAMETER, "N");
        else
            message_integer(&dim, DIM_VALUE, shape.dim[k]);
        message_nested(&dims, SHAPE_DIM, &dim);
    }
    message_integer(&tensor, TENSOR_TYPE_ELEMENT, value->type == TYPE_U8 ? ELEMENT_UINT8 : ELEMENT_FLOAT);
    message_nested(&tensor, TENSOR_TYPE_SHAPE, &dims);
    message_nested(&type, TYPE_TENSOR, &tensor);
    message_text(&info, VALUE_NAME, name);
    message_nested(&info, VALUE_TYPE, &type);
    if (doc != NULL)
        message_text(&info, VALUE_DOC, doc);
    message_nested(&e->onnx.message, field, &info);
}

static bool add_graph(Export *e) {
    const Model *m = e->model;
    const Graph *g = m->graph;
    message_text(&e->onnx.message, GRAPH_NAME, m->name);
    for (int i = 0; i < m->ninput; i++)
        if (e->needed[m->input[i].value])
            add_value(e, GRAPH_INPUT, m->input[i].name, &g->value[m->input[i].value],
                      "samples of pictures are 0 to 1");
    for (int i = 0; i < g->nnode; i++)
        if (makes_needed(e, &g->node[i]) && !onnx_node(&e->onnx, &g->node[i]))
            return report_no_form(e, &g->node[i]);
    for (int i = 0; i < m->noutput; i++) {
        const ValueId v = m->output[i].value;
        onnx_join(&e->onnx, v);
        if (e->onnx.name[v] != e->output[i])
            onnx_rename(&e->onnx, e->onnx.name[v], e->output[i]);
        add_value(e, GRAPH_OUTPUT, e->output[i], &g->value[v], NULL);
    }
    return true;
}

/* ---- weights ---- */

/* ONNX wants the weight of a `linear` with axes for the window, which is one point. */
static void add_window(const Export *e, UnetParameter *matrix) {
    const int axes = e->model->graph->value[e->model->input[0].value].shape.rank - 1;
    for (int k = 0; k < axes; k++)
        matrix->dim[matrix->rank++] = 1;
}

/* All parameters and running statistics that are needed, one behind the other; false where they are too
 * many to be counted. */
static bool list_weights(Export *e) {
    const Graph *g = e->model->graph;
    UnetParameter *list = NULL;
    int64_t bytes = 0;
    int count = 0;
    for (ValueId v = 0; v < g->nvalue; v++) {
        const Value *value = &g->value[v];
        if (!e->needed[v] || (value->class != CLASS_PARAMETER && value->class != CLASS_RUNNING_STATISTIC))
            continue;
        UnetParameter parameter = {.name = value->name, .rank = value->shape.rank, .offset = bytes};
        for (int k = 0; k < value->shape.rank; k++)
            parameter.dim[k] = value->shape.dim[k];
        if (parameter.rank == 2)
            add_window(e, &parameter);
        PUSH(e->model->pool, list, count, parameter);
        bytes = size_sum(bytes, size_product(shape_elements(value->shape), sizeof(float)));
    }
    e->weights =
        (UnetModel){.name = e->model->name, .nparameter = count, .parameter = list, .real = UNET_F32};
    e->weights.persistent = bytes;
    return bytes < INT32_MAX;
}

static UnetStatus load_weights(Export *e, const char *path, const char *map, UnetError *error) {
    UnetSafetensors *file;
    UnetStatus status = unet_safetensors_open(&file, path, unet_parameters_header(&e->weights), error);
    e->arena = pool_array(e->model->pool, (size_t)e->weights.persistent + 1, 1);
    if (status == UNET_OK && map != NULL)
        status = unet_safetensors_rename(file, map, error);
    if (status == UNET_OK)
        status = unet_parameters_load(&e->weights, file, UNET_LOAD_ALL, e->arena, NULL, NULL, error);
    unet_safetensors_close(file);
    const char *bad = status == UNET_OK ? unet_parameters_not_finite(&e->weights, e->arena) : NULL;
    return bad == NULL ? status
                       : unet_fail(error, UNET_IO, "%s: %s has values that are not finite", path, bad);
}

/* ---- the file ---- */

/* A TensorProto in front of its values, which come last. */
static Text tensor_head(const Export *e, const UnetParameter *p, size_t *bytes) {
    Text head = text_new(e->model->pool);
    size_t count = 1;
    for (int k = 0; k < p->rank; k++) {
        message_integer(&head, TENSOR_DIMS, p->dim[k]);
        count *= (size_t)p->dim[k];
    }
    *bytes = count * sizeof(float);
    message_integer(&head, TENSOR_TYPE, ELEMENT_FLOAT);
    message_text(&head, TENSOR_NAME, p->name);
    message_head(&head, TENSOR_RAW_DATA, *bytes);
    return head;
}

static Text model_head(const Export *e, size_t graph) {
    Text head = text_new(e->model->pool), opset = text_new(e->model->pool);
    message_integer(&head, MODEL_IR_VERSION, IR_VERSION);
    message_text(&head, MODEL_PRODUCER_NAME, "unetc");
    message_integer(&opset, OPSET_VERSION, OPSET);
    message_nested(&head, MODEL_OPSET_IMPORT, &opset);
    message_head(&head, MODEL_GRAPH, graph);
    return head;
}

typedef struct {
    UnetAtomicFile file;
    UnetError *error;
    UnetStatus status;
} Writing;

static void add_bytes(Writing *w, const void *bytes, size_t length) {
    if (w->status == UNET_OK)
        w->status = unet_atomic_write(&w->file, bytes, length, w->error);
}

/* The weights go from where they were loaded right to the file. */
static UnetStatus write_model(const Export *e, const char *path, UnetError *error) {
    const int count = e->weights.nparameter;
    Text *field = NEW_ARRAY(e->model->pool, Text, count);
    size_t *bytes = NEW_ARRAY(e->model->pool, size_t, count), graph = e->onnx.message.length;
    for (int i = 0; i < count; i++) {
        const Text head = tensor_head(e, &e->weights.parameter[i], &bytes[i]);
        field[i] = text_new(e->model->pool);
        message_head(&field[i], GRAPH_INITIALIZER, head.length + bytes[i]);
        text_bytes(&field[i], head.bytes, head.length);
        graph += field[i].length + bytes[i];
    }
    if (graph >= INT32_MAX)
        return unet_fail(error, UNET_IO, "%s: it would be larger than 2 GiB, the limit of an ONNX file",
                         path);
    Writing w = {.error = error};
    w.status = unet_atomic_open(&w.file, path, error);
    if (w.status != UNET_OK)
        return w.status;
    const Text head = model_head(e, graph);
    add_bytes(&w, head.bytes, head.length);
    add_bytes(&w, e->onnx.message.bytes, e->onnx.message.length);
    for (int i = 0; i < count; i++) {
        add_bytes(&w, field[i].bytes, field[i].length);
        add_bytes(&w, (const char *)e->arena + e->weights.parameter[i].offset, bytes[i]);
    }
    if (w.status == UNET_OK)
        return unet_atomic_commit(&w.file, error);
    unet_atomic_abandon(&w.file);
    return w.status;
}

/* The network's numbers differ from the numbers of the picture, and the file does not say so. */
static void note_normalized(const Model *m) {
    for (int i = 0; i < m->ninput; i++) {
        const Input *input = &m->input[i];
        if (input->normalizing == AS_READ)
            continue;
        diag_begin(m->diag, WARNING, "U0707", input->span,
                   "the ONNX file takes `%s` as it is after `normalize`: (value - mean) / std",
                   input->name);
        if (input->normalizing == NORMALIZED_AS_MEASURED)
            diag_note(m->diag,
                      "mean and std were measured; the weights file has them, channel by channel, in its "
                      "metadata "
                      "as `unet.normal.%s`",
                      input->name);
        diag_end(m->diag);
    }
}

/* Nor that volumes are brought to another grid before. */
static void note_spacing(const Model *m) {
    const double *spacing = m->data.spacing;
    if (spacing[0] == 0)
        return;
    diag_begin(m->diag, WARNING, "U0707", m->data.spacing_span,
               "the ONNX file takes volumes whose voxels are %g x %g x %g mm (depth first) already",
               spacing[0], spacing[1], spacing[2]);
    diag_note(m->diag, "the way back to the grid of a volume is not in the file either");
    diag_end(m->diag);
}

int export_onnx(const Model *model, const char *weights, const char *map, const char *path) {
    Pool *pool = model->pool;
    const int nvalue = model->graph->nvalue;
    Export e = {.model = model,
                .onnx = {.pool = pool,
                         .graph = model->graph,
                         .name = NEW_ARRAY(pool, const char *, nvalue),
                         .joined = NEW_ARRAY(pool, bool, nvalue),
                         .message = text_new(pool)},
                .needed = NEW_ARRAY(pool, bool, nvalue),
                .output = NEW_ARRAY(pool, const char *, model->noutput)};
    UnetError error;
    note_normalized(model);
    note_spacing(model);
    find_needed(&e);
    choose_names(&e);
    if (!add_graph(&e))
        return EXIT_ERRORS;
    if (!list_weights(&e))
        environment_error("%s: it would be larger than 2 GiB, the limit of an ONNX file", path);
    UnetStatus status = load_weights(&e, weights, map, &error);
    if (status == UNET_OK)
        status = write_model(&e, path, &error);
    if (status != UNET_OK)
        environment_error("%s", error.text);
    return EXIT_DONE;
}
