/* settings_data.c - `name = source` in the sections data and eval: where samples come from.
 *
 * A source is a little expression over files, noise, numbers and earlier sources; it leaves in postfix
 * order, the way the loader evaluates it.
 */
#include "front/lower_state.h"
#include "unet/image.h"
#include "unet/pattern.h"
#include "unet/volume.h"
#include "unet/words.h"

#include <string.h>

typedef struct {
    Lower *l;
    DataSection *data;
    Source *source;
    const Expr *expr; /* all of the source */
    bool good;
} Reader;

static const char *const sources_here[] = {"images",   "volumes", "signals",       "labels",   "list",
                                           "gaussian", "uniform", "border_weight", "class_of", "diffuse",
                                           "tokens",   "hide",    "next"};
static const char *const sources_later[] = {"random_index"};
enum {
    HERE = sizeof sources_here / sizeof *sources_here,
    LATER = sizeof sources_later / sizeof *sources_later,
    MOST_COLUMNS = 1000, /* of a list */
    MOST_CHANNELS = 1000 /* of volumes, whose files have a number of four digits */
};

static bool among(const char *name, const char *const *list, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static bool is_source_call(const Expr *expr) {
    return expr->kind == EXPR_CALL &&
           (among(expr->text, sources_here, HERE) || among(expr->text, sources_later, LATER));
}

const Source *find_source(const DataSection *data, const char *name) {
    const int i = table_find(&data->source_of, name);
    return i < 0 ? NULL : &data->source[i];
}

const Input *find_input(const Lower *l, const char *name, int *index) {
    *index = table_find(&l->model->input_of, name);
    return *index < 0 ? NULL : &l->model->input[*index];
}

static bool holds_source(const Reader *r, const Expr *expr) {
    int index;
    if (expr == NULL)
        return false;
    if (is_source_call(expr))
        return true;
    if (expr->kind == EXPR_NAME)
        return find_source(r->data, expr->text) != NULL || find_input(r->l, expr->text, &index) != NULL;
    if (expr->kind != EXPR_GROUP && expr->kind != EXPR_BINARY && expr->kind != EXPR_UNARY)
        return false;
    return holds_source(r, expr->left) || holds_source(r, expr->right);
}

static void push_term(Reader *r, SourceTerm term) {
    PUSH(r->l->pool, r->source->term, r->source->nterm, term);
}

const char *reading_call(const Input *input) {
    static const char *const call[] = {[KIND_IMAGE] = "images",
                                       [KIND_VOLUME] = "volumes",
                                       [KIND_SIGNAL] = "signals",
                                       [KIND_NUMBER] = "uniform",
                                       [KIND_LABELS] = "labels"};
    return call[input->kind];
}

/* Whether a signal is filled, or labels of one. */
static bool fills_signal(const Reader *r) {
    int index;
    const Input *input = find_input(r->l, r->source->name, &index);
    return input != NULL && r->l->graph->value[input->value].shape.rank == SIGNAL_RANK;
}

/* Whether the filled map has three axes. */
static bool fills_volume(const Reader *r) {
    int index;
    const Input *input = find_input(r->l, r->source->name, &index);
    return input != NULL && r->l->graph->value[input->value].shape.rank == VOLUME_RANK;
}

/* ---- errors ---- */

/* `image("*.png")`, or the pattern alone */
static void help_source(Reader *r, const Expr *expr) {
    int index;
    const Input *input = find_input(r->l, r->source->name, &index);
    const char *near = expr->kind == EXPR_CALL ? unet_nearest_word(expr->text, sources_here, HERE) : NULL;
    const char *of_kind = input == NULL ? "images" : reading_call(input);
    if (input != NULL && input->kind == KIND_NUMBER)
        diag_help(
            r->l->diag,
            "a number is drawn, or follows from a folder: `%s = uniform(0, 1)`, `%s = class_of(photo)`",
            input->name, input->name);
    else if (expr->kind == EXPR_TEXT)
        diag_help(r->l->diag, "write `%s(\"%s\")`", of_kind, expr->text);
    else if (near != NULL && strcmp(near, expr->text) != 0)
        diag_help(r->l->diag, "did you mean `%s`?", near);
    else if (expr->kind == EXPR_NAME && find_input(r->l, expr->text, &index) != NULL)
        diag_help(r->l->diag, "put the line `%s = ...` in front of this one", expr->text);
}

static bool is_call_of_source(const Expr *expr) {
    for (int i = 0; i < HERE; i++)
        if (expr->kind == EXPR_CALL && strcmp(expr->text, sources_here[i]) == 0)
            return true;
    return false;
}

static void report_not_a_source(Reader *r, const Expr *expr, const char *what) {
    Diag *diag = r->l->diag;
    r->good = false;
    diag_begin(diag, ERROR, "U0619", expr->span, "%s", what);
    help_source(r, expr);
    if (!is_call_of_source(expr)) /* else its arguments are wrong */
        diag_note(
            diag,
            "sources of this version: images volumes signals labels list gaussian uniform border_weight "
            "class_of diffuse tokens hide next, numbers, earlier sources, and + - * /");
    diag_end(diag);
}

static void report_wrong_files(Reader *r, const Expr *call, const char *is, const char *right) {
    Diag *diag = r->l->diag;
    r->good = false;
    diag_begin(diag, ERROR, "U0606", call->mark, "`%s` is %s, and this reads %s", r->source->name, is,
               call->text);
    if (call->args.count > 0 && right != NULL)
        diag_help(diag, "write `%s(%s)`", right, expr_text(r->l->pool, call->args.item[0].value));
    diag_end(diag);
}

static void report_later(Reader *r, const Expr *call) {
    Diag *diag = r->l->diag;
    r->good = false;
    diag_begin(diag, ERROR, "U0202", call->mark, "the source `%s` is not in this version of unetc",
               call->text);
    diag_note(diag, "this version has: images volumes signals labels list gaussian uniform border_weight "
                    "class_of diffuse tokens hide next");
    diag_end(diag);
}

static bool is_wrong_name(Lower *l, const char *name) {
    const Binding *binding = find_binding(l->frame, name);
    return binding != NULL && binding->value.kind == DATUM_ERROR;
}

/* Classes are read from files of classes, and from nothing else; they cannot be reckoned with. */
static bool is_right_call(Reader *r, const Expr *call) {
    int index;
    const Input *input = find_input(r->l, r->source->name, &index);
    const bool lists = strcmp(call->text, "list") == 0,
               labels = strcmp(call->text, "labels") == 0 ||
                        (lists && input != NULL && input->kind == KIND_LABELS),
               wanted = input != NULL && input->kind == KIND_LABELS,
               volumes = strcmp(call->text, "volumes") == 0, signals = strcmp(call->text, "signals") == 0,
               files = volumes || signals || strcmp(call->text, "images") == 0;
    if (labels && input == NULL && is_wrong_name(r->l, r->source->name))
        r->good = false; /* its declaration has an error already */
    else if (labels && !wanted)
        report_wrong_files(r, call,
                           input == NULL ? "no target" : map_text(r->l->graph->value[input->value].shape),
                           input == NULL ? NULL : reading_call(input));
    else if (wanted && !labels)
        report_wrong_files(r, call, "labels", files ? "labels" : NULL);
    else if ((files || lists) && input != NULL && input->kind == KIND_NUMBER)
        report_wrong_files(r, call, "a number", NULL);
    else if (files && input != NULL && signals != (input->kind == KIND_SIGNAL))
        report_wrong_files(r, call, map_text(r->l->graph->value[input->value].shape), reading_call(input));
    else if (volumes && input != NULL && !fills_volume(r))
        report_wrong_files(r, call, "an image", "images");
    else if (labels && call != expr_inside(r->expr))
        report_not_a_source(
            r, r->expr, "`labels(...)` stands alone: nothing is added to classes or multiplied with them");
    else if (strcmp(call->text, "border_weight") == 0 && (input == NULL || call != expr_inside(r->expr)))
        report_not_a_source(
            r, r->expr,
            "`border_weight(...)` stands alone and fills a target of one channel: a loss may read "
            "`1 + weight`");
    return r->good;
}

/* ---- sources ---- */

/* The first term of files, or, if SEVERAL, the first of several folders; NULL: there is none. */
static const SourceTerm *first_files(const Reader *r, bool several) {
    for (int i = 0; i < r->data->nsource; i++)
        for (int k = 0; k < r->data->source[i].nterm; k++) {
            const SourceTerm *term = &r->data->source[i].term[k];
            if (term->op == SOURCE_FILES && (term->nmore > 0 || !several))
                return term;
        }
    return NULL;
}

/* Files belong together by what their `*` stands for, so all patterns have the same number of them; or by
 * the line of a list. */
static void check_pattern(Reader *r, const SourceTerm *term, Span span) {
    Diag *diag = r->l->diag;
    const SourceTerm *first = first_files(r, false), *several = first_files(r, true);
    if (first == NULL)
        return;
    const bool listed = term->column > 0, first_listed = first->column > 0;
    const int found = unet_pattern_stars(term->text), before = unet_pattern_stars(first->text);
    const bool together = listed                               ? term->nmore == first->nmore
                          : term->nmore > 0 && several != NULL ? term->nmore == several->nmore
                                                               : true;
    if (listed == first_listed && (listed || found == before) && together)
        return;
    first = together ? first : listed ? first : several;
    r->good = false;
    if (listed != first_listed) {
        diag_begin(diag, ERROR, "U0609", span, "a list of names and a pattern cannot be paired");
        diag_also(diag, (Span){first->span.line, 1, 0}, "%s", "");
        diag_help(diag,
                  "name both in a list, or use patterns with `list = \"train.txt\"`, which holds what "
                  "their `*` stands for");
    } else if (listed || found == before) {
        diag_begin(diag, ERROR, "U0609", span, "the patterns cannot be paired: they are %d and %d",
                   first->nmore + 1, term->nmore + 1);
        diag_also(diag, (Span){first->span.line, 1, 0}, "%s", "");
        diag_note(diag, "the first pattern of one source belongs to the first of the other, and so on");
    } else {
        diag_begin(diag, ERROR, "U0609", span, "the patterns cannot be paired: they have %d and %d `*`",
                   before, found);
        diag_also(diag, (Span){first->span.line, 1, 0}, "%s", "");
        diag_note(diag, "files are paired by the text that `*` stands for");
    }
    diag_end(diag);
}

static bool is_list(const char *name) {
    const size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".txt") == 0;
}

