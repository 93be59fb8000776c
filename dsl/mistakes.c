/* mistakes.c - reports syntax errors.
 *
 * The grammar knows only that a word fits nowhere.  The intention is guessed here from the words around it:
 * a bracket that was never closed (brackets.c), a habit from Python, a keyword used as a name.
 */
#include "parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces of the source ------------------------------------------------------------------------- */

bool word_is(Word word, const char *text) {
    return (size_t)word.length == strlen(text) && strncmp(word.text, text, (size_t)word.length) == 0;
}

bool word_among(Word word, const char *const *list) {
    for (; *list != NULL; list++)
        if (word_is(word, *list))
            return true;
    return false;
}

static const char *const keywords[] = {"let",    "input", "target", "output", "block", "layer",
                                       "return", "for",   "in",     "if",     "elif",  "else",
                                       "and",    "or",    "not",    "true",   "false", NULL};

const char *const *reserved_words(void) {
    return keywords;
}

static const char *line_start(const Parser *p, const char *at) {
    while (at > p->text && at[-1] != '\n')
        at--;
    return at;
}

static const char *skip_text(const char *at, const char *end) {
    do
        at++;
    while (at < end && *at != '"' && *at != '\n');
    return at < end ? at + 1 : end;
}

/* True if the expression before *AT ends there.  Moves *AT behind the word or character there. */
static bool is_boundary(const char **at, const char *end) {
    const char *from = *at;
    if (in_word(*from)) {
        while (*at < end && in_word(**at))
            ++*at;
        return word_among((Word){from, (int)(*at - from), {0, 0, 0}}, keywords);
    }
    ++*at;
    if (*from != '=')
        return *from == ',' || *from == '{' || *from == ';';
    if (*at < end && **at == '=') {
        ++*at;
        return false;
    }
    return strchr("<>!=", from[-1]) == NULL;
}

/* The start, in its line, of the expression that goes on to END. */
static const char *expression_start(const Parser *p, const char *end) {
    const char *start[MAX_OPEN + 1] = {line_start(p, end)};
    int depth = 0;
    for (const char *at = start[0]; at < end;) {
        if (*at == '"') {
            at = skip_text(at, end);
        } else if (*at == '(' || *at == '[') {
            depth += depth < MAX_OPEN;
            start[depth] = ++at;
        } else if (*at == ')' || *at == ']') {
            depth -= depth > 0;
            at++;
        } else if (is_boundary(&at, end)) {
            start[depth] = at;
        }
    }
    return start[depth];
}

/* The end, in its line, of the expression that begins at START. */
static const char *expression_end(const char *start) {
    int depth = 0;
    const char *at = start;
    for (; *at != '\0' && strchr("\n#{};", *at) == NULL; at++) {
        depth += *at == '(' || *at == '[';
        depth -= *at == ')' || *at == ']';
        if (depth < 0 || (depth == 0 && *at == ','))
            break;
    }
    return at;
}

/* The start of the name, number, call or index that ends at END. */
static const char *operand_start(const Parser *p, const char *end) {
    const char *line = line_start(p, end), *at = end;
    while (at > line && at[-1] == ' ')
        at--;
    int depth = 0;
    for (; at > line && (depth > 0 || in_word(at[-1]) || strchr(")].", at[-1]) != NULL); at--) {
        depth += at[-1] == ')' || at[-1] == ']';
        depth -= at[-1] == '(' || at[-1] == '[';
        if (at - 1 > line && depth == 0 && (at[-1] == '(' || at[-1] == '[') && !in_word(at[-2]) &&
            at[-2] != ')')
            return at - 1;
    }
    return at;
}

static const char *piece(Parser *p, const char *from, const char *to) {
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    return pool_copy(p->pool, from, (size_t)(to - from));
}

const char *word_text(Parser *p, Word word) {
    return pool_copy(p->pool, word.text, (size_t)word.length);
}

