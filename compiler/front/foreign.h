/* foreign.h - what names of PyTorch, Keras and the libraries around them are here.  Private to this folder.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

/* The operator that does what NAME does elsewhere, such as `conv` for `Conv2d`, or NULL. */
const char *foreign_operator(const char *name);
/* The argument for one that is called NAME elsewhere, such as `kernel` for `kernel_size`; "" if nothing
 * takes its place, NULL if it is unknown. */
const char *foreign_argument(const char *name);
/* The optimizer or schedule that NAME is elsewhere, such as `step` for `StepLR`, or NULL. */
const char *foreign_update(const char *name);
/* The whole setting to write for one that is not here, such as `optimizer adamw(lr = 1e-3)`, or NULL. */
const char *foreign_update_help(const char *name);
/* An argument of one; otherwise as foreign_argument(). */
const char *foreign_update_argument(const char *name);
/* A sentence that says how this language does a setting, or a call, of another library; NULL: unknown. */
const char *foreign_setting(const char *name);
const char *foreign_call_help(const char *name);

#endif