/* `list` and `column` of files. */
static bool read_list(Reader *r, Call *call, SourceTerm *term) {
    const Argument *list = argument(call, "list"), *column = argument(call, "column");
    int64_t number = strcmp(call->signature->name, "labels") == 0 ? 2 : 1;
    const bool names = is_list(term->text);
    if (column->value.kind != DATUM_NONE && !argument_integer(call, "column", 1, &number))
        return false;
    if ((!names && column->value.kind != DATUM_NONE) || number > MOST_COLUMNS) {
        report_not_a_source(r, call->expr,
                            "`column` is a word of each line of a list: `images(\"train.txt\")`");
        return false;
    }
    term->column = names ? (int)number : 0;
    if (list->value.kind == DATUM_NONE)
        return true;
    if (list->value.kind != DATUM_TEXT || *list->value.text == '\0' || names ||
        unet_pattern_stars(term->text) == 0 || term->nmore > 0) {
        report_not_a_source(
            r, call->expr,
            "`list` names a text file that says what `*` stands for: it needs one pattern with a `*`");
        return false;
    }
    term->list = list->value.text;
    return true;
}

/* Whether the files of CALL are volumes: `volumes` reads them, or another call that fills a volume of
 * several slices. */
static bool reads_volumes(const Reader *r, const Call *call) {
    int index;
    const Input *input = find_input(r->l, r->source->name, &index);
    const char *name = call->signature->name;
    if (strcmp(name, "volumes") == 0)
        return true;
    if (strcmp(name, "images") == 0 || !fills_volume(r))
        return false;
    const Datum pattern = call->argument[0].value;
    return shape_extent(r->l->graph->value[input->value].shape, 0) > 1 ||
           (pattern.kind == DATUM_TEXT && unet_volume_is_name(pattern.text));
}

