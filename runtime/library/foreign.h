/* foreign.h - what to do with weights from elsewhere; private to the runtime. */
#ifndef UNET_FOREIGN_H
#define UNET_FOREIGN_H

#include "unet/safetensors.h"

enum { ADVICE_BYTES = 512 };

/* FIRST: the first eight bytes of a file.  Is it one that torch.save() wrote? */
bool is_of_torch_save(uint64_t first);
UnetStatus fail_of_torch_save(const char *path, UnetError *error);

/* The tensors of FILE in place of a tensor called NAME, and how to map them: a text behind "not in the
 * file". */
void advise_names(const UnetSafetensors *file, const char *name, char advice[ADVICE_BYTES]);

#endif
