/* onnx.h - a trained network as an ONNX file, for programs of others.
 *
 * ONNX: onnx.ai, opset 17, IR version 8.  The network predicts: from the inputs of the file (f32, NCHW, 0
 * to 1 where they are pictures) to its outputs.  The batch is left open; the size comes from the file, or
 * from --size.
 */
#ifndef ONNX_H
#define ONNX_H

#include "ir/model.h"

/* Writes MODEL, as lowered for prediction, with the weights in the safetensors file WEIGHTS, under the
 * names that the file MAP gives them, or NULL, to PATH; returns an exit code.  The file appears whole or
 * not at all. */
int export_onnx(const Model *model, const char *weights, const char *map, const char *path);

#endif