/* One text of `pattern`, which must be of the kind of the first. */
static bool check_text(Reader *r, const Call *call, const Datum text, const Datum first,
                       const char *example) {
    if (text.kind != DATUM_TEXT || *text.text == '\0') {
        report_not_a_source(r, call->expr,
                            pool_text(r->l->pool,
                                      "`%s` needs a pattern in quotes, such as \"%s\", or a list of "
                                      "patterns",
                                      call->signature->name, example));
        return false;
    }
    if (text.text[strlen(text.text) - 1] == '/') {
        report_not_a_source(r, call->expr,
                            pool_text(r->l->pool,
                                      "`%s` is a folder, and a pattern names files: write \"%s*.png\"",
                                      text.text, text.text));
        return false;
    }
    if (unet_pattern_mistake(text.text) != NULL) {
        report_not_a_source(r, call->expr, unet_pattern_mistake(text.text));
        return false;
    }
    if (is_list(text.text) != is_list(first.text) ||
        unet_pattern_stars(text.text) != unet_pattern_stars(first.text)) {
        report_not_a_source(r, call->expr, "the patterns of one source have the same number of `*`");
        return false;
    }
    return true;
}

/* PATTERN with text NUMBER of its last braces in place of them all; without braces it is all there is;
 * NULL: there are not so many. */
static const char *with_choice(Pool *pool, const char *pattern, int number) {
    const char *open = strrchr(pattern, '{'), *close = strrchr(pattern, '}');
    if (open == NULL || close == NULL)
        return number == 0 ? pattern : NULL;
    const char *text = open + 1;
    for (; number > 0 && text < close; number--)
        text += strcspn(text, ",}") + 1;
    if (text >= close)
        return NULL;
    return pool_text(pool, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)strcspn(text, ",}"), text,
                     close + 1);
}

/* Arrays, and files of any ending, may be volumes or pictures. */
static bool may_be_both(const char *pattern) {
    const UnetImageKind *kind = unet_image_kind_of_name(pattern);
    return pattern[strlen(pattern) - 1] == '*' || (kind != NULL && strncmp(kind->name, "NumPy", 5) == 0);
}

/* How files of volumes that are not read become NIfTI. */
static void help_with_volumes(Diag *diag, const char *name) {
    const size_t length = strlen(name);
    if (length > 4 && strcmp(name + length - 4, ".dcm") == 0)
        diag_help(diag, "`dcm2niix -z y FOLDER` makes .nii.gz of a series of DICOM");
    else if (length > 5 && strcmp(name + length - 5, ".nrrd") == 0)
        diag_help(diag,
                  "`import SimpleITK as s; s.WriteImage(s.ReadImage(\"a.nrrd\"), \"a.nii.gz\")` in Python "
                  "makes NIfTI of NRRD");
    else
        diag_help(diag, "name files that end in .nii, .nii.gz, .npy or .npz");
}

/* Reports NAME, if it is the name of a WAV file and CALL reads no signals, or the other way round. */
static bool suits_signals(Reader *r, const Call *call, const char *name) {
    int index;
    Diag *diag = r->l->diag;
    const Input *input = find_input(r->l, r->source->name, &index);
    const UnetImageKind *kind = unet_image_kind_of_name(name);
    const bool is_wave = kind != NULL && strcmp(kind->name, "WAV") == 0,
               wanted = strcmp(call->signature->name, "signals") == 0 ||
                        (input != NULL && input->kind == KIND_SIGNAL &&
                         strcmp(call->signature->name, "list") == 0);
    if (is_wave == wanted || may_be_both(name) || strcmp(call->signature->name, "labels") == 0)
        return true;
    r->good = false;
    if (wanted) {
        diag_begin(diag, ERROR, "U0606", call->argument[0].span,
                   "`%s` is a signal, and \"%s\" names no files of signals", r->source->name, name);
        diag_help(diag, "name files that end in .wav or .npy");
    } else {
        diag_begin(diag, ERROR, "U0606", call->argument[0].span, "\"%s\" names signals, and this reads %s",
                   name, call->signature->name);
        diag_help(diag, "write `signals(\"%s\")` for an input that is declared as `signal(...)`", name);
    }
    diag_end(diag);
    return false;
}

/* Whether files of this name can be the files that are read: volumes, signals, or pictures. */
static void check_name(Reader *r, const Call *call, const char *name, bool volumes) {
    Diag *diag = r->l->diag;
    const Span span = call->argument[0].span;
    if (!suits_signals(r, call, name))
        return;
    if (volumes == unet_volume_is_name(name) || may_be_both(name)) {
        r->good &= unet_volume_is_name(name) ? check_volume_format(r->l, span)
                                             : check_image_format(r->l, name, span);
        return;
    }
    r->good = false;
    if (volumes) {
        diag_begin(diag, ERROR, "U0606", span,
                   "`%s` is a volume, and \"%s\" names no files of volumes that are read", r->source->name,
                   name);
        help_with_volumes(diag, name);
    } else {
        diag_begin(diag, ERROR, "U0606", span, "\"%s\" names volumes, and this reads images", name);
        diag_help(diag, "write `volumes(\"%s\")` for an input that is declared as `volume(...)`", name);
    }
    diag_end(diag);
}

static void check_names(Reader *r, const Call *call, const char *pattern, bool volumes) {
    const char *name = pattern;
    for (int i = 0; r->good && (name = with_choice(r->l->pool, pattern, i)) != NULL; i++)
        check_name(r, call, name, volumes);
}

/* Whether one of COUNT patterns takes the same files as PATTERN: that one says nothing new. */
static bool is_there(const char *const *patterns, int count, const char *pattern) {
    for (int i = 0; i < count; i++)
        if (unet_pattern_same(patterns[i], pattern))
            return true;
    return false;
}

/* Notes the numbers that files can have whose names match PATTERN. */
static void note_format(Reader *r, const char *pattern, SourceTerm *term, bool *any) {
    const char *name = pattern;
    for (int i = 0; (name = with_choice(r->l->pool, pattern, i)) != NULL; i++) {
        const UnetImageKind *kind = unet_image_kind_of_name(name);
        if (kind == NULL || kind->most_bits == 0)
            *any = true;
        if (term->format == NULL || (kind != NULL && kind->most_bits == 0))
            term->format = kind == NULL ? NULL : kind->name;
        if (kind != NULL && kind->most_bits > term->bits)
            term->bits = kind->most_bits;
    }
}

static void note_formats(Reader *r, SourceTerm *term) {
    bool any = false;
    note_format(r, term->text, term, &any);
    for (int i = 0; i < term->nmore; i++)
        note_format(r, term->more[i], term, &any);
    if (any)
        term->bits = 0;
}

