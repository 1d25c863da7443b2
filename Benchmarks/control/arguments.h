// The command line of every contender:
//
//   client MODE IN-FLIGHT COUNT URL [NAME=VALUE ...]
//
//   get     collects each body               stream  reads each body and keeps nothing
//   post    sends 64 KiB of known bytes      upload  sends `bytes` bytes from a stream
//   json    decodes each body (in C: get)    burst   get, IN-FLIGHT at once, then waits for all of them
//   idle    opens IN-FLIGHT connections, and measures their memory once they are idle
//
//   bytes=N      the length that each body must have, or that is uploaded
//   ca=PATH      the authority to trust                    http=2      use HTTP/2
//   polls=N      the number of requests to poll=URL that stay in flight without a response
//   gzip=1       request compressed bodies
//   fields=1     (only in C) send the header fields that this library adds to each request
#ifndef ARGUMENTS_H
#define ARGUMENTS_H
#include <stdbool.h>
#include <stddef.h>

typedef enum { GET, STREAM, POST, UPLOAD, JSON, BURST, IDLE } mode_type;

typedef struct {
    const char *mode_name;
    mode_type mode;
    long in_flight, count;
    const char *url;
    size_t bytes;
    const char *ca;
    bool http2;
    long polls;
    const char *poll;
    bool gzip, sends_fields;
} arguments_type;

// Exits with status 2 if the arguments are invalid.
arguments_type read_arguments(int count, char **words);
#endif
