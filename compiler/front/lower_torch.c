/* lower_torch.c - see lower_torch.h.
 *
 * Operators are found without regard to case, `_` and a dimension at the end: Conv2d, conv2d and Conv are
 * one.
 */
#include "front/lower_torch.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct {
    const char *theirs, *ours;
} Word;

static const Word operators[] = {
    {"conv", "conv"},
    {"convolution", "conv"},
    {"convtranspose", "upconv"},
    {"conv2dtranspose", "upconv"},
    {"conv3dtranspose", "upconv"},
    {"deconv", "upconv"},
    {"deconvolution", "upconv"},
    {"maxpool", "max_pool"},
    {"maxpooling", "max_pool"},
    {"relu", "relu"},
    {"cat", "concat"},
    {"concatenate", "concat"},
    {"mseloss", "mse"},
    {"l1loss", "l1"},
    {"batchnorm", "batch_norm"},
    {"batchnormalization", "batch_norm"},
    {"instancenorm", "instance_norm"},
    {"groupnorm", "group_norm"},
    {"layernorm", "layer_norm"},
    {"maxunpool", "max_unpool"},
    {"linear", "linear"},
    {"dense", "linear"},
    {"interpolate", "resize"},
    {"upsample", "resize"},
    {"upsampling", "resize"},
    {"avgpool", "avg_pool"},
    {"averagepooling", "avg_pool"},
    {"adaptiveavgpool", "adaptive_avg_pool"},
    {"globalaveragepooling", "adaptive_avg_pool"},
    {"leakyrelu", "leaky_relu"},
    {"prelu", "prelu"},
    {"silu", "silu"},
    {"swish", "silu"},
    {"gelu", "gelu"},
    {"elu", "elu"},
    {"sigmoid", "sigmoid"},
    {"softmax", "softmax"},
    {"dropout2d", "dropout_channels"},
    {"dropout3d", "dropout_channels"},
    {"dropout", "dropout"},
    {"pixelshuffle", "pixel_shuffle"},
    {"pixelunshuffle", "pixel_unshuffle"},
    {"charbonnierloss", "charbonnier"},
    {"crossentropyloss", "cross_entropy"},
    {"bcewithlogitsloss", "bce_with_logits"},
    {"bceloss", "bce_with_logits"},
    {"bce", "bce_with_logits"},
    {"binarycrossentropywithlogits", "bce_with_logits"},
    {"ohemcrossentropyloss", "ohem_cross_entropy"},
    {"lovaszsoftmaxloss", "lovasz_loss"},
    {"lovaszhingeloss", "lovasz_loss"},
    {"diceloss", "dice_loss"},
    {"tverskyloss", "tversky_loss"},
    {"focalloss", "focal_loss"},
    {"sigmoidfocalloss", "focal_loss"},
    {"smoothl1loss", "smooth_l1"},
    {"huberloss", "smooth_l1"},
    {"l2", "mse"},
    {"l2loss", "mse"},
    {"mae", "l1"},
    {"psnrloss", "psnr_loss"},
    {"ssimloss", "ssim_loss"},
    {"pad", "match"},
};

static const Word arguments[] = {
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

static const char *look_up(const Word *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].theirs, name) == 0)
            return list[i].ours;
    return NULL;
}

const char *torch_operator(const char *name) {
    enum { OPERATORS = sizeof operators / sizeof *operators };
    char text[40];
    if (!plain(name, text, sizeof text))
        return NULL;
    const char *ours = look_up(operators, OPERATORS, text);
    const size_t length = strlen(text);
    if (ours != NULL || length < 3 || text[length - 1] != 'd' || !isdigit((unsigned char)text[length - 2]))
        return ours;
    text[length - 2] = '\0';
    return look_up(operators, OPERATORS, text);
}

const char *torch_argument(const char *name) {
    return look_up(arguments, sizeof arguments / sizeof *arguments, name);
}