/* ---- mistakes that the lexer recognises ----------------------------------------------------------- */

void mistake_semicolon(Parser *p) {
    if (!first_mistake(p, p->line))
        return;
    diag_begin(p->diag, ERROR, "U0101", p->current.span,
               "a statement ends with its line; `;` is not needed");
    const char *rest = p->at + strspn(p->at, " \t\r");
    diag_label(p->diag, strchr("\n#", *rest) != NULL ? "remove it" : "begin a new line here");
    diag_end(p->diag);
}

void mistake_caret(Parser *p) {
    if (!first_mistake(p, p->line))
        return;
    diag_begin(p->diag, ERROR, "U0104", p->current.span, "a power is written `**`");
    const char *right = p->at + strspn(p->at, " \t"), *end = right;
    while (in_word(*end))
        end++;
    const char *left = piece(p, operand_start(p, p->current.text), p->current.text);
    diag_help(p->diag, "write `%s**%s`", left, piece(p, right, end));
    diag_end(p->diag);
}

void mistake_unit(Parser *p) {
    if (!first_mistake(p, p->line))
        return;
    const char *text = word_text(p, p->current);
    size_t digits = strspn(text, "0123456789_.");
    const char *number = without_underscores(p, text, (int)digits);
    char prefix = text[digits];
    int shift = prefix == 'T' ? 40 : prefix == 'G' ? 30 : prefix == 'M' ? 20 : 10;
    double decimal = strtod(number, NULL);
    for (int i = 0; i < shift / 10; i++)
        decimal *= 1000;
    const char *unit = shift >= 30 ? "GiB" : shift == 20 ? "MiB" : "KiB";
    double binary = strtod(number, NULL) * (shift == 40 ? 1024 : 1);
    diag_begin(p->diag, ERROR, "U0105", p->current.span, "`%s` is ambiguous", text);
    diag_help(p->diag, "write `%.10g%s` (%s x 2^%d bytes) or `%.3g%s` (%s x 10^%d bytes)", binary, unit,
              number, shift, decimal / (double)(INT64_C(1) << (shift == 40 ? 30 : shift)), unit, number,
              shift / 10 * 3);
    diag_end(p->diag);
}

void mistake_quote(Parser *p) {
    p->nopen = 0;
    if (!first_mistake(p, p->line))
        return;
    diag_begin(p->diag, ERROR, "U0107", p->current.span, "this text has no closing quote");
    const char *text = p->current.text + 1;
    const int length = (int)strcspn(text, " \t\r\n,)]");
    if (length > 0)
        diag_help(p->diag, "write `\"%.*s\"`", length, text);
    diag_end(p->diag);
}

static void begin_python(Parser *p, Span span) {
    diag_begin(p->diag, ERROR, "U0111", span, "this is Python");
    if (!p->told_python)
        diag_note(p->diag,
                  "a .unet file looks like Python but is not: `unetc explain U0111` shows the difference");
    p->told_python = true;
}

void mistake_single_quotes(Parser *p) {
    if (!first_mistake(p, p->line))
        return;
    begin_python(p, p->current.span);
    diag_help(p->diag, "write a text in double quotes: `\"%s\"`",
              pool_copy(p->pool, p->current.text + 1, (size_t)p->current.length - 2));
    diag_end(p->diag);
}

void mistake_else_if(Parser *p) {
    if (!first_mistake(p, p->line))
        return;
    diag_begin(p->diag, ERROR, "U0109", p->current.span, "`else if` is written `elif`");
    const char *end = p->at + strcspn(p->at, "{\n#");
    diag_help(p->diag, "write `} elif %s {`", piece(p, p->at, end));
    diag_end(p->diag);
}

