/* vocabulary_loss.c - cross entropy of `linear(x, classes)` and the number of a class at each point; or the
 * share of points that are right. */
#include "vocabulary.c"

#define KERNEL vocabulary_loss
#include "../example.h"

/* BEGIN */
/* The term of a point, which is 0 if the point does not count.  RIGHT: 1 if no logit is larger than its
 * own. */
UNUSED static double KERNEL_term(const Vocabulary *by, real *lse, long point) {
    SIZES;
    const long class = class_of_point(by, point);
    const double level = class < 0 ? 0 : level_of_point(by, point);
    if (LEARNT)
        lse[point / by->points * LSE.sample + point % by->points] = (real)level;
    if (class < 0)
        return 0;
    const double own = logit_of_class(by, point, class);
    return RIGHT ? own >= largest_of_point(by, point) : level - own;
}

UNUSED static void KERNEL(int n, int total, double *result, real *lse, double *scratch, const stored *x,
                          const void *t, const real *w, const real *b, double counted) {
    SIZES;
    const Vocabulary by = {x, t, w, b, X, T, T_STAGED, C, W, D * H * W, CLASSES};
#pragma omp for schedule(static)
    for (long point = 0; point < (long)n * by.points; point++)
        scratch[point] = KERNEL_term(&by, lse, point);
#pragma omp single
    {
        double sum = ACCUMULATE ? *result : 0;
        for (int i = 0; i < n; i++) {
            double of_sample = 0;
            for (int point = 0; point < by.points; point++)
                of_sample += scratch[(long)i * by.points + point];
            sum += counted > 0 ? of_sample * (total / counted) : 0;
        }
        *result = sum;
    }
}
/* END */
