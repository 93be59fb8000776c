/* message.h - writes messages of Protocol Buffers, the encoding of ONNX files.
 *
 * A message is a sequence of fields, each a number and a value; one of variable length has its length in
 * front.  So messages are made from the inside out.  Encoding: protobuf.dev/programming-guides/encoding.
 */
#ifndef ONNX_MESSAGE_H
#define ONNX_MESSAGE_H

#include "base/text.h"

#include <stdint.h>

void message_integer(Text *message, int field, int64_t value);
void message_integers(Text *message, int field, const int64_t *value, int count);
void message_float(Text *message, int field, float value);
void message_text(Text *message, int field, const char *value);
void message_bytes(Text *message, int field, const void *bytes, size_t length);
void message_nested(Text *message, int field, const Text *inner);
/* The beginning of a field of LENGTH bytes, which the caller adds. */
void message_head(Text *message, int field, size_t length);

#endif
