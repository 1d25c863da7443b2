// For LD_PRELOAD: libcurl keeps the C library's memory, where a sanitizer sees each piece, whatever a program gives it.
#include <curl/curl.h>

CURLcode curl_global_init_mem(long flags, curl_malloc_callback allocate, curl_free_callback release,
                              curl_realloc_callback resize, curl_strdup_callback copy, curl_calloc_callback clear) {
    (void)allocate, (void)release, (void)resize, (void)copy, (void)clear;
    return curl_global_init(flags);
}