/* `pattern`: one, or a list of one for each folder. */
static bool read_patterns(Reader *r, Call *call, const char *example, SourceTerm *term) {
    const Datum pattern = call->argument[0].value;
    const bool several = pattern.kind == DATUM_LIST && pattern.count > 0;
    const Datum *text = several ? pattern.items->item : &pattern;
    const int count = several ? pattern.count : 1;
    const bool volumes = reads_volumes(r, call);
    const char **patterns = NEW_ARRAY(r->l->pool, const char *, count);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!check_text(r, call, text[i], text[0], example))
            return false;
        if (!is_list(text[i].text))
            check_names(r, call, text[i].text, volumes);
        if (is_list(text[i].text) || !is_there(patterns, kept, text[i].text))
            patterns[kept++] = text[i].text;
    }
    *term = (SourceTerm){.op = SOURCE_FILES,
                         .text = patterns[0],
                         .more = patterns + 1,
                         .nmore = kept - 1,
                         .volumes = volumes,
                         .way.signal = fills_signal(r) || strcmp(call->signature->name, "signals") == 0,
                         .span = call->span};
    note_formats(r, term);
    return r->good;
}

/* False after an error. */
static bool read_files(Reader *r, Call *call, const char *example, SourceTerm *term) {
    if (!read_patterns(r, call, example, term))
        return false;
    if (!read_list(r, call, term)) {
        r->good = false;
        return false;
    }
    check_pattern(r, term, call->argument[0].span);
    return r->good;
}

/* The names of files of images, or of labels if labels are filled. */
static void read_names(Reader *r, Call *call) {
    SourceTerm files;
    int index;
    const Input *input = find_input(r->l, r->source->name, &index);
    int64_t column = input != NULL && input->kind == KIND_LABELS ? 2 : 1;
    if (!read_patterns(r, call, "train.txt", &files))
        return;
    if (argument(call, "column")->value.kind != DATUM_NONE &&
        !argument_integer(call, "column", 1, &column)) {
        r->good = false;
        return;
    }
    if (unet_pattern_stars(files.text) > 0 || column > MOST_COLUMNS) {
        report_not_a_source(r, call->expr,
                            "`list` reads text files, which name files of samples: "
                            "`list(\"train.txt\")`");
        return;
    }
    files.column = (int)column;
    check_pattern(r, &files, call->argument[0].span);
    if (r->good)
        push_term(r, files);
}

static bool fills_labels(const Lower *l) {
    for (int i = 0; i < l->model->ninput; i++)
        if (l->model->input[i].kind == KIND_LABELS)
            return true;
    return false;
}

/* `missing`: a number, or "ignore". */
static void read_missing(Reader *r, Call *call, ImageWay *way) {
    static const char *const choices[] = {"ignore", NULL};
    const Argument *missing = argument(call, "missing");
    int choice;
    if (missing->value.kind == DATUM_NONE)
        return;
    if (missing->value.kind != DATUM_TEXT) {
        way->missing = MISSING_VALUE;
        r->good &= argument_number(call, "missing", &way->missing_value);
        return;
    }
    way->missing = MISSING_IGNORED;
    r->good &= argument_choice(call, "missing", choices, &choice);
    if (r->good && !fills_labels(r->l))
        report_not_a_source(
            r, missing->expr,
            "`missing = \"ignore\"` leaves out labels, and there is no target of labels: write a "
            "number");
}

/* `exif`, `alpha`, `page` and `entry` of files of pictures. */
static void read_way(Reader *r, Call *call, ImageWay *way) {
    const Datum page = argument(call, "page")->value, entry = argument(call, "entry")->value;
    int64_t number = 0;
    r->good &= argument_truth(call, "exif", &way->upright) && argument_truth(call, "alpha", &way->alpha);
    way->names_page = page.kind != DATUM_NONE;
    if (way->names_page && (!argument_integer(call, "page", 0, &number) || number > UINT16_MAX))
        report_not_a_source(r, call->expr, "`page` is the number of a page of TIFF, from 0 to 65535");
    way->page = (int)number;
    if (entry.kind != DATUM_NONE && (entry.kind != DATUM_TEXT || *entry.text == '\0'))
        report_not_a_source(
            r, call->expr,
            "`entry` is the name of an array in an archive: `images(\"*.npz\", entry = \"image\")`");
    else if (entry.kind == DATUM_TEXT)
        way->entry = entry.text;
}

static void read_signals(Reader *r, Call *call) {
    SourceTerm files;
    if (!read_files(r, call, "noisy/*.wav", &files))
        return;
    read_missing(r, call, &files.way);
    push_term(r, files);
}

static void read_images(Reader *r, Call *call) {
    static const char *const scales[] = {"unit", NULL};
    SourceTerm files;
    int scale, index;
    int64_t channels;
    if (!read_files(r, call, "noisy/*.png", &files))
        return;
    r->good &= argument_choice(call, "scale", scales, &scale);
    read_missing(r, call, &files.way);
    read_way(r, call, &files.way);
    if (argument(call, "channels")->value.kind != DATUM_NONE) {
        if (!argument_integer(call, "channels", 1, &channels)) {
            r->good = false;
        } else if (find_input(r->l, r->source->name, &index) != NULL && channels != r->source->channels) {
            diag_begin(r->l->diag, ERROR, "U0619", argument(call, "channels")->span,
                       "`%s` has %d channel%s, and this reads %lld", r->source->name, r->source->channels,
                       unet_plural(r->source->channels), (long long)channels);
            diag_end(r->l->diag);
            r->good = false;
        } else if (channels <= MOST_CHANNELS) {
            r->source->channels = (int)channels;
            files.way.to_grey = channels == 1;
        }
    }
    push_term(r, files);
}

/* PATTERN with the number of CHANNEL in place of the first channel's number, or NULL: it has none. */
static const char *channel_pattern(Pool *pool, const char *pattern, int channel) {
    static const char first[] = "_0000";
    const char *slash = strrchr(pattern, '/'), *found = strstr(slash != NULL ? slash : pattern, first);
    if (found == NULL)
        return NULL;
    return pool_text(pool, "%.*s_%04d%s", (int)(found - pattern), pattern, channel,
                     found + sizeof first - 1);
}

/* The files of channel CHANNEL; false after an error. */
static bool push_channel(Reader *r, const Call *call, const SourceTerm *first, int channel) {
    SourceTerm term = *first;
    const char **more = NEW_ARRAY(r->l->pool, const char *, first->nmore + 1);
    bool good = first->column == 0;
    term.channel = channel;
    for (int i = 0; i <= first->nmore && good; i++) {
        more[i] = channel_pattern(r->l->pool, i == 0 ? first->text : first->more[i - 1], channel);
        good = more[i] != NULL;
    }
    if (!good) {
        report_not_a_source(
            r, call->expr,
            pool_text(r->l->pool,
                      "`%s` has %d channels, and each file holds one: name the files of the first channel, "
                      "with `_0000` in their names; those of the others have `_0001` and so on",
                      r->source->name, r->source->channels));
        return false;
    }
    term.text = more[0];
    term.more = more + 1;
    push_term(r, term);
    return true;
}

