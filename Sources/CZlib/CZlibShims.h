// zlib for Swift: its two initializers are macros. The manual: https://zlib.net/manual.html
#ifndef CZLIB_SHIMS_H
#define CZLIB_SHIMS_H

#include <zlib.h>

// A window of 15 bits: +16 reads and writes gzip, plain is zlib's own container, negative is raw deflate.
static inline int czlib_inflate_init(z_stream *stream, int window) { return inflateInit2(stream, window); }
static inline int czlib_deflate_init(z_stream *stream, int level, int window) {
    return deflateInit2(stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
}

#endif
