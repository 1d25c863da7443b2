// Makes libcurl read past the end of an allocation, which an instrumented libcurl must report.
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *text = malloc(16);
    if (!text) return 2;
    memset(text, 'a', 16);
    CURL *handle = curl_easy_init();
    curl_free(curl_easy_escape(handle, text, 17));
    curl_easy_cleanup(handle);
    free(text);
    return 0;
}
