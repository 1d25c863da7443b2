// What a process used: time, processor time, memory, sockets.
#ifndef FIGURES_H
#define FIGURES_H
#include <stdint.h>

uint64_t now_in_ns(void);

typedef struct {
    uint64_t wall_ns;
    double user, system;
} usage_type;

usage_type usage_now(void);

// A line of /proc/self/status in KB: "VmRSS", "VmHWM". (getrusage's maximum is inherited over exec.)
long status_kb(const char *name);
long open_sockets(void);

// Sorts the times; `share` is 0.5 for the median.
void sort_times(uint64_t *times, long count);
double percentile_us(const uint64_t *sorted, long count, double share);
#endif
