// libcurl driven by epoll in the cheapest way known: its timeout is an argument of epoll_wait, a due one costs no
// system call, and epoll learns of changes just before it waits, so that what libcurl takes back in the same round
// costs nothing.
#ifndef LOOP_H
#define LOOP_H
#include <curl/curl.h>
#include <stdbool.h>

CURLM *loop_make(long kept_connections);

// Every transfer's descriptors have to be closed through the loop.
void loop_attach(CURL *easy);

// Runs until `is_over` says so, which is asked whenever transfers have ended, or until `deadline_ns`, if that is not 0.
void loop_run(CURLM *multi, void (*ended)(CURL *easy, CURLcode result), bool (*is_over)(void), unsigned long deadline_ns);
#endif
