/* lower_torch.h - what operators of PyTorch and Keras, and their arguments, are called here.  Private to
 * this folder. */
#ifndef LOWER_TORCH_H
#define LOWER_TORCH_H

/* The operator that does what NAME does elsewhere, such as `conv` for `Conv2d`, or NULL. */
const char *torch_operator(const char *name);
/* The argument for one that is called NAME elsewhere, such as `kernel` for `kernel_size`; "" if nothing
 * takes its place, NULL if it is unknown. */
const char *torch_argument(const char *name);
/* The optimizer or schedule that NAME is elsewhere, such as `step` for `StepLR`, or NULL. */
const char *torch_update(const char *name);
/* An argument of one; otherwise as torch_argument(). */
const char *torch_update_argument(const char *name);
/* What to write for a setting, or a call, that others have and this language has not; NULL: unknown. */
const char *torch_setting(const char *name);
const char *torch_instead(const char *name);

#endif
