/* fields.h - the numbers of the fields in ONNX's messages, and of its types: onnx.proto3 of
 * github.com/onnx/onnx. */
#ifndef ONNX_FIELDS_H
#define ONNX_FIELDS_H

enum {
    MODEL_IR_VERSION = 1,
    MODEL_PRODUCER_NAME = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_GRAPH = 7,
    MODEL_OPSET_IMPORT = 8,
    OPSET_VERSION = 2,

    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_INITIALIZER = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,

    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OP_TYPE = 4,
    NODE_ATTRIBUTE = 5,

    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_FLOAT = 2,
    ATTRIBUTE_INTEGER = 3,
    ATTRIBUTE_TEXT = 4,
    ATTRIBUTE_INTEGERS = 8,
    ATTRIBUTE_TYPE = 20,

    TENSOR_DIMS = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_RAW_DATA = 9,

    VALUE_NAME = 1,
    VALUE_TYPE = 2,
    VALUE_DOC = 3,
    TYPE_TENSOR = 1,
    TENSOR_TYPE_ELEMENT = 1,
    TENSOR_TYPE_SHAPE = 2,
    SHAPE_DIM = 1,
    DIM_VALUE = 1,
    DIM_PARAMETER = 2
};

enum { IS_FLOAT = 1, IS_INTEGER = 2, IS_TEXT = 3, IS_INTEGERS = 7 }; /* attributes */
enum { ELEMENT_FLOAT = 1, ELEMENT_UINT8 = 2, ELEMENT_INT64 = 7 };    /* tensors */

#endif
