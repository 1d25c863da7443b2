// What a server that waits on Linux needs and Swift's C library module omits.
#ifndef NETWORKLAYER_CEPOLL_SHIMS_H
#define NETWORKLAYER_CEPOLL_SHIMS_H

#include <sys/epoll.h>
#include <sys/eventfd.h>

// Each C library gives these another type in Swift.
static const unsigned cepoll_in = EPOLLIN;
static const unsigned cepoll_out = EPOLLOUT;
static const unsigned cepoll_err = EPOLLERR;
static const unsigned cepoll_hup = EPOLLHUP;
static const int cepoll_cloexec = EPOLL_CLOEXEC;
static const int cepoll_eventfd_flags = EFD_CLOEXEC | EFD_NONBLOCK;

#endif
