/* message.c - see message.h. */
#include "onnx/message.h"

#include <string.h>

enum { VARINT = 0, LENGTH_DELIMITED = 2, FIXED_32 = 5 };

/* Seven bits a byte, the lowest first; all but the last have the highest bit set. */
static void add_varint(Text *message, uint64_t value) {
    unsigned char byte[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        byte[n++] = (unsigned char)(value | 0x80);
    byte[n++] = (unsigned char)value;
    text_bytes(message, (const char *)byte, n);
}

static void add_key(Text *message, int field, int type) {
    add_varint(message, (uint64_t)field << 3 | (uint64_t)type);
}

void message_integer(Text *message, int field, int64_t value) {
    add_key(message, field, VARINT);
    add_varint(message, (uint64_t)value);
}

void message_integers(Text *message, int field, const int64_t *value, int count) {
    for (int i = 0; i < count; i++)
        message_integer(message, field, value[i]);
}

void message_float(Text *message, int field, float value) {
    uint32_t bits;
    unsigned char byte[sizeof bits];
    memcpy(&bits, &value, sizeof bits);
    for (size_t k = 0; k < sizeof bits; k++)
        byte[k] = (unsigned char)(bits >> 8 * k);
    add_key(message, field, FIXED_32);
    text_bytes(message, (const char *)byte, sizeof byte);
}

void message_head(Text *message, int field, size_t length) {
    add_key(message, field, LENGTH_DELIMITED);
    add_varint(message, length);
}

void message_bytes(Text *message, int field, const void *bytes, size_t length) {
    message_head(message, field, length);
    text_bytes(message, bytes, length);
}

void message_text(Text *message, int field, const char *value) {
    message_bytes(message, field, value, strlen(value));
}

void message_nested(Text *message, int field, const Text *inner) {
    message_bytes(message, field, inner->length > 0 ? inner->bytes : "", inner->length);
}
