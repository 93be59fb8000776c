/* stored_32.c - tensors of 32 bits: how vectors of them are loaded and stored. */
#include "types.c"

/* BEGIN */
INLINE Vector load(const stored *p) {
    return load_real(p);
}

INLINE void store(stored *p, Vector v) {
    store_real(p, v);
}

INLINE Vector load_some(const stored *p, int lanes) {
    return load_some_real(p, lanes);
}

INLINE void store_some(stored *p, Vector v, int lanes) {
    store_some_real(p, v, lanes);
}

/* The first `lanes`, then zeros up to a whole vector. */
INLINE void copy_some(stored *to, const stored *from, int lanes) {
    store_real(to, load_some_real(from, lanes));
}

INLINE Vector rounded(Vector v) {
    return v;
}
/* END */
