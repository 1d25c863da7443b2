// The control: libcurl driven from C, as fast as possible. All other contenders are compared with it.
#include "arguments.h"
#include "figures.h"
#include "loop.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    CURL *easy;
    char *body;
    size_t length, capacity, sent;
    uint64_t began;
} exchange_type;

static arguments_type arguments;
static CURLM *multi;
static exchange_type *exchanges;
static uint64_t *times;
static long started, ended, errors, goal;
static char piece[65536];

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    exchange_type *exchange = context;
    size_t added = size * count;
    if (arguments.mode != STREAM) {
        if (exchange->length + added > exchange->capacity) {
            size_t capacity = exchange->capacity ? exchange->capacity : 4096;
            while (capacity < exchange->length + added) capacity *= 2;
            char *larger = realloc(exchange->body, capacity);
            if (!larger) return 0;
            exchange->body = larger;
            exchange->capacity = capacity;
        }
        memcpy(exchange->body + exchange->length, bytes, added);
    }
    exchange->length += added;
    return added;
}

static size_t give_body(char *bytes, size_t size, size_t count, void *context) {
    exchange_type *exchange = context;
    size_t room = size * count, left = arguments.bytes - exchange->sent;
    if (room > left) room = left;
    if (room > sizeof piece) room = sizeof piece;
    memcpy(bytes, piece, room);
    exchange->sent += room;
    return room;
}

// The two fields that the library adds to each request; only their length matters here.
static struct curl_slist *make_fields(void) {
    struct curl_slist *agent = curl_slist_append(NULL, "User-Agent: NetworkLayer/0.0.0");
    struct curl_slist *fields = agent ? curl_slist_append(agent, "Accept-Encoding: gzip, deflate") : NULL;
    if (!fields) abort();
    return fields;
}

static CURL *make_easy(const char *url) {
    CURL *easy = curl_easy_init();
    if (!easy) abort();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // With a directory of authorities, each new connection would read all of them again.
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (arguments.ca) curl_easy_setopt(easy, CURLOPT_CAINFO, arguments.ca);
    if (arguments.sends_fields) curl_easy_setopt(easy, CURLOPT_HTTPHEADER, make_fields());
    loop_attach(easy);
    return easy;
}

static void prepare(exchange_type *exchange) {
    CURL *easy = exchange->easy = make_easy(arguments.url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, exchange);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(
        easy, CURLOPT_HTTP_VERSION, arguments.http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    if (arguments.http2) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    if (arguments.gzip) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    if (arguments.mode == POST) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, piece);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)sizeof piece);
    }
    if (arguments.mode == UPLOAD) {
        curl_easy_setopt(easy, CURLOPT_POST, 1L);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)arguments.bytes);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(easy, CURLOPT_READDATA, exchange);
    }
}

static void start(exchange_type *exchange) {
    exchange->length = exchange->sent = 0;
    exchange->began = now_in_ns();
    started++;
    curl_multi_add_handle(multi, exchange->easy);
}

static void start_all(void) {
    for (long index = 0; index < arguments.in_flight && started < goal; index++) start(&exchanges[index]);
}

static void on_end(CURL *easy, CURLcode result) {
    exchange_type *exchange = NULL;
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&exchange);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi, easy);
    if (!exchange) { // a long poll, which should not end
        errors++;
        return;
    }
    bool is_wrong = arguments.bytes && arguments.mode != UPLOAD && exchange->length != arguments.bytes;
    if (result != CURLE_OK || status != 200 || is_wrong) {
        if (!errors++)
            fprintf(stderr, "control: %s, status %ld, %zu bytes\n", curl_easy_strerror(result), status, exchange->length);
    }
    times[ended++] = now_in_ns() - exchange->began;
    if (arguments.mode == BURST) {
        if (ended == started) start_all();
    } else if (started < goal) start(exchange);
}

static bool all_ended(void) { return ended >= goal; }
static bool never(void) { return false; }

int main(int count, char **words) {
    arguments = read_arguments(count, words);
    curl_global_init(CURL_GLOBAL_ALL);
    memset(piece, 'a', sizeof piece);
    if (arguments.mode == IDLE) arguments.count = arguments.in_flight;
    times = malloc(sizeof *times * (size_t)(arguments.count + 1));
    exchanges = calloc((size_t)arguments.in_flight, sizeof *exchanges);
    if (!times || !exchanges) abort();
    multi = loop_make((arguments.in_flight < 16 ? 16 : arguments.in_flight) + arguments.polls);

    long memory = 0;
    if (arguments.mode == IDLE) { // the fixed cost of the first connection is not part of the price of the next
        prepare(&exchanges[0]);
        goal = 1;
        start(&exchanges[0]);
        loop_run(multi, on_end, all_ended, 0);
        started = ended = 0;
        memory = status_kb("VmRSS");
    }
    for (long index = arguments.mode == IDLE; index < arguments.in_flight; index++) prepare(&exchanges[index]);
    if (arguments.polls) {
        for (long index = 0; index < arguments.polls; index++) {
            CURL *easy = make_easy(arguments.poll);
            curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
            curl_multi_add_handle(multi, easy);
        }
        loop_run(multi, on_end, never, now_in_ns() + 500000000u);
    }

    usage_type before = usage_now();
    goal = arguments.count;
    start_all();
    loop_run(multi, on_end, all_ended, 0);
    usage_type after = usage_now();

    if (arguments.mode == IDLE) {
        sleep(2);
        memory = status_kb("VmRSS") - memory;
    }
    sort_times(times, ended);
    printf(
        "{\"requests\":%ld,\"errors\":%ld,\"seconds\":%.6f,\"user\":%.6f,\"system\":%.6f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
        "\"peak_kb\":%ld,\"sockets\":%ld,\"grown_kb\":%ld}\n",
        ended, errors, (double)(after.wall_ns - before.wall_ns) / 1e9, after.user - before.user,
        after.system - before.system, percentile_us(times, ended, 0.5), percentile_us(times, ended, 0.99),
        status_kb("VmHWM"), open_sockets(), memory);
    return errors != 0;
}
