#include "loop.h"
#include "figures.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

typedef struct {
    uint32_t wanted, told;
    bool is_noted;
} interest_type;

static int epoll;
static interest_type *interests;
static int interests_size;
static int *noted;
static int noted_count, noted_size;
static uint64_t curl_deadline; // 0 for none

static void *grown(void *memory, size_t size) {
    void *larger = realloc(memory, size);
    if (!larger) {
        fputs("control: no memory\n", stderr);
        exit(1);
    }
    return larger;
}

static interest_type *interest_of(int descriptor) {
    if (descriptor >= interests_size) {
        int size = descriptor * 2 + 64;
        interests = grown(interests, sizeof *interests * (size_t)size);
        memset(interests + interests_size, 0, sizeof *interests * (size_t)(size - interests_size));
        interests_size = size;
    }
    return &interests[descriptor];
}

static void tell(int descriptor, interest_type *interest) {
    struct epoll_event event = {.events = interest->wanted, .data.fd = descriptor};
    if (!interest->wanted) epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
    else {
        int first = interest->told ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
        // A descriptor that was closed behind our back, or came back: the kernel knows better.
        if (epoll_ctl(epoll, first, descriptor, &event) && (errno == ENOENT || errno == EEXIST))
            epoll_ctl(epoll, first == EPOLL_CTL_MOD ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
    }
    interest->told = interest->wanted;
}

static int socket_callback(CURL *easy, curl_socket_t descriptor, int what, void *context, void *assigned) {
    (void)easy, (void)context, (void)assigned;
    interest_type *interest = interest_of(descriptor);
    interest->wanted = (what & CURL_POLL_IN && what != CURL_POLL_REMOVE ? EPOLLIN : 0u)
        | (what & CURL_POLL_OUT && what != CURL_POLL_REMOVE ? EPOLLOUT : 0u);
    if (!interest->is_noted) {
        interest->is_noted = true;
        if (noted_count == noted_size) noted = grown(noted, sizeof *noted * (size_t)(noted_size = noted_size * 2 + 64));
        noted[noted_count++] = descriptor;
    }
    return 0;
}

static int close_callback(void *context, curl_socket_t descriptor) {
    (void)context;
    interest_type *interest = interest_of(descriptor);
    interest->wanted = interest->told = 0; // close(2) takes it out of epoll
    return close(descriptor);
}

static int timer_callback(CURLM *multi, long milliseconds, void *context) {
    (void)multi, (void)context;
    curl_deadline = milliseconds < 0 ? 0 : now_in_ns() + (uint64_t)milliseconds * 1000000u;
    return 0;
}

CURLM *loop_make(long kept_connections) {
    CURLM *multi = curl_multi_init();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!multi || epoll < 0) {
        fputs("control: no loop\n", stderr);
        exit(1);
    }
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kept_connections);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_callback);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_callback);
    return multi;
}

void loop_attach(CURL *easy) { curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_callback); }

static void take_ended(CURLM *multi, void (*ended)(CURL *, CURLcode)) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) ended(message->easy_handle, message->data.result);
}

void loop_run(CURLM *multi, void (*ended)(CURL *, CURLcode), bool (*is_over)(void), unsigned long deadline_ns) {
    struct epoll_event events[256];
    int running;
    while (!is_over()) {
        uint64_t now = 0;
        while (curl_deadline && (now = now_in_ns()) >= curl_deadline) {
            curl_deadline = 0;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
            take_ended(multi, ended);
        }
        if (is_over()) return;
        for (int index = 0; index < noted_count; index++) {
            interest_type *interest = &interests[noted[index]];
            interest->is_noted = false;
            if (interest->wanted != interest->told) tell(noted[index], interest);
        }
        noted_count = 0;
        uint64_t due = curl_deadline;
        if (deadline_ns && (!due || deadline_ns < due)) due = deadline_ns;
        if (due && !now) now = now_in_ns();
        if (deadline_ns && now >= deadline_ns) return;
        int count = epoll_wait(epoll, events, 256, due ? (int)((due - now + 999999) / 1000000) : -1);
        for (int index = 0; index < count; index++) {
            int descriptor = events[index].data.fd;
            uint32_t flags = events[index].events;
            interest_type *interest = &interests[descriptor];
            if (!interest->wanted) { // an idle connection that the server has closed
                tell(descriptor, interest);
                continue;
            }
            int mask = (flags & EPOLLIN ? CURL_CSELECT_IN : 0) | (flags & EPOLLOUT ? CURL_CSELECT_OUT : 0)
                | (flags & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(multi, descriptor, mask, &running);
        }
        take_ended(multi, ended);
    }
}