void mistake_bare_point(Parser *p) {
    if (!first_mistake(p, p->line))
        return;
    const char *text = word_text(p, p->current);
    bool front = text[0] == '.';
    if (!front && *p->at == '.') { /* 0..4 */
        diag_begin(p->diag, ERROR, "U0112", p->current.span, "there is no `..`");
        const char *last = p->at + strspn(p->at, ".=<"), *end = last;
        while (in_word(*end))
            end++;
        diag_help(p->diag, "write `range(%.*s, %s)`", (int)strlen(text) - 1, text,
                  last == end ? "n" : piece(p, last, end));
        diag_end(p->diag);
        return;
    }
    diag_begin(p->diag, ERROR, "U0112", p->current.span, "a number %s with a digit",
               front ? "starts" : "ends");
    diag_help(p->diag, front ? "write `0%s`" : "write `%s0`", text);
    diag_end(p->diag);
}

/* ---- a word that fits nowhere --------------------------------------------------------------------- */

bool expects(const Misfit *m, const char *symbol) {
    for (int i = 0; i < m->nexpected; i++)
        if (strcmp(m->expected[i], symbol) == 0)
            return true;
    return false;
}

static bool is_end(const Misfit *m) {
    return strncmp(m->found, "the end", 7) == 0;
}

/* The span of the word found; the end of the file is just behind the last word. */
static Span misfit_span(const Parser *p, const Misfit *m) {
    Span span = p->current.span;
    if (strcmp(m->found, "the end of the file") == 0) {
        span.column += span.width;
        span.width = 1;
    }
    return span;
}

/* `skips.append(x)`, `x.relu()` */
static void help_method(Parser *p) {
    const char *object = word_text(p, p->last), *end = p->at;
    while (in_word(*end))
        end++;
    const char *method = piece(p, p->at, end);
    const char *argument = *end == '(' ? piece(p, end + 1, expression_end(end + 1)) : "";
    if (strcmp(method, "append") == 0)
        diag_help(p->diag, "write `%s += [%s]`", object, argument);
    else if (strcmp(method, "shape") == 0)
        diag_help(p->diag, "write `channels(%s)`, or `size(%s)` for height and width", object, object);
    else if (strcmp(method, "parameters") == 0)
        diag_help(p->diag,
                  "leave it out: an optimizer changes all parameters but those that `freeze` names");
    else
        diag_help(p->diag, "there are no methods: write `%s(%s%s%s)`", method, object,
                  *argument == '\0' ? "" : ", ", argument);
}

static bool in_path(char c) {
    return in_word(c) || (c != '\0' && strchr("./*-+~", c) != NULL);
}

/* The word in front of the parenthesis that is in front of FROM, or FROM. */
static const char *callee_of(const Parser *p, const char *from) {
    const char *line = line_start(p, from), *callee = from;
    if (from < line + 2 || from[-1] != '(' || !in_word(from[-2]))
        return from;
    for (callee--; callee > line && in_word(callee[-1]);)
        callee--;
    return callee;
}

/* Is LENGTH characters at FROM the name of a file, or a pattern of such?  It has the ending of one, or it
 * is the argument of CALLEE, which takes nothing else. */
static bool is_path(const char *from, int length, Word callee) {
    static const char *const sources[] = {"images", "volumes", "labels", "list", NULL};
    static const char *const endings[] = {"png", "jpg",  "jpeg", "tif",  "tiff", "gif",         "nii",
                                          "gz",  "PNG",  "JPG",  "txt",  "csv",  "safetensors", "pth",
                                          "pt",  "ckpt", "h5",   "onnx", NULL};
    int dot = length;
    while (dot > 0 && in_word(from[dot - 1]))
        dot--;
    const bool has_ending =
        dot > 0 && from[dot - 1] == '.' && word_among((Word){from + dot, length - dot, {0, 0, 0}}, endings);
    return has_ending || (word_among(callee, sources) && memchr(from, '/', (size_t)length) != NULL);
}

