/* layers.h - names of layers, and patterns for them in settings such as `freeze`. */
#ifndef LAYERS_H
#define LAYERS_H

#include <stdbool.h>

/* Does PATTERN name LAYER, or what LAYER has in front of one of its dots?  A star in a pattern stands for
 * any characters. */
bool names_layer(const char *pattern, const char *layer);

#endif
