/* habits.c - help for a word that fits nowhere here, but does so in Python, PyTorch or C.
 *
 * Each habit is a function that looks at the words around the mistake, and returns what to write instead,
 * or NULL.  The first that knows something is asked.
 */
#include "parse.h"
#include "unet/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the line ------------------------------------------------------------------------------------- */

/* The place of the word found; the end of a line is no word of the source. */
static const char *place(const Parser *p) {
    return *p->current.text == '\n' ? p->at - 1 : p->current.text;
}

static bool found(const Parser *p, const char *text) {
    return *p->current.text != '\n' && word_is(p->current, text);
}

static bool is_number(Word word) {
    return isdigit((unsigned char)*word.text) != 0;
}

/* A name or keyword in front of the word found, on the same line. */
static bool behind_name(const Parser *p) {
    return p->last.span.line == p->current.span.line && in_word(*p->last.text) && !is_number(p->last);
}

static const char *line_start(const Parser *p, const char *at) {
    while (at > p->text && at[-1] != '\n')
        at--;
    return at + strspn(at, " \t");
}

/* From FROM to the end of its line, without comment, blanks and brace. */
static const char *rest(Parser *p, const char *from) {
    const char *to = from + strcspn(from, "\r\n#");
    while (to > from && strchr(" \t{", to[-1]) != NULL)
        to--;
    from += strspn(from, " \t");
    return pool_copy(p->pool, from, to > from ? (size_t)(to - from) : 0);
}