/* The name of a file that lacks its quotes, where it cannot be arithmetic: `pretrained weights.pth`. */
static bool report_path(Parser *p, const Misfit *m) {
    const char *from = p->current.text, *to = from, *line = line_start(p, from);
    while (from > line && in_path(from[-1]))
        from--;
    while (in_path(*to))
        to++;
    const char *callee = callee_of(p, from);
    const int length = (int)(to - from);
    const bool quoted = (from > line && from[-1] == '"') || *to == '"';
    if (is_end(m) || quoted || !is_path(from, length, (Word){callee, (int)(from - callee) - 1, {0, 0, 0}}))
        return false;
    const int column = p->current.span.column - (int)(p->current.text - from);
    diag_begin(p->diag, ERROR, "U0119", (Span){p->current.span.line, column, length},
               "the name of a file needs quotes");
    const bool whole = callee < from && *to == ')';
    callee = whole ? callee : from;
    diag_help(p->diag, "write `%.*s\"%.*s\"%s`", (int)(from - callee), callee, length, from,
              whole ? ")" : "");
    return true;
}

static bool report_python(Parser *p, const Misfit *m) {
    static const char *const statements[] = {"def",  "class", "import", "from", "while", "lambda",
                                             "with", "try",   "pass",   "del",  NULL};
    static const char *const modules[] = {"self", "nn", "torch", "F", "np", NULL};
    bool colon = *p->current.text == ':' && p->current.length == 1 && strchr("\r\n", *p->at) != NULL;
    bool member = *p->current.text == '.' && (word_among(p->last, modules) || in_word(*p->last.text));
    if (word_among(p->last, statements) && p->last.span.line == p->current.span.line)
        begin_python(p, p->last.span);
    else if (member)
        begin_python(p, (Span){p->last.span.line, p->last.span.column, p->last.span.width + 1});
    else if (colon)
        begin_python(p, p->current.span);
    else
        return false;
    (void)m;
    if (word_is(p->last, "def"))
        diag_help(p->diag, "a block is written `block %s(x, c) { ... }`", word_text(p, p->current));
    else if (word_is(p->last, "class"))
        diag_help(p->diag, "a module is a block: `block %s(x, c) { ... }`", word_text(p, p->current));
    else if (word_is(p->last, "import") || word_is(p->last, "from"))
        diag_help(p->diag, "a file holds a whole model; operators need no import");
    else if (word_is(p->last, "while"))
        diag_help(p->diag, "write a loop over a range: `for i in range(n) { ... }`");
    else if (word_is(p->last, "lambda"))
        diag_help(p->diag,
                  "a part that is used several times is a block: `block part(x) { return relu(x) }`");
    else if (member && !word_among(p->last, modules))
        help_method(p);
    else if (member)
        diag_help(p->diag, "write the name alone, without `%s.`; the tensor is the first argument",
                  word_text(p, p->last));
    else if (colon)
        diag_help(p->diag, "write a body in braces: `{ ... }`");
    return true;
}

static bool report_keyword(Parser *p, const Misfit *m) {
    Word word = p->current;
    if (word_among(p->last, keywords) && strchr("=[.+-,)", *p->current.text) != NULL && !is_end(m) &&
        expects(m, "a name") && p->last.span.line == p->current.span.line)
        word = p->last;
    else if (!word_among(word, keywords) || !expects(m, "a name") ||
             strchr("=,):(+", p->at[strspn(p->at, " ")]) == NULL)
        return false;
    diag_begin(p->diag, ERROR, "U0110", word.span, "`%s` is a reserved word", word_text(p, word));
    diag_label(p->diag, "choose another name");
    diag_note(p->diag,
              "reserved words: let input target output block layer return for in if elif else and or not "
              "true false");
    return true;
}