static void read_volumes(Reader *r, Call *call) {
    SourceTerm files;
    int index;
    if (!read_files(r, call, "imagesTr/*_0000.nii.gz", &files))
        return;
    if (find_input(r->l, r->source->name, &index) == NULL)
        r->source->channels = 1;
    push_term(r, files);
    for (int c = 1; c < r->source->channels && c < MOST_CHANNELS && r->good; c++)
        push_channel(r, call, &files, c);
}

static void push_value(Reader *r, int64_t value) {
    Source *source = r->source;
    int64_t *values = NEW_ARRAY(r->l->pool, int64_t, source->nvalue + 1);
    for (int i = 0; i < source->nvalue; i++)
        values[i] = source->values[i];
    values[source->nvalue++] = value;
    source->values = values;
}

/* The next class: its value, or a list of them; false: one that cannot be, or that is there already. */
static bool read_values_of_class(Reader *r, Datum of) {
    const int count = of.kind == DATUM_LIST ? of.count : 1;
    bool good = count > 0;
    for (int i = 0; i < count && good; i++) {
        const Datum d = of.kind == DATUM_LIST ? of.items->item[i] : of;
        good = d.kind == DATUM_INTEGER && d.integer >= 0 && d.integer <= UINT16_MAX;
        for (int k = 0; k < r->source->nvalue && good; k++)
            good = r->source->values[k] != d.integer;
        if (good)
            push_value(r, d.integer);
    }
    push_value(r, -1);
    return good;
}

/* One value of the files for each class, or several, no two alike. */
static bool read_values(Reader *r, Call *call, int64_t classes) {
    Diag *diag = r->l->diag;
    const Argument *a = argument(call, "values");
    const Datum list = a->value;
    if (list.kind == DATUM_NONE)
        return true;
    if (list.kind != DATUM_LIST || list.count != classes) {
        if (list.kind == DATUM_LIST)
            diag_begin(diag, ERROR, "U0612", a->span, "%d pixel value%s for %lld classes", list.count,
                       unet_plural(list.count), (long long)classes);
        else
            diag_begin(diag, ERROR, "U0612", a->span,
                       "`values` is a list of the pixel value of each class");
        diag_note(diag, "`target %s : labels(%lld)`", r->source->name, (long long)classes);
        diag_end(diag);
        return false;
    }
    for (int i = 0; i < list.count; i++)
        if (!read_values_of_class(r, list.items->item[i])) {
            diag_begin(
                diag, ERROR, "U0612", a->span,
                "the value of class %d must be a whole number from 0 to %d that no earlier class has, or "
                "a list of such",
                i, UINT16_MAX);
            diag_end(diag);
            return false;
        }
    return true;
}

/* A colour as one number: [128, 0, 0]; -1: it is none. */
static int64_t colour_of(Datum d) {
    int64_t colour = 0;
    if (d.kind != DATUM_LIST || d.count != 3)
        return -1;
    for (int i = 0; i < 3; i++) {
        const Datum part = d.items->item[i];
        if (part.kind != DATUM_INTEGER || part.integer < 0 || part.integer > UINT8_MAX)
            return -1;
        colour = colour << 8 | part.integer;
    }
    return colour;
}

/* The next class: its colour, or a list of them; false: one that is none, or that is there already. */
static bool read_colours_of_class(Reader *r, Datum of) {
    const bool several = of.kind == DATUM_LIST && of.count > 0 && of.items->item[0].kind == DATUM_LIST;
    const int count = several ? of.count : 1;
    bool good = true;
    for (int i = 0; i < count && good; i++) {
        const int64_t colour = colour_of(several ? of.items->item[i] : of);
        good = colour >= 0;
        for (int k = 0; k < r->source->nvalue && good; k++)
            good = r->source->values[k] != colour;
        push_value(r, good ? colour : -1);
    }
    push_value(r, -1);
    return good;
}

/* One colour of the files for each class, or several, no two alike. */
static bool read_colours(Reader *r, Call *call, int64_t classes, bool volumes) {
    Diag *diag = r->l->diag;
    const Argument *a = argument(call, "colours");
    const Datum list = a->value;
    if (list.kind == DATUM_NONE)
        return true;
    const bool both = argument(call, "values")->value.kind != DATUM_NONE;
    int wrong = 0;
    if (list.kind != DATUM_LIST || list.count != classes || both || volumes) {
        diag_begin(diag, ERROR, "U0612", a->span, "%s",
                   both ? "a mask has `values` or `colours`: give one of them"
                   : volumes
                       ? "volumes have no colours: give `values`"
                       : pool_text(r->l->pool, "`colours` is a list of %lld colours, one for each class",
                                   (long long)classes));
        diag_note(diag, "`target %s : labels(%lld)`", r->source->name, (long long)classes);
        diag_end(diag);
        return false;
    }
    while (wrong < list.count && read_colours_of_class(r, list.items->item[wrong]))
        wrong++;
    if (wrong < list.count) {
        diag_begin(
            diag, ERROR, "U0612", a->span,
            "the colour of class %d must be [red, green, blue], whole numbers from 0 to 255, that no "
            "earlier class has, or a list of such",
            wrong);
        diag_end(diag);
    }
    r->source->colours = true;
    return wrong == list.count;
}

static void read_labels(Reader *r, Call *call) {
    static const char *const choices[] = {"error", "ignore", NULL};
    SourceTerm files;
    int index, others;
    if (!read_files(r, call, "masks/*.png", &files))
        return;
    r->good &= argument_choice(call, "others", choices, &others) &&
               read_values(r, call, find_input(r->l, r->source->name, &index)->classes) &&
               read_colours(r, call, find_input(r->l, r->source->name, &index)->classes, files.volumes);
    r->source->ignores_others = r->good && others == 1;
    r->good &= argument_truth(call, "round", &r->source->rounds);
    read_way(r, call, &files.way);
    if (r->good)
        push_term(r, files);
}

