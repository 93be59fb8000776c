/* vocabulary.c - the logits of a point for many classes: the loss of a language model and its gradient are
 * made of logits. */
#include "prologue.c"

/* BEGIN */
#include <math.h>

/* The points of N samples: their channels, the numbers of their classes, and the rows of a table, one for
 * each class, with which the channels are multiplied. */
typedef struct {
    const stored *x;
    const void *t;
    const real *w, *b;
    Layout of_x, of_t;
    int staged, channels, width, points;
    long classes;
} Vocabulary;

/* The class of a point, which is a number of all samples; -1: the point does not count. */
UNUSED static long class_of_point(const Vocabulary *by, long point) {
    const int i = (int)(point / by->points), at = (int)(point % by->points);
    const double number = load_either(by->staged, by->t,
                                      element(&by->of_t, i, 0, 0, at / by->width, at % by->width)),
                 nearest = floor(number + 0.5);
    return nearest >= 0 && nearest < (double)by->classes ? (long)nearest : -1;
}

UNUSED static double logit_of_class(const Vocabulary *by, long point, long class) {
    const int i = (int)(point / by->points), at = (int)(point % by->points);
    double sum = by->b == NULL ? 0 : (double)by->b[class];
    for (int c = 0; c < by->channels; c++)
        sum += (double)by->w[class * by->channels + c] *
               (double)load(by->x, element(&by->of_x, i, c, 0, at / by->width, at % by->width));
    return sum;
}

UNUSED static double largest_of_point(const Vocabulary *by, long point) {
    double most = -INFINITY;
    for (long j = 0; j < by->classes; j++)
        most = fmax(most, logit_of_class(by, point, j));
    return most;
}

/* The logarithm of the sum of exp(logit) over all classes. */
UNUSED static double level_of_point(const Vocabulary *by, long point) {
    const double most = largest_of_point(by, point);
    double sum = 0;
    for (long j = 0; j < by->classes; j++)
        sum += exp(logit_of_class(by, point, j) - most);
    return most + log(sum);
}
/* END */
