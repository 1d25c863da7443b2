#include "arguments.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"get", "stream", "post", "upload", "json", "burst", "idle"};

static _Noreturn void refuse(const char *word) {
    fprintf(stderr, "invalid argument: %s\nusage: control MODE IN-FLIGHT COUNT URL [NAME=VALUE ...]\n", word);
    exit(2);
}

static mode_type read_mode(const char *word) {
    for (size_t index = 0; index < sizeof modes / sizeof *modes; index++)
        if (!strcmp(modes[index], word)) return (mode_type)index;
    refuse(word);
}

static long read_number(const char *word) {
    char *end;
    long number = strtol(word, &end, 10);
    if (end == word || *end || number < 0) refuse(word);
    return number;
}

arguments_type read_arguments(int count, char **words) {
    if (count < 5) refuse("too few arguments");
    arguments_type read = {
        .mode_name = words[1],
        .mode = read_mode(words[1]),
        .in_flight = read_number(words[2]),
        .count = read_number(words[3]),
        .url = words[4],
    };
    if (read.in_flight < 1 || read.count < 1) refuse("less than one");
    for (int index = 5; index < count; index++) {
        char *value = strchr(words[index], '=');
        if (!value) refuse(words[index]);
        size_t length = (size_t)(value - words[index]);
        value++;
#define IS(name) (length == strlen(name) && !strncmp(words[index], name, length))
        if (IS("bytes")) read.bytes = (size_t)read_number(value);
        else if (IS("ca")) read.ca = value;
        else if (IS("http")) read.http2 = !strcmp(value, "2");
        else if (IS("polls")) read.polls = read_number(value);
        else if (IS("poll")) read.poll = value;
        else if (IS("gzip")) read.gzip = !strcmp(value, "1");
        else if (IS("fields")) read.sends_fields = !strcmp(value, "1");
        else refuse(words[index]);
#undef IS
    }
    if (read.polls && !read.poll) refuse("polls without poll");
    return read;
}