static bool report_arrow(Parser *p, const Misfit *m) {
    bool operand = in_word(*p->last.text) || strchr(")]\"", *p->last.text) != NULL;
    if (strcmp(m->found, "->") != 0 || !operand)
        return false;
    const char *arrow = p->current.text;
    const char *whole = expression_start(p, arrow), *near = operand_start(p, arrow);
    const char *sum = piece(p, whole, arrow), *last = piece(p, near, arrow);
    const char *link = piece(p, p->at, expression_end(p->at));
    diag_begin(p->diag, ERROR, "U0106", p->current.span, "the left side of `->` needs parentheses");
    if (strcmp(sum, last) != 0 && near > whole) {
        diag_label(p->diag, "the chain could start at `%s` or at `%s`", last, sum);
        diag_help(p->diag, "write `(%s) -> %s` to send the sum", sum, link);
        diag_help(p->diag, "write `%s (%s -> %s)` to add the result", piece(p, whole, near), last, link);
    }
    return true;
}

/* `x -> relu`, `relu(x)`, `a + b` or `y` as a statement: its first word is read as a name to be set. */
static bool report_lost_value(Parser *p, const Misfit *m) {
    static const char *const follow[] = {"->", "(", "+", "-", "*", "/", "//", "**", NULL};
    const char *from = line_start(p, p->last.text);
    from += strspn(from, " \t");
    const bool alone = strcmp(m->found, "the end of the line") == 0 || strcmp(m->found, "'}'") == 0;
    if (from != p->last.text || !in_word(*from) || !expects(m, "'{'") || !expects(m, "'='") ||
        (!alone && (!word_among(p->current, follow) || p->last.span.line != p->current.span.line)) ||
        (!alone && *p->at == '='))
        return false;
    const char *value = piece(p, from, expression_end(from)), *help = habit(p, m);
    diag_begin(p->diag, ERROR, "U0118", p->last.span, "nothing takes this value");
    if (help != NULL)
        diag_help(p->diag, "%s", help);
    else if (p->nbrace > 0)
        diag_help(p->diag, "what a block gives back stands behind `return`: `return %s`", value);
    if (help == NULL && !alone)
        diag_help(p->diag, "give it a name: `y = %s`", value);
    return true;
}

static bool report_comparison(Parser *p, const Misfit *m) {
    static const char *const relations[] = {"==", "!=", "<", "<=", ">", ">=", NULL};
    if (!word_among(p->current, relations) || !expects(m, "and"))
        return false;
    const char *at = p->current.text;
    const char *left = piece(p, expression_start(p, at), at), *middle = piece(p, operand_start(p, at), at);
    diag_begin(p->diag, ERROR, "U0108", p->current.span, "comparisons do not chain");
    diag_help(p->diag, "write `%s and %s %s`", left, middle, piece(p, at, expression_end(at)));
    return true;
}

/* ---- expected this, found that -------------------------------------------------------------------- */

static bool is_closer(const char *symbol) {
    return strncmp(symbol, "the end", 7) == 0 || (symbol[0] == '\'' && strchr(",)]}{", symbol[1]) != NULL);
}

static void write_symbol(FILE *out, const char *symbol, int index, int count) {
    if (index > 0)
        fputs(index == count - 1 ? " or " : ", ", out);
    if (symbol[0] == '\'')
        fprintf(out, "`%c`", symbol[1]);
    else if (strncmp(symbol, "a ", 2) == 0 || strncmp(symbol, "the ", 4) == 0)
        fputs(symbol, out);
    else
        fprintf(out, "`%s`", symbol);
}

/* Behind a whole expression an operator always fits too; its closing word says more.  If an expression may
 * begin, its first words are not told apart. */
