// libcurl for Swift. Swift can't call C functions with variable arguments, so there is one inline function per
// *parameter type* of curl_easy_setopt, curl_easy_getinfo, and curl_multi_setopt; a new option needs no new line here
// unless it has a new type. Options that are newer than the oldest supported header (7.88) are given by number, which
// is part of libcurl's ABI: #ifdef can't see enumerators.
#ifndef NETWORKLAYER_CCURL_SHIMS_H
#define NETWORKLAYER_CCURL_SHIMS_H

// Deprecated options (CURLOPT_PROTOCOLS) are used by number.
#define CURL_DISABLE_DEPRECATION
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// What a loop on Linux needs and Swift's C library module omits.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <string.h>
#include <unistd.h>
// Names the calling thread, in at most 15 bytes. (_GNU_SOURCE guards pthread_setname_np.)
static inline void ccurl_name_thread(const char *name) { prctl(PR_SET_NAME, name); }
// Returns the number of cores that the process may use: sched_getaffinity(2), also guarded by _GNU_SOURCE. 0 on
// failure.
static inline int ccurl_count_cores(void) {
    unsigned long mask[128] = {0};
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int cores = 0;
    for (long word = 0; word < bytes / (long)sizeof *mask; word++) cores += __builtin_popcountl(mask[word]);
    return cores;
}
// SCHED_BATCH, which _GNU_SOURCE guards.
static const int ccurl_sched_batch = 3;
static const unsigned ccurl_epoll_in = EPOLLIN;
static const unsigned ccurl_epoll_out = EPOLLOUT;
static const unsigned ccurl_epoll_err = EPOLLERR;
static const unsigned ccurl_epoll_hup = EPOLLHUP | EPOLLRDHUP;
static const int ccurl_epoll_cloexec = EPOLL_CLOEXEC;
static const int ccurl_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

// Newer than 7.88, by number, with the version that introduced it.
static const CURLMoption ccurl_mopt_quick_exit = (CURLMoption)(CURLOPTTYPE_LONG + 21);  // 8.20
// Deprecated, but libcurl would parse the names (CURLOPT_PROTOCOLS_STR) for each request.
static const CURLoption ccurl_opt_protocols = (CURLoption)(CURLOPTTYPE_LONG + 181);
static const CURLoption ccurl_opt_redir_protocols = (CURLoption)(CURLOPTTYPE_LONG + 182);

// Macros with casts or of unsigned type, which the importer skips.
static const long ccurl_global_all = CURL_GLOBAL_ALL;
static const curl_socket_t ccurl_socket_bad = CURL_SOCKET_BAD;
static const curl_socket_t ccurl_socket_timeout = CURL_SOCKET_TIMEOUT;
static const size_t ccurl_readfunc_abort = CURL_READFUNC_ABORT;
static const size_t ccurl_writefunc_pause = CURL_WRITEFUNC_PAUSE;
static const size_t ccurl_readfunc_pause = CURL_READFUNC_PAUSE;
static const int ccurl_pause_continue = CURLPAUSE_CONT;
static const int ccurl_pause_receiving = CURLPAUSE_RECV;
static const long ccurl_http_bits = CURLPROTO_HTTP | CURLPROTO_HTTPS;
static const long ccurl_sslversion_tls1_2 = CURL_SSLVERSION_TLSv1_2;
static const long ccurl_sslversion_tls1_0 = CURL_SSLVERSION_TLSv1_0;
static const long ccurl_sslversion_maximum_shift = 16;
static const long ccurl_auth_basic = CURLAUTH_BASIC;
static const long ccurl_auth_digest = CURLAUTH_DIGEST;

// Enumerators in some versions and macros in others: one type for Swift.
static const long ccurl_http_version_1_0 = CURL_HTTP_VERSION_1_0;
static const long ccurl_http_version_1_1 = CURL_HTTP_VERSION_1_1;
static const long ccurl_http_version_2 = CURL_HTTP_VERSION_2TLS;
static const long ccurl_http_version_2_prior_knowledge = CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
static const long ccurl_http_version_3 = 30;
static const long ccurl_http_version_3_only = 31;
static const long ccurl_time_if_modified = CURL_TIMECOND_IFMODSINCE;
static const int ccurl_backend_openssl = CURLSSLBACKEND_OPENSSL;
static const int ccurl_backend_gnutls = CURLSSLBACKEND_GNUTLS;
static const long ccurl_pipe_multiplex = CURLPIPE_MULTIPLEX;
static const int ccurl_poll_in = CURL_POLL_IN;
static const int ccurl_poll_out = CURL_POLL_OUT;
static const int ccurl_poll_inout = CURL_POLL_INOUT;
static const int ccurl_select_in = CURL_CSELECT_IN;
static const int ccurl_select_out = CURL_CSELECT_OUT;
static const int ccurl_select_err = CURL_CSELECT_ERR;
static const int ccurl_seek_ok = CURL_SEEKFUNC_OK;
static const int ccurl_seek_fail = CURL_SEEKFUNC_FAIL;
static const size_t ccurl_error_size = CURL_ERROR_SIZE;

