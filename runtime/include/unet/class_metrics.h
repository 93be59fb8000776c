/* class_metrics.h - metrics of classes, from how often each true class met each predicted one. */
#ifndef UNET_CLASS_METRICS_H
#define UNET_CLASS_METRICS_H

#include "unet/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The value of RESULT, a metric of classes, of as many PAIRS as unet_result_numbers() says: row by row the
 * true classes.  NaN: no class of it is there. */
double unet_class_metric(const UnetResult *result, const double *pairs);

#ifdef __cplusplus
}
#endif

#endif
