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

static const Word updates[] = {
    {"adam", "adam"},
    {"adamw", "adamw"},
    {"sgd", "sgd"},
    {"rmsprop", "rmsprop"},
    {"cosineannealinglr", "cosine"},
    {"cosineannealing", "cosine"},
    {"cosinedecay", "cosine"},
    {"steplr", "step"},
    {"multisteplr", "multistep"},
    {"piecewiseconstantdecay", "multistep"},
    {"reducelronplateau", "plateau"},
    {"onecyclelr", "one_cycle"},
    {"onecycle", "one_cycle"},
    {"polynomiallr", "poly"},
    {"polynomialdecay", "poly"},
    {"polylr", "poly"},
    {"constantlr", "constant"},
};

static const Word update_arguments[] = {
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

/* Help for settings that others have. */
static const Word settings[] = {
    {"mixedprecision", "write `precision \"f16\"` or `precision \"bf16\"`"},
    {"amp", "write `precision \"f16\"` or `precision \"bf16\"`"},
    {"fp16", "write `precision \"f16\"`"},
    {"bf16", "write `precision \"bf16\"`"},
    {"dropout", "it is an operator of the network: `x -> dropout(0.5)`"},
    {"earlystopping", "write `patience 5`: so many evaluations in a row without a better one end training"},
    {"numworkers", "write `threads 4` in the section `data`"},
    {"workers", "write `threads 4` in the section `data`"},
    {"device",
     "the machine is named when compiling: `unetc --target=... FILE`, as `unetc --help` lists them"},
    {"gpu", "the machine is named when compiling: `unetc --target=... FILE`, as `unetc --help` lists them"},
    {"valsplit", "write `holdout 0.1` in the section `data`"},
    {"validationsplit", "write `holdout 0.1` in the section `data`"},
    {"validation",
     "write `holdout 0.1` in the section `data`, or a section `eval` with sources of its own"},
    {"gradientaccumulation", "write `accumulate 4`"},
    {"gradientaccumulationsteps", "write `accumulate 4`"},
    {"accumulationsteps", "write `accumulate 4`"},
    {"accumulategradbatches", "write `accumulate 4`"},
    {"criterion", "write `loss`, such as `loss mse(denoised, clean)`"},
    {"objective", "write `loss`, such as `loss mse(denoised, clean)`"},
    {"savebest", "the weights of the best evaluation are kept without a setting"},
    {"checkpoint", "write `save 1, \"epochs\"`"},
    {"augment", "write a line for each transform in the section `data`: `flip`, `rot90`, `crop`"},
    {"augmentation", "write a line for each transform in the section `data`: `flip`, `rot90`, `crop`"},
    {"transform", "write a line for each transform in the section `data`: `flip`, `rot90`, `crop`"},
    {"randomcrop", "write `crop`: a window is as large as the input"},
    {"centercrop", "write `crop random = false`: a window is as large as the input"},
    {"randomrotation", "write `rotate 10`, in degrees to either side, or `rot90`"},
    {"colorjitter", "write `distort brightness = 0.2, contrast = 0.2`"},
    {"totensor", "leave it out: images are read as numbers from 0 to 1"},
};

/* Help for calls that are no operators here. */
static const Word instead[] = {
    {"sequential", "a chain does that: `x -> conv(8, 3) -> relu`"},
    {"identity", "leave it out"},
    {"modulelist", "a list holds tensors, and calls are made where they are used: `skips = []`"},
    {"flatten", "tensors keep their axes: `adaptive_avg_pool(x, 1)` makes one point of each channel"},
    {"unet", "a network is written out in operators; `examples/` has several to begin with"},
    {"input", "an input is declared: `input photo : image(3, 256, 256)`"},
    {"model", "a file is one network: its result is `output name = ...`"},
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

const char *torch_update(const char *name) {
    char text[40];
    return plain(name, text, sizeof text) ? look_up(updates, sizeof updates / sizeof *updates, text) : NULL;
}

const char *torch_update_argument(const char *name) {
    const char *ours = look_up(update_arguments, sizeof update_arguments / sizeof *update_arguments, name);
    return ours != NULL ? ours : torch_argument(name);
}

const char *torch_setting(const char *name) {
    char text[40];
    return plain(name, text, sizeof text) ? look_up(settings, sizeof settings / sizeof *settings, text)
                                          : NULL;
}

const char *torch_instead(const char *name) {
    char text[40];
    return plain(name, text, sizeof text) ? look_up(instead, sizeof instead / sizeof *instead, text) : NULL;
}