/* Behind the parenthesis that closes the one at OPEN; NULL: none does on its line. */
static const char *behind_call(const char *open) {
    int depth = 0;
    for (const char *at = open; strchr("\r\n#", *at) == NULL; at++) { /* the end of the text, too */
        depth += (*at == '(') - (*at == ')');
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

/* From the start of the line to the word found. */
static const char *front(Parser *p) {
    const char *from = line_start(p, place(p)), *to = place(p);
    while (to > from && strchr(" \t", to[-1]) != NULL)
        to--;
    return pool_copy(p->pool, from, (size_t)(to - from));
}

/* ---- declarations --------------------------------------------------------------------------------- */

static bool starts_with(const Parser *p, const char *const *keywords) {
    const char *at = line_start(p, place(p));
    int length = 0;
    while (in_word(at[length]))
        length++;
    return word_among((Word){at, length, {0, 0, 0}}, keywords);
}

static const char *const inputs[] = {"input", "target", NULL};
static const char *const outputs[] = {"output", "layer", "let", NULL};

static const char *type_behind_equals(Parser *p, const Misfit *m) {
    if (!found(p, "=") || !expects(m, "':'") || !starts_with(p, inputs))
        return NULL;
    return pool_text(p->pool, "a type stands behind `:`: write `%s : %s`", front(p), rest(p, p->at));
}

static const char *value_behind_colon(Parser *p, const Misfit *m) {
    if (!found(p, ":") || !expects(m, "'='") || !starts_with(p, outputs))
        return NULL;
    return pool_text(p->pool, "write `%s = %s`", front(p), rest(p, p->at + (*p->at == '=')));
}

/* `photo : image(3, 32, 32)` */
static const char *type_without_keyword(Parser *p, const Misfit *m) {
    if (!found(p, ":") || !behind_name(p) || p->last.text != line_start(p, p->last.text) ||
        !expects(m, "'{'"))
        return NULL;
    return pool_text(p->pool, "write `input %s : %s`, or `target` for what the output is compared with",
                     front(p), rest(p, p->at));
}

/* `output conv(x, 3, 1)`, `output x` */
static const char *output_without_name(Parser *p, const Misfit *m) {
    static const char *const output[] = {"output", NULL};
    if (!expects(m, "'='") || !starts_with(p, output) || found(p, ":"))
        return NULL;
    return pool_text(p->pool, "an output has a name of its own: `output result = %s`",
                     rest(p, line_start(p, place(p)) + strlen("output")));
}

/* `ouput y = x`: to the parser its first word is a name. */
static const char *misspelt(Parser *p, const Misfit *m) {
    static const char *const words[] = {"let",    "input", "target", "output", "block", "layer",
                                        "return", "for",   "if",     "elif",   "else"};
    const bool first = behind_name(p) && p->last.text == line_start(p, p->last.text);
    const char *near = first && expects(m, "'{'")
                           ? unet_nearest_word(word_text(p, p->last), words, sizeof words / sizeof *words)
                           : NULL;
    return near == NULL ? NULL : pool_text(p->pool, "did you mean `%s`?", near);
}

/* ---- calls and settings --------------------------------------------------------------------------- */

/* `c : int` of a block, `c : 16` among arguments, `epochs: 3` in a section */
static const char *colon(Parser *p, const Misfit *m) {
    static const char *const block[] = {"block", NULL};
    if (!found(p, ":") || !behind_name(p))
        return NULL;
    if (expects(m, "')'") && starts_with(p, block) && !isdigit((unsigned char)p->at[strspn(p->at, " ")]))
        return "the arguments of a block have no types: write their names alone";
    if (expects(m, "')'"))
        return pool_text(p->pool, "write `%s =%.*s`", word_text(p, p->last), (int)strcspn(p->at, ",)\r\n#"),
                         p->at);
    return expects(m, "'}'") ? pool_text(p->pool, "a setting stands without `:`: `%s %s`",
                                         word_text(p, p->last), rest(p, p->at))
                             : NULL;
}

/* `conv x, 8, 3` */
static const char *call_without_parentheses(Parser *p, const Misfit *m) {
    const char first = *place(p);
    if (!behind_name(p) || !expects(m, "the end of the line") || expects(m, "'}'") ||
        (!in_word(first) && first != '"'))
        return NULL;
    const char *arguments = rest(p, place(p)), *arrow = strstr(arguments, "->");
    int length = (int)(arrow == NULL ? strlen(arguments) : (size_t)(arrow - arguments));
    while (length > 0 && arguments[length - 1] == ' ')
        length--;
    return pool_text(p->pool, "a call has parentheses: `%s(%.*s)`", word_text(p, p->last), length,
                     arguments);
}

/* `optimizer adam lr = 1e-3` */
static const char *kind_without_parentheses(Parser *p, const Misfit *m) {
    static const char *const settings[] = {"optimizer", "schedule", "loss", "metric", NULL};
    if (!expects(m, "','") || !expects(m, "'}'") || !behind_name(p) || !in_word(*place(p)) ||
        !starts_with(p, settings))
        return NULL;
    return pool_text(p->pool, "a call has parentheses: `%s(%s)`", word_text(p, p->last), rest(p, place(p)));
}

/* `save every 10 epochs` */
static const char *setting_without_commas(Parser *p, const Misfit *m) {
    const char first = *place(p);
    if (!expects(m, "','") || !expects(m, "'}'") || (!in_word(first) && first != '"'))
        return NULL;
    return "commas separate the arguments of a setting, and words stand in quotes: `save 10, \"epochs\"`";
}

/* `64 x 64`, `64x64` */
static const char *times(Parser *p, const Misfit *m) {
    const char *at = place(p);
    if (!is_number(p->last) || (*at != 'x' && *at != 'X') || !expects(m, "','"))
        return NULL;
    const char *digits = at + 1 + strspn(at + 1, " ");
    const int length = (int)strspn(digits, "0123456789");
    return length == 0 ? NULL
                       : pool_text(p->pool, "write `%s, %.*s`", word_text(p, p->last), length, digits);
}

/* `betas = (0.9, 0.999)`, `concat((a, b))` */
static const char *tuple(Parser *p, const Misfit *m) {
    if (!found(p, ",") || !expects(m, "')'") || p->nopen == 0 || *p->open[p->nopen - 1].text != '(')
        return NULL;
    const char *open = p->open[p->nopen - 1].text, *behind = behind_call(open);
    return behind == NULL ? NULL
                          : pool_text(p->pool, "a list stands in brackets: `[%.*s]`",
                                      (int)(behind - open - 2), open + 1);
}

/* `(a, b) = f(x)` */
static const char *tuple_set(Parser *p, const Misfit *m) {
    if (!found(p, "(") || !expects(m, "let"))
        return NULL;
    const char *behind = behind_call(p->current.text);
    if (behind == NULL || behind[strspn(behind, " ")] != '=')
        return NULL;
    return pool_text(p->pool, "write `%.*s %s`", (int)(behind - p->at - 1), p->at, rest(p, behind));
}

/* `Conv2d(3, 8, 3)(x)` */
static const char *layer_called(Parser *p, const Misfit *m) {
    (void)m;
    return found(p, "(") && word_is(p->last, ")")
               ? "an operator takes its input with its other arguments: `conv(x, 64, 3)`, `max_pool(x)`, "
                 "`mse(a, b)`"
               : NULL;
}

/* `[f(i) for i in list]` */
static const char *comprehension(Parser *p, const Misfit *m) {
    return found(p, "for") && (expects(m, "']'") || expects(m, "')'"))
               ? "a list grows in a loop: `xs = []`, then `for i in range(4) { xs += [relu(x)] }`"
               : NULL;
}

/* `input noisy image(3, 64, 64)` */
static const char *no_colon(Parser *p, const Misfit *m) {
    if (!expects(m, "':'") || !behind_name(p) || !in_word(*place(p)))
        return NULL;
    return pool_text(p->pool, "write `%s : %s`", front(p), rest(p, place(p)));
}

static const char *type_without_name(Parser *p, const Misfit *m) {
    (void)m;
    return found(p, "(") && word_is(p->last, ":") && starts_with(p, inputs)
               ? pool_text(p->pool, "write `image%s`", rest(p, place(p)))
               : NULL;
}

/* `print(x)` */
static const char *print(Parser *p, const Misfit *m) {
    (void)m;
    return found(p, "(") && (word_is(p->last, "print") || word_is(p->last, "summary"))
               ? "remove it: `unetc check FILE` prints all shapes, `unetc mem FILE` the memory"
               : NULL;
}

/* `f"enc{i}"` */
static const char *f_string(Parser *p, const Misfit *m) {
    (void)m;
    return *place(p) == '"' && p->last.text + 1 == place(p) &&
                   (word_is(p->last, "f") || word_is(p->last, "r"))
               ? pool_text(p->pool, "braces hold values in any text: write `%s`", word_text(p, p->current))
               : NULL;
}

/* ---- operators ------------------------------------------------------------------------------------ */

/* `0.5 l1(a, b)`, `2 x`; a setting may have a number in front of a word. */
static const char *factor(Parser *p, const Misfit *m) {
    const char *at = place(p);
    if (!is_number(p->last) || p->last.span.line != p->current.span.line || !in_word(*at) ||
        (expects(m, "'}'") && *p->at != '('))
        return NULL;
    const char *end = *p->at == '(' ? behind_call(p->at) : p->at;
    return end == NULL
               ? NULL
               : pool_text(p->pool, "write `%s * %.*s`", word_text(p, p->last), (int)(end - at), at);
}

static const char *percent(Parser *p, const Misfit *m) {
    if (!word_is(p->last, "%") || !expects(m, "a whole number") || p->last.text == p->text)
        return NULL;
    const char *digits = p->last.text;
    while (digits > p->text && (isdigit((unsigned char)digits[-1]) || digits[-1] == '.'))
        digits--;
    return digits == p->last.text ? NULL : pool_text(p->pool, "write `%.10g`", atof(digits) / 100);
}

static const char *comparison(Parser *p, const Misfit *m) {
    static const char *const keywords[] = {"if", "elif", NULL};
    return found(p, "=") && expects(m, "'{'") && starts_with(p, keywords)
               ? "two values are compared by `==`"
               : NULL;
}

/* `skip ++ up` */
static const char *joined(Parser *p, const Misfit *m) {
    (void)m;
    return found(p, "+") && word_is(p->last, "+") && p->last.text + 1 == p->current.text
               ? "tensors are joined by `concat(a, b)`"
               : NULL;
}

/* `x -= 1`, `x++` */
static const char *assignment(Parser *p, const Misfit *m) {
    const char op = *place(p);
    if (!behind_name(p) || !expects(m, "'='") || strchr("-+*/", op) == NULL)
        return NULL;
    const char *name = word_text(p, p->last);
    return *p->at == op    ? pool_text(p->pool, "write `%s = %s %c 1`", name, name, op)
           : *p->at == '=' ? pool_text(p->pool, "write `%s = %s %c %s`", name, name, op, rest(p, p->at + 1))
                           : NULL;
}

static const char *of_c(Parser *p, const Misfit *m) {
    (void)m;
    return found(p, "!")    ? "write `not`"
           : found(p, "//") ? "a comment begins with `#`"
           : found(p, "@")  ? "`*` multiplies element by element; there are no products of matrices"
           : found(p, "&")  ? "write `and`"
           : found(p, "|")  ? "tensors are joined by `concat(a, b)`; in a condition write `or`"
           : found(p, "?")  ? "a choice is written `a if condition else b`"
                            : NULL;
}

static const char *loop_of_c(Parser *p, const Misfit *m) {
    return found(p, "(") && expects(m, "a name") && word_is(p->last, "for")
               ? "a loop runs over a list: `for i in range(4) { ... }`"
               : NULL;
}

static const char *slice(Parser *p, const Misfit *m) {
    (void)m;
    const bool in_brackets = p->nopen > 0 && *p->open[p->nopen - 1].text == '[';
    return found(p, ":") && in_brackets ? "there are no slices: `chunk(x, n)` divides channels, `match(x, "
                                          "y, \"crop\")` cuts the middle"
                                        : NULL;
}

const char *habit(Parser *p, const Misfit *m) {
    static const char *(*const habits[])(Parser *, const Misfit *) = {
        type_behind_equals,
        type_without_keyword,
        value_behind_colon,
        output_without_name,
        assignment,
        joined,
        misspelt,
        colon,
        tuple,
        tuple_set,
        layer_called,
        comprehension,
        no_colon,
        type_without_name,
        print,
        f_string,
        times,
        factor,
        percent,
        comparison,
        of_c,
        loop_of_c,
        slice,
        call_without_parentheses,
        kind_without_parentheses,
        setting_without_commas,
    };
    const char *help = NULL;
    for (size_t i = 0; i < sizeof habits / sizeof *habits && help == NULL; i++)
        help = habits[i](p, m);
    return help;
}
