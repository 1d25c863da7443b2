// For LD_PRELOAD: libcurl allocates with the C library, which a sanitizer watches, not with a program's functions.
#include <curl/curl.h>

CURLcode curl_global_init_mem(long flags, curl_malloc_callback allocate, curl_free_callback release,
                              curl_realloc_callback resize, curl_strdup_callback copy, curl_calloc_callback clear) {
    (void)allocate, (void)release, (void)resize, (void)copy, (void)clear;
    return curl_global_init(flags);
}