/* Sigma as papers give it, in steps of 8 bits. */
static void ask_for_sigma(const Reader *r, const Call *call, double sigma) {
    const Expr *given = argument(call, "sigma")->expr;
    if (given == NULL || given->kind != EXPR_INTEGER || sigma <= 1)
        return;
    diag_begin(r->l->diag, WARNING, "U0807", given->span,
               "`sigma` is %g times the range of pictures, which lie between 0 and 1", sigma);
    diag_help(r->l->diag, "is `gaussian(%g/255)` meant?", sigma);
    diag_end(r->l->diag);
}

static void read_gaussian(Reader *r, Call *call) {
    SourceTerm term = {.op = SOURCE_GAUSSIAN, .span = call->span};
    if (!argument_number(call, "sigma", &term.value))
        r->good = false;
    else if (term.value < 0)
        report_not_a_source(r, call->expr, "`sigma` must be at least 0");
    else
        ask_for_sigma(r, call, term.value);
    push_term(r, term);
}

static void read_uniform(Reader *r, Call *call) {
    SourceTerm term = {.op = SOURCE_UNIFORM, .span = call->span};
    if (!argument_number(call, "low", &term.value) || !argument_number(call, "high", &term.high))
        r->good = false;
    else if (term.high < term.value)
        report_not_a_source(r, call->expr, "`high` must be at least `low`");
    push_term(r, term);
}

/* The target of labels that a source above fills, or NULL after an error. */
static const Input *read_classes(Reader *r, Call *call) {
    const Lower *l = r->l;
    const Argument *labels = argument(call, "labels");
    ValueId value;
    if (!argument_tensor(call, "labels", &value)) {
        r->good = false;
        return NULL;
    }
    const Value *given = &l->graph->value[value];
    const Input *target = given->class == CLASS_STAGING ? &l->model->input[given->input] : NULL;
    if (target == NULL || target->kind != KIND_LABELS) {
        report_not_a_source(r, labels->expr,
                            "`border_weight` reads a target of labels: `border_weight(truth)`");
        return NULL;
    }
    if (find_source(r->data, target->name) == NULL) {
        report_not_a_source(r, labels->expr,
                            pool_text(l->pool, "`%s` has no source above this line", target->name));
        return NULL;
    }
    return target;
}

/* As many points as the classes have, and one channel. */
static void check_map(Reader *r, const Call *call, const Input *target) {
    const Lower *l = r->l;
    const Shape own = l->graph->value[l->model->input[r->source->input].value].shape,
                classes = l->graph->value[target->value].shape;
    bool same = shape_channels(own) == 1;
    if (own.rank == VOLUME_RANK) {
        report_not_a_source(r, call->expr,
                            "`border_weight` is made of the labels of images, not of volumes");
        return;
    }
    for (int axis = 0; axis < AXES; axis++)
        same &= shape_extent(own, axis) == shape_extent(classes, axis);
    if (same)
        return;
    r->good = false;
    diag_begin(l->diag, ERROR, "U0619", call->span,
               "`%s` is %s, and `%s` is %s: a map of weights has one "
               "channel and as many points",
               r->source->name, shape_text(l->pool, own), target->name, shape_text(l->pool, classes));
    diag_end(l->diag);
}

static void read_border_weight(Reader *r, Call *call) {
    SourceTerm term = {.op = SOURCE_BORDER, .span = call->span};
    const Input *target = read_classes(r, call);
    if (target == NULL)
        return;
    term.text = target->name;
    if (!argument_number(call, "w0", &term.value) || !argument_number(call, "sigma", &term.high))
        r->good = false;
    else if (!(term.value >= 0))
        report_not_a_source(r, argument(call, "w0")->expr, "`w0` must be at least 0");
    else if (!(term.high > 0 && term.high <= 100))
        report_not_a_source(r, argument(call, "sigma")->expr,
                            "`sigma` is in points, above 0 and at most 100");
    else
        check_map(r, call, target);
    push_term(r, term);
}

static void report_class(Reader *r, Span span, const char *what, const char *help) {
    r->good = false;
    diag_begin(r->l->diag, ERROR, "U0619", span, "%s", what);
    if (help != NULL)
        diag_help(r->l->diag, "%s", help);
    diag_end(r->l->diag);
}

static bool reads_files(const Source *source) {
    for (int i = 0; i < source->nterm; i++)
        if (source->term[i].op == SOURCE_FILES)
            return true;
    return false;
}

/* The input that a source above fills from files; NULL after an error. */
static const Input *read_filed(Reader *r, Call *call) {
    const Lower *l = r->l;
    const Span span = argument(call, "picture")->span;
    ValueId value;
    if (!argument_tensor(call, "picture", &value)) {
        r->good = false;
        return NULL;
    }
    const Value *v = &l->graph->value[value];
    const Input *input = v->class == CLASS_STAGING ? &l->model->input[v->input] : NULL;
    const Source *source = input == NULL ? NULL : find_source(r->data, input->name);
    if (source != NULL && reads_files(source))
        return input;
    if (input == NULL)
        report_class(r, span, "`class_of` reads an input or a target, and this is neither", NULL);
    else if (source == NULL)
        report_class(r, span, pool_text(l->pool, "`%s` has no source above this line", input->name),
                     pool_text(l->pool, "put the line `%s = ...` in front of this one", input->name));
    else
        report_class(r, span, pool_text(l->pool, "`%s` reads no files of its own", input->name),
                     "name the input that is filled by `images` or `volumes`: its folder is the class");
    return NULL;
}

/* The folders of the classes, in their order: different texts. */
static bool read_folders(Reader *r, Call *call, SourceTerm *term) {
    const Argument *names = argument(call, "names");
    const Datum list = names->value;
    if (list.kind == DATUM_NONE)
        return true;
    bool good = list.kind == DATUM_LIST && list.count > 0;
    const char **folder = NEW_ARRAY(r->l->pool, const char *, good ? list.count : 1);
    for (int i = 0; good && i < list.count; i++) {
        const Datum name = list.items->item[i];
        good = name.kind == DATUM_TEXT && *name.text != '\0' && strchr(name.text, '/') == NULL;
        folder[i] = good ? name.text : NULL;
        for (int k = 0; k < i && good; k++)
            good = strcmp(folder[k], name.text) != 0;
    }
    if (!good)
        report_class(r, names->span, "`names` is a list of different folders, one for each class",
                     "write `class_of(photo, names = [\"cat\", \"dog\"])`");
    term->more = folder;
    term->nmore = good ? list.count : 0;
    return good;
}

