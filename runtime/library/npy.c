/* npy.c - see npy.h.  A head is a magic word, a version, a length, and a dictionary as Python writes it:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (480, 640), } */
#include "npy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 16 };

const char npy_magic[] = "\x93NUMPY";

static bool is_little_endian(void) {
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    return low != 0;
}

/* Returns the text behind KEY and its colon, or NULL. */
static const char *value_of(const char *text, const char *key) {
    const char *found = strstr(text, key);
    if (found == NULL) {
        return NULL;
    }
    found += strlen(key);
    found += strspn(found, " ");
    return *found == ':' ? found + 1 + strspn(found + 1, " ") : NULL;
}

/* '<f4', in quotes of either kind. */
static bool read_type(const char *text, NpyHead *head) {
    static const struct {
        char letter;
        NumberKind kind;
        int least, most; /* bytes */
    } kinds[] = {{'u', NUMBER_UNSIGNED, 1, 8},
                 {'i', NUMBER_SIGNED, 1, 8},
                 {'f', NUMBER_FLOAT, 2, 8},
                 {'b', NUMBER_UNSIGNED, 1, 1}};
    if (text == NULL || strlen(text) < 5 || (*text != '\'' && *text != '"') ||
        strchr("<>|=", text[1]) == NULL) {
        return false;
    }
    const int bytes = isdigit((unsigned char)text[3]) ? text[3] - '0' : 0;
    const bool ends = text[4] == *text;
    head->swapped = bytes > 1 && (text[1] == (is_little_endian() ? '>' : '<'));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (text[2] == kinds[i].letter && bytes >= kinds[i].least && bytes <= kinds[i].most &&
            (bytes & (bytes - 1)) == 0 && ends) {
            head->kind = kinds[i].kind;
            head->bits = 8 * bytes;
            head->truth = text[2] == 'b';
            return true;
        }
    }
    return false;
}

/* "(480, 640)" */
static bool read_shape(const char *text, NpyHead *head) {
    if (text == NULL || *text != '(') {
        return false;
    }
    text += 1 + strspn(text + 1, " ");
    for (head->axes = 0; *text != ')'; head->axes++) {
        char *end;
        if (head->axes == NPY_AXES || !isdigit((unsigned char)*text)) {
            return false;
        }
        head->size[head->axes] = strtoll(text, &end, 10);
        if (head->size[head->axes] < 1 || head->size[head->axes] > INT32_MAX) {
            return false;
        }
        text = end + strspn(end, "L, ");
    }
    return head->axes > 0;
}

static const char *read_text(const NpyBytes *from, uint32_t length, NpyHead *head) {
    char *text = malloc((size_t)length + 1);
    if (text == NULL) {
        return "out of memory";
    }
    const char *why = NULL;
    if (!from->read(from->context, (uint8_t *)text, length)) {
        why = "it ends within its head";
    } else {
        text[length] = '\0';
        const char *order = value_of(text, "'fortran_order'");
        head->fortran = order != NULL && strncmp(order, "True", 4) == 0;
        if (!read_type(value_of(text, "'descr'"), head)) {
            why = "its numbers are neither whole nor floats nor truths: write it anew by "
                  "`.astype(\"float32\")`";
        } else if (order == NULL || !read_shape(value_of(text, "'shape'"), head)) {
            why = "its shape has no axes, more than four, or one without a point";
        }
    }
    free(text);
    return why;
}

const char *npy_read_head(const NpyBytes *from, NpyHead *head) {
    uint8_t start[NPY_MAGIC + 2], length[4] = {0};
    *head = (NpyHead){.axes = 0};
    if (!from->read(from->context, start, sizeof start)) {
        return "it ends within its head";
    }
    if (memcmp(start, npy_magic, NPY_MAGIC) != 0 || start[NPY_MAGIC] < 1 || start[NPY_MAGIC] > 3) {
        return "no array of NumPy, or of a later version";
    }
    if (!from->read(from->context, length, start[NPY_MAGIC] == 1 ? 2 : 4)) {
        return "it ends within its head";
    }
    const uint32_t bytes =
        (uint32_t)length[3] << 24 | (uint32_t)length[2] << 16 | (uint32_t)length[1] << 8 | length[0];
    return bytes <= MOST_TEXT ? read_text(from, bytes, head) : "a head of an unusual length";
}

size_t npy_number_bytes(const NpyHead *head) {
    return (size_t)head->bits / 8;
}

double npy_number(const NpyHead *head, const uint8_t *at) {
    uint8_t swapped[8];
    const size_t bytes = npy_number_bytes(head);
    for (size_t i = 0; head->swapped && i < bytes; i++) {
        swapped[i] = at[bytes - 1 - i];
    }
    return file_number(head->kind, head->bits, head->swapped ? swapped : at);
}

void npy_strides(const NpyHead *head, int64_t stride[NPY_AXES]) {
    int64_t step = 1;
    for (int i = 0; i < head->axes; i++) {
        const int axis = head->fortran ? i : head->axes - 1 - i;
        stride[axis] = step;
        step *= head->size[axis];
    }
}