static inline const curl_version_info_data *ccurl_version_info(void) { return curl_version_info(CURLVERSION_NOW); }

// NULL if the library is older than the member (7.87), and so too old.
static inline const char *const *ccurl_feature_names(void) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    return info->age >= CURLVERSION_ELEVENTH ? info->feature_names : NULL;
}

// One function per parameter type of curl_easy_setopt.
static inline CURLcode ccurl_easy_setopt_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_easy_setopt_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_easy_setopt_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_easy_setopt_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode ccurl_easy_setopt_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

// libcurl copies the bytes.
static inline CURLcode ccurl_easy_setopt_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode ccurl_easy_setopt_data_callback(CURL *easy, CURLoption option, ccurl_data_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}
typedef int (*ccurl_seek_callback)(void *context, curl_off_t offset, int origin);
static inline CURLcode ccurl_easy_setopt_seek_callback(CURL *easy, ccurl_seek_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}
typedef int (*ccurl_trailer_callback)(struct curl_slist **list, void *context);
static inline CURLcode ccurl_easy_setopt_trailer_callback(CURL *easy, ccurl_trailer_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, callback);
}
typedef int (*ccurl_debug_callback)(CURL *easy, curl_infotype type, char *bytes, size_t count, void *context);
static inline CURLcode ccurl_easy_setopt_debug_callback(CURL *easy, ccurl_debug_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}
typedef curl_socket_t (*ccurl_open_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
static inline CURLcode ccurl_easy_setopt_open_socket_callback(CURL *easy, ccurl_open_socket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}
typedef int (*ccurl_close_socket_callback)(void *context, curl_socket_t descriptor);
static inline CURLcode ccurl_easy_setopt_close_socket_callback(CURL *easy, ccurl_close_socket_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

typedef CURLcode (*ccurl_tls_callback)(CURL *easy, void *tls_context, void *context);
static inline CURLcode ccurl_easy_setopt_tls_callback(CURL *easy, ccurl_tls_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
}
// Calls OpenSSL's ERR_set_error, which was looked up at run time, without a text.
static inline void ccurl_set_error(void *function, int library, int reason) {
    ((void (*)(int, int, const char *, ...))function)(library, reason, NULL);
}

typedef int (*ccurl_prereq_callback)(void *context, char *remote, char *local, int remote_port, int local_port);
static inline CURLcode ccurl_easy_setopt_prereq_callback(CURL *easy, ccurl_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

typedef int (*ccurl_progress_callback)(
    void *context, curl_off_t announced, curl_off_t received, curl_off_t to_send, curl_off_t sent);
static inline CURLcode ccurl_easy_setopt_progress_callback(CURL *easy, ccurl_progress_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

typedef int (*ccurl_resolver_start_callback)(void *state, void *reserved, void *context);
static inline CURLcode ccurl_easy_setopt_resolver_start_callback(CURL *easy, ccurl_resolver_start_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, callback);
}

// One function per parameter type of curl_easy_getinfo.
static inline CURLcode ccurl_easy_getinfo_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_easy_getinfo_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_easy_getinfo_string(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode ccurl_easy_getinfo_pointer(CURL *easy, void **value) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

// Reads the TLS library's number and its session, which is NULL without a connection.
static inline CURLcode ccurl_easy_getinfo_tls(CURL *easy, int *library, void **session) {
    struct curl_tlssessioninfo *info = NULL;
    CURLcode code = curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info);
    if (code == CURLE_OK && info) {
        *library = (int)info->backend;
        *session = info->internals;
    }
    return code;
}

// curl_share_setopt, and one function per parameter type of curl_multi_setopt.
static inline CURLSHcode ccurl_share_tls_sessions(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}
static inline CURLMcode ccurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
static inline CURLMcode ccurl_multi_setopt_pointer(CURLM *multi, CURLMoption option, void *value) {
    return curl_multi_setopt(multi, option, value);
}
typedef int (*ccurl_socket_callback)(CURL *easy, curl_socket_t descriptor, int interest, void *context, void *assigned);
static inline CURLMcode ccurl_multi_setopt_socket_callback(CURLM *multi, ccurl_socket_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}
typedef int (*ccurl_timer_callback)(CURLM *multi, long milliseconds, void *context);
static inline CURLMcode ccurl_multi_setopt_timer_callback(CURLM *multi, ccurl_timer_callback callback) {
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}

// curl_multi_info_read returns a struct with a union, which Swift reads as raw memory.
static inline CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

#endif