static int shorten(const Misfit *m, const char **symbol) {
    bool value = expects(m, "a whole number"), closer = false;
    int n = 0;
    if (expects(m, "let") && !value)
        symbol[n++] = expects(m, "input") ? "a statement" : "a setting";
    else if (value)
        symbol[n++] = "a value";
    for (int i = 0; i < m->nexpected; i++)
        closer |= is_closer(m->expected[i]);
    if (closer && expects(m, "','"))
        symbol[n++] = "','";
    for (int i = 0; i < m->nexpected; i++) {
        if (strcmp(m->expected[i], "','") == 0)
            continue;
        bool wanted = closer ? is_closer(m->expected[i]) : n == 0;
        bool noise =
            strcmp(m->expected[i], "the end of the file") == 0 && expects(m, "the end of the line");
        if (wanted && !noise &&
            !(n > 0 && strncmp(symbol[0], "a s", 3) == 0 && !strchr("'", m->expected[i][0])))
            symbol[n++] = m->expected[i];
    }
    return n;
}

static const char *expected_text(Parser *p, const Misfit *m) {
    enum { MAX_EXPECTED = 5 };
    const char **symbol = NEW_ARRAY(p->pool, const char *, m->nexpected + 1);
    int n = shorten(m, symbol);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        out_of_memory();
    for (int i = 0; i < n && n <= MAX_EXPECTED; i++)
        write_symbol(out, symbol[i], i, n);
    if (n > MAX_EXPECTED || n == 0)
        fputs("something else", out);
    if (fclose(out) != 0)
        out_of_memory();
    const char *copy = pool_copy(p->pool, text, size);
    free(text);
    return copy;
}

static const char *found_text(Parser *p, const Misfit *m) {
    const char *word = word_text(p, p->current);
    if (is_end(m))
        return m->found;
    if (p->current.text == p->brace_end)
        return "`}`";
    if (strcmp(m->found, "a name") == 0)
        return pool_text(p->pool, "the name `%s`", word);
    if (strcmp(m->found, "a stray character") != 0)
        return pool_text(p->pool, "`%s`", word);
    unsigned char byte = (unsigned char)word[0];
    if (p->current.length == 1 && (byte < ' ' || byte >= 0x7F))
        return pool_text(p->pool, "the byte 0x%02X", byte);
    return pool_text(p->pool, "the character `%s`", word);
}

static void report_misfit(Parser *p, const Misfit *m) {
    diag_begin(p->diag, ERROR, "U0103", misfit_span(p, m), "expected %s, found %s", expected_text(p, m),
               found_text(p, m));
    bool operand = in_word(*p->current.text) || *p->current.text == '"';
    const char *help = habit(p, m);
    if (help != NULL)
        diag_help(p->diag, "%s", help);
    else if (expects(m, "','") && expects(m, "')'") && operand &&
             p->last.span.line == p->current.span.line && !is_end(m))
        diag_help(p->diag, "write `%s, %s`", word_text(p, p->last), word_text(p, p->current));
    if (expects(m, "a name") && expects(m, "'}'") &&
        (strcmp(m->found, "input") == 0 || strcmp(m->found, "target") == 0))
        diag_help(p->diag, "in a section the name alone says what is filled: `x = images(\"x/*.png\")`");
    if (expects(m, "'{'") && !expects(m, "'='") && strcmp(m->found, "the end of the line") == 0)
        diag_help(p->diag, "a body stands in braces: write `{` here and `}` behind it");
}

void syntax_error(Parser *p, const char *found, const char *const *expected, int nexpected) {
    Misfit m = {found, expected, nexpected};
    p->skipping = !is_end(&m);
    if (strcmp(found, "'{'") == 0 && p->nbrace > 0)
        p->lost[p->nbrace - 1] = true;
    p->headless += expects(&m, "'{'") && strcmp(found, "'{'") != 0;
    if (!follows_from_brace(p, found) && first_mistake(p, p->current.span.line)) {
        if (!report_bracket(p, found) && !report_path(p, &m) && !report_python(p, &m) &&
            !report_keyword(p, &m) && !report_lost_value(p, &m) && !report_arrow(p, &m) &&
            !report_comparison(p, &m))
            report_misfit(p, &m);
        diag_end(p->diag);
    }
    p->nopen = 0;
}