static void read_class_of(Reader *r, Call *call) {
    SourceTerm term = {.op = SOURCE_CLASS, .span = call->span};
    const Input *input = read_filed(r, call);
    if (input == NULL || !read_folders(r, call, &term))
        return;
    term.text = input->name;
    push_term(r, term);
}

static void read_diffuse(Reader *r, Call *call) {
    if (call->expr != expr_inside(r->expr))
        report_not_a_source(r, r->expr, "`diffuse(...)` stands alone and fills the target of a network");
    else
        r->good = read_diffusion(call, r->source->input);
}

/* ---- words ---- */

/* A float holds the number of each word. */
enum { MOST_WORDS = 1 << 24 };

static void read_tokens(Reader *r, Call *call) {
    SourceTerm files;
    int64_t words;
    if (!read_files(r, call, "texts/*.npy", &files))
        return;
    if (!argument_integer(call, "vocabulary", 2, &words)) {
        r->good = false;
        return;
    }
    if (words > MOST_WORDS || r->source->channels != 1 || !fills_signal(r)) {
        report_not_a_source(r, call->expr,
                            words > MOST_WORDS
                                ? pool_text(r->l->pool, "a vocabulary has at most %d words", MOST_WORDS)
                                : "`tokens` fills a signal of one channel: `input words : signal(1, 512)`");
        return;
    }
    r->source->words = (int)words;
    files.way.words = true;
    push_term(r, files);
}

static Shape filled_shape(const Reader *r, int input) {
    return r->l->graph->value[r->l->model->input[input].value].shape;
}

/* Returns the source of tokens that argument `words` names, or NULL after an error. */
static const Source *read_words(Reader *r, Call *call) {
    const Lower *l = r->l;
    const Argument *words = argument(call, "words");
    ValueId value;
    if (!argument_tensor(call, "words", &value)) {
        r->good = false;
        return NULL;
    }
    const Value *given = &l->graph->value[value];
    const Input *input = given->class == CLASS_STAGING ? &l->model->input[given->input] : NULL;
    const Source *source = input == NULL ? NULL : find_source(r->data, input->name);
    const Input *told = r->source->input < 0 ? NULL : &l->model->input[r->source->input];
    if (source == NULL || source->words == 0)
        report_class(r, words->span, "this has no source of `tokens` above this line",
                     "write `words = tokens(\"texts/*.npy\", vocabulary = 30522)` in front of this line");
    else if (call->expr != expr_inside(r->expr) || told == NULL || !told->is_target)
        report_class(r, call->span,
                     pool_text(l->pool, "`%s` stands alone and fills a target", call->signature->name),
                     "declare `target told : signal(1)`");
    else if (!shape_equal(filled_shape(r, source->input), filled_shape(r, r->source->input)))
        report_class(r, call->span,
                     pool_text(l->pool, "`%s` is %s, and `%s` is %s", input->name,
                               shape_text(l->pool, filled_shape(r, source->input)), told->name,
                               shape_text(l->pool, filled_shape(r, r->source->input))),
                     "both have one channel and as many points");
    else
        return source;
    return NULL;
}

static void read_next(Reader *r, Call *call) {
    const Source *words = read_words(r, call);
    if (words != NULL)
        push_term(r, (SourceTerm){.op = SOURCE_NEXT, .text = words->name, .span = call->span});
}

/* Reads a share from 0 to 1. */
static bool read_share(Reader *r, const Call *call, const char *name, double *share) {
    if (!argument_number(call, name, share))
        return r->good = false;
    if (*share >= 0 && *share <= 1)
        return true;
    report_class(r, argument(call, name)->span, pool_text(r->l->pool, "`%s` must be from 0 to 1", name),
                 NULL);
    return false;
}

/* Reads the number of a word. */
static bool read_word(Reader *r, const Call *call, const char *name, int words, int *word) {
    int64_t number;
    if (!argument_integer(call, name, 0, &number))
        return r->good = false;
    if (number >= words) {
        report_class(r, argument(call, name)->span,
                     pool_text(r->l->pool, "`%s` must be a word, from 0 to %d", name, words - 1), NULL);
        return false;
    }
    *word = (int)number;
    return true;
}

/* Returns the source that hides some of WORDS, or NULL. */
static const Source *hiding(const DataSection *data, const Source *words) {
    for (int i = 0; i < data->nsource; i++)
        if (data->source[i].nterm > 0 && data->source[i].term[0].op == SOURCE_HIDE &&
            strcmp(data->source[i].term[0].text, words->name) == 0)
            return &data->source[i];
    return NULL;
}

static void read_hide(Reader *r, Call *call) {
    const Source *words = read_words(r, call);
    const Source *other = words == NULL ? NULL : hiding(r->data, words);
    SourceTerm term = {.op = SOURCE_HIDE, .span = call->span};
    Hidden *hidden = &term.hidden;
    if (words == NULL || !read_share(r, call, "share", &hidden->share) ||
        !read_share(r, call, "random", &hidden->random) || !read_share(r, call, "kept", &hidden->kept) ||
        !read_word(r, call, "mask", words->words, &hidden->mask) ||
        !read_word(r, call, "first", words->words, &hidden->first))
        return;
    if (other != NULL)
        report_class(r, call->span,
                     pool_text(r->l->pool, "`%s` hides words of `%s` already", other->name, words->name),
                     "a text has one `hide`: losses may share its target");
    if (hidden->random + hidden->kept > 1)
        report_class(r, argument(call, "random")->span, "`random` and `kept` are more than 1 together",
                     NULL);
    term.text = words->name;
    push_term(r, term);
}

static const struct {
    const char *signature;
    void (*read)(Reader *r, Call *call);
} source_calls[HERE] = {
    {"images(pattern, channels = none, scale = \"unit\", missing = none, exif = false, alpha = false, "
     "page = none, entry = none, list = none, column = none)",
     read_images},
    {"volumes(pattern, list = none, column = none)", read_volumes},
    {"signals(pattern, missing = none, list = none, column = none)", read_signals},
    {"labels(pattern, values = none, colours = none, others = \"error\", round = false, exif = false, "
     "alpha = false, page = none, entry = none, list = none, column = none)",
     read_labels},
    {"list(names, column = none)", read_names},
    {"gaussian(sigma)", read_gaussian},
    {"uniform(low, high)", read_uniform},
    {"border_weight(labels, w0 = 10, sigma = 5)", read_border_weight},
    {"class_of(picture, names = none)", read_class_of},
    {"diffuse(picture, time, steps = 1000, schedule = \"linear\", objective = \"noise\", "
     "min_snr = none)",
     read_diffuse},
    {"tokens(pattern, vocabulary, list = none, column = none)", read_tokens},
    {"hide(words, mask, share = 0.15, random = 0.1, kept = 0.1, first = 0)", read_hide},
    {"next(words)", read_next}};

