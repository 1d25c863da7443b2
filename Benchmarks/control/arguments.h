// The command line that every contender understands:
//
//   client MODE IN-FLIGHT COUNT URL [NAME=VALUE ...]
//
//   get     collects each body               stream  reads each body and keeps nothing
//   post    sends 64 KiB of known bytes      upload  sends `bytes` bytes from a stream
//   json    decodes each body (in C: get)    burst   get, IN-FLIGHT at once, then wait for all of them
//   idle    opens IN-FLIGHT connections, and tells what they cost once nothing happens any more
//
//   bytes=N      the length that each body must have, or that is uploaded
//   ca=PATH      the authority to trust                    http=2      speak HTTP/2
//   polls=N      so many requests to poll=URL stay in flight meanwhile, unanswered
//   gzip=1       ask for compressed bodies
//   fields=1     (in C alone) send the header fields that this library adds to each request
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

// Ends the process when they make no sense.
arguments_type read_arguments(int count, char **words);
#endif
