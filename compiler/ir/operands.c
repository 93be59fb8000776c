/* operands.c - reads the operand notation of ops.def. */
#include "ir/operands.h"
#include "base/diag.h"

#include <ctype.h>
#include <string.h>

/* `name=x` names the input whose place the output may take; it stands further right. */
typedef struct {
    const char *name;
    int length;
} InPlace;

static int word_length(const char *s) {
    int length = 0;
    while (isalnum((unsigned char)s[length]) || s[length] == '_')
        length++;
    return length;
}

static const char *read_access(const char *s, Operand *operand, InPlace *in_place) {
    static const char mark[] = "=+~!^";
    static const Access access[] = {ACCESS_WRITE, ACCESS_SUM, ACCESS_UPDATE, ACCESS_SCRATCH,
                                    ACCESS_PARAMETER};
    const char *found = *s == '\0' ? NULL : strchr(mark, *s);
    if (found == NULL)
        return s;
    operand->access = access[found - mark];
    s++;
    if (operand->access == ACCESS_WRITE)
        *in_place = (InPlace){s, word_length(s)};
    return s + in_place->length;
}

static const char *read_marks(const char *s, Operand *operand, bool *variadic) {
    while (*s != '\0' && *s != ' ') {
        if (*s == '?')
            operand->optional = true;
        else if (*s == '*')
            operand->region = true;
        else if (*s == '#')
            operand->gives_rows = true;
        else if (strchr("'%$", *s) != NULL)
            operand->codes = *s == '\'' ? CODES_SIGN : *s == '%' ? CODES_ANY : CODES_FINE;
        else if (*s == '&')
            operand->stays = true;
        else if (*s == '|')
            operand->stays = operand->may_stay = true;
        else if (strncmp(s, "[]", 2) == 0)
            operand->segments = true, s++;
        else if (strncmp(s, "...", 3) == 0)
            *variadic = true, s += 2;
        else
            unfinished_sources("compiler/ir/ops.def: `%s` is no mark of an operand", s);
        s++;
    }
    return s;
}

static bool is_output(Access access) {
    return access == ACCESS_WRITE || access == ACCESS_SUM || access == ACCESS_SCRATCH;
}

static int input_of_name(const Operands *o, const char *name, int length) {
    for (int k = 0; k < o->nin; k++)
        if (o->in[k].length == length && strncmp(o->in[k].name, name, (size_t)length) == 0)
            return k;
    unfinished_sources("compiler/ir/ops.def: an operator has no input `%.*s`", length, name);
}

int input_named(const Operands *o, const char *name) {
    return input_of_name(o, name, (int)strlen(name));
}

Operands operands_parse(const char *text) {
    Operands o = {0};
    InPlace in_place[MAX_OUTPUTS] = {{0}};
    for (const char *s = text; *s != '\0'; s += *s == ' ') {
        Operand operand = {.name = s, .length = word_length(s), .in_place = -1};
        InPlace wanted = {0};
        s = read_marks(read_access(s + operand.length, &operand, &wanted), &operand, &o.variadic);
        CHECK(operand.length > 0);
        if (is_output(operand.access)) {
            CHECK(o.nin == 0 && o.nout < MAX_OUTPUTS);
            in_place[o.nout] = wanted;
            o.out[o.nout++] = operand;
        } else {
            CHECK(o.nin < MAX_INPUTS);
            o.in[o.nin++] = operand;
        }
    }
    for (int k = 0; k < o.nout; k++)
        if (in_place[k].length > 0)
            o.out[k].in_place = input_of_name(&o, in_place[k].name, in_place[k].length);
    return o;
}