void print_sources(FILE *out) {
    for (int i = 0; i < HERE; i++)
        fprintf(out, "    name = %s\n", source_calls[i].signature);
}

static void read_call(Reader *r, const Expr *expr) {
    int kind = 0;
    while (kind < HERE && strcmp(expr->text, sources_here[kind]) != 0)
        kind++;
    if (kind == HERE) {
        report_later(r, expr);
        return;
    }
    Call call = {.l = r->l, .expr = expr, .span = expr->span};
    call.signature = signature_of(r->l, source_calls[kind].signature, true);
    if (!is_right_call(r, expr) || !bind_arguments(&call, NULL, &expr->args))
        r->good = false;
    else
        source_calls[kind].read(r, &call);
}

static void read_number(Reader *r, const Expr *expr) {
    Datum d = eval(r->l, expr);
    double number;
    if (datum_number(d, &number))
        push_term(r, (SourceTerm){.op = SOURCE_NUMBER, .value = number, .span = expr->span});
    else if (d.kind == DATUM_ERROR)
        r->good = false;
    else
        report_not_a_source(
            r, expr,
            pool_text(r->l->pool, "a source is made of numbers, and this is %s", datum_text(r->l, d)));
}

static void read_source(Reader *r, const Expr *expr);

static void read_operation(Reader *r, const Expr *expr) {
    SourceOp op = expr->op == OPERATOR_ADD        ? SOURCE_ADD
                  : expr->op == OPERATOR_SUBTRACT ? SOURCE_SUB
                  : expr->op == OPERATOR_MULTIPLY ? SOURCE_MUL
                                                  : SOURCE_DIV;
    if (op == SOURCE_DIV && expr->op != OPERATOR_DIVIDE) {
        report_not_a_source(r, expr,
                            pool_text(r->l->pool, "`%s` does not work between sources: use + - * /",
                                      operator_text(expr->op)));
        return;
    }
    read_source(r, expr->left);
    read_source(r, expr->right);
    push_term(r, (SourceTerm){.op = op, .span = expr->span});
}

static void read_source(Reader *r, const Expr *expr) {
    expr = expr_inside(expr);
    if (!holds_source(r, expr)) {
        read_number(r, expr);
    } else if (expr->kind == EXPR_CALL) {
        read_call(r, expr);
    } else if (expr->kind == EXPR_BINARY) {
        read_operation(r, expr);
    } else if (expr->kind == EXPR_UNARY && expr->op == OPERATOR_NEGATE) {
        push_term(r, (SourceTerm){.op = SOURCE_NUMBER, .value = 0, .span = expr->span});
        read_source(r, expr->left);
        push_term(r, (SourceTerm){.op = SOURCE_SUB, .span = expr->span});
    } else if (expr->kind == EXPR_NAME && find_source(r->data, expr->text) != NULL) {
        push_term(r, (SourceTerm){.op = SOURCE_NAME, .text = expr->text, .span = expr->span});
    } else if (expr->kind == EXPR_NAME) {
        report_not_a_source(r, expr,
                            pool_text(r->l->pool, "`%s` has no source above this line", expr->text));
    } else {
        report_not_a_source(r, expr, "this is not a source");
    }
}

/* ---- name = source ---- */

bool run_source(Lower *l, const Stmt *stmt) {
    if (l->section == NULL ||
        (strcmp(l->section->name, "data") != 0 && strcmp(l->section->name, "eval") != 0)) {
        if (l->section != NULL && is_setting(l, stmt->targets.item[0]->text)) {
            diag_begin(l->diag, ERROR, "U0604", stmt->value->span, "a setting has no `=`");
            diag_help(l->diag, "write `%s %s`", stmt->targets.item[0]->text,
                      expr_text(l->pool, stmt->value));
            diag_end(l->diag);
            return true;
        }
        return false;
    }
    const char *name = stmt->targets.item[0]->text;
    DataSection *data = strcmp(l->section->name, "eval") == 0 ? &l->model->eval_data : &l->model->data;
    Source source = {.name = name, .span = stmt->targets.item[0]->span};
    Reader r = {l, data, &source, stmt->value, true};
    const Input *input = find_input(l, name, &source.input);
    const Input *like = input != NULL ? input : l->model->ninput > 0 ? &l->model->input[0] : NULL;
    source.channels = like == NULL ? 3 : (int)shape_channels(l->graph->value[like->value].shape);
    if (input == NULL && is_setting(l, name) && !holds_source(&r, stmt->value)) {
        diag_begin(l->diag, ERROR, "U0604", stmt->value->span, "a setting has no `=`");
        diag_help(l->diag, "write `%s %s`", name, expr_text(l->pool, stmt->value));
        diag_end(l->diag);
        return true;
    }
    const Source *before = find_source(data, name);
    if (input != NULL && l->model->diffusion.present && source.input == l->model->diffusion.truth) {
        diag_begin(l->diag, ERROR, "U0603", source.span, "`%s` has two sources", name);
        diag_also(l->diag, l->model->diffusion.span, "first here");
        diag_end(l->diag);
        return true;
    }
    if (before != NULL) {
        diag_begin(l->diag, ERROR, "U0603", source.span, "`%s` has two sources", name);
        diag_also(l->diag, before->span, "first here");
        diag_end(l->diag);
        return true;
    }
    if (!holds_source(&r, stmt->value))
        report_not_a_source(&r, stmt->value,
                            "a source reads files or makes noise; set other values with `let`");
    else
        read_source(&r, stmt->value);
    if (l->model->diffusion.present && source.input == l->model->diffusion.truth && source.input >= 0)
        return true; /* no loader fills it */
    if (r.good && input != NULL && input->kind == KIND_LABELS && source.term[0].op != SOURCE_FILES)
        report_not_a_source(&r, stmt->value,
                            "classes are read from files of their own: `labels(\"masks/*.png\")`");
    if (r.good) {
        table_set(l->pool, &data->source_of, name, data->nsource);
        PUSH(l->pool, data->source, data->nsource, source);
    }
    return true;
}

/* ---- words ---- */

void list_sources(Text *out) {
    for (int i = 0; i < HERE; i++)
        text_line(out, "source\t%s", source_calls[i].signature);
}
