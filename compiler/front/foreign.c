/* foreign.c - see foreign.h.
 *
 * The names are in foreign.def.  Names are found without regard to case, `_` and a dimension: Conv2d,
 * conv2d and Conv are one.
 */
#include "front/foreign.h"
#include "ir/ops.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Names with a blank between them; a `*` at the end of one stands for any letters. */
typedef struct {
    const char *theirs, *ours;
} Row;

static const Row calls[] = {
#define CALL_IS(names, ours) {names, ours},
#include "front/foreign.def"
};
static const Row call_helps[] = {
#define CALL_HELP(names, help) {names, help},
#include "front/foreign.def"
};
static const Row updates[] = {
#define UPDATE_IS(names, ours) {names, ours},
#include "front/foreign.def"
};
static const Row update_helps[] = {
#define UPDATE_HELP(names, help) {names, help},
#include "front/foreign.def"
};
static const Row setting_helps[] = {
#define SETTING_HELP(names, help) {names, help},
#include "front/foreign.def"
};

enum { LONGEST = 64 }; /* of a name, with the zero */
#define COUNT(list) (sizeof(list) / sizeof *(list))

static const Row arguments[] = {
    {"kernel_size", "kernel"},
    {"out_channels", "channels"},
    {"out", "channels"},
    {"filters", "channels"},
    {"features", "channels"},
    {"num_features", "channels"},
    {"strides", "stride"},
    {"dilation_rate", "dilation"},
    {"use_bias", "bias"},
    {"negative_slope", "slope"},
    {"num_groups", "groups"},
    {"num_parameters", "parameters"},
    {"scale_factor", "scale"},
    {"output_size", "size"},
    {"ceil_mode", "ceil"},
    {"upscale_factor", "r"},
    {"downscale_factor", "r"},
    {"chunks", "n"},
    {"in_channels", ""},
    {"inplace", ""},
    {"dim", ""},
    {"axis", ""},
    {"learning_rate", "lr"},
    {"reduction", ""},
};

static const Row update_arguments[] = {
    {"gamma", "factor"},
    {"step_size", "every"},
    {"milestones", "at"},
    {"eta_min", "to"},
    {"pct_start", "rise"},
    {"div_factor", "div"},
    {"final_div_factor", "final_div"},
    {"rho", "alpha"},
    {"epsilon", "eps"},
    {"decay_rate", "factor"},
    {"T_max", ""},
    {"max_lr", ""},
    {"total_steps", ""},
    {"last_epoch", ""},
    {"mode", ""},
    {"verbose", ""},
    {"params", ""},
};

/* NAME in small letters and without `_`; false if it is longer than any. */
static bool plain(const char *name, char *text, size_t size) {
    size_t length = 0;
    for (; *name != '\0'; name++) {
        if (*name == '_')
            continue;
        if (length + 1 == size)
            return false;
        text[length++] = (char)tolower((unsigned char)*name);
    }
    text[length] = '\0';
    return length > 0;
}

static const char *look_up(const Row *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].theirs, name) == 0)
            return list[i].ours;
    return NULL;
}

/* NAMES has NAME, as a whole or by a `*`. */
static bool has_name(const char *names, const char *name) {
    const size_t length = strlen(name);
    while (*names != '\0') {
        const size_t own = strcspn(names, " ");
        const bool starred = own > 0 && names[own - 1] == '*';
        if (starred ? strncmp(names, name, own - 1) == 0 : own == length && memcmp(names, name, own) == 0)
            return true;
        names += own + (names[own] == ' ');
    }
    return false;
}

static const char *find(const Row *rows, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (has_name(rows[i].theirs, name))
            return rows[i].ours;
    return NULL;
}

/* TEXT without the first `1d`, `2d` or `3d`; false if it has none. */
static bool drop_dimension(char *text) {
    for (char *at = text; at[0] != '\0'; at++)
        if (at[0] >= '1' && at[0] <= '3' && at[1] == 'd') {
            memmove(at, at + 2, strlen(at + 2) + 1);
            return *text != '\0';
        }
    return false;
}

/* NAME in ROWS, with its dimension or without. */
static const char *find_plain(const Row *rows, size_t count, const char *name) {
    char text[LONGEST];
    if (!plain(name, text, sizeof text))
        return NULL;
    const char *ours = find(rows, count, text);
    return ours == NULL && drop_dimension(text) ? find(rows, count, text) : ours;
}

/* The operator that is called NAME but for capitals, `_` and the dimension. */
static const char *same_operator(const char *name) {
    char text[LONGEST], own[LONGEST];
    if (!plain(name, text, sizeof text))
        return NULL;
    do
        for (Op op = 0; op < OPS; op++)
            if (op_table[op].signature != NULL && plain(op_table[op].name, own, sizeof own) &&
                strcmp(own, text) == 0)
                return op_table[op].name;
    while (drop_dimension(text));
    return NULL;
}

const char *foreign_operator(const char *name) {
    const char *ours = find_plain(calls, COUNT(calls), name);
    return ours == NULL && foreign_call_help(name) == NULL ? same_operator(name) : ours;
}

const char *foreign_call_help(const char *name) {
    return find_plain(call_helps, COUNT(call_helps), name);
}

const char *foreign_argument(const char *name) {
    return look_up(arguments, COUNT(arguments), name);
}

const char *foreign_update(const char *name) {
    return find_plain(updates, COUNT(updates), name);
}

const char *foreign_update_help(const char *name) {
    return find_plain(update_helps, COUNT(update_helps), name);
}

const char *foreign_update_argument(const char *name) {
    const char *ours = look_up(update_arguments, COUNT(update_arguments), name);
    return ours != NULL ? ours : foreign_argument(name);
}

const char *foreign_setting(const char *name) {
    return find_plain(setting_helps, COUNT(setting_helps), name);
}
