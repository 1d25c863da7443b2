/* For LD_PRELOAD: slow names. The lookup of a name that begins with "slow" hangs for SLOW_NAME_SECONDS
   (default: 30) and then fails. A name that begins with "once" is 127.0.0.1 the first time, and hangs afterwards. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int look_up(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    static atomic_int lookups;
    int is_once = name && strncmp(name, "once", 4) == 0;
    if (is_once && atomic_fetch_add(&lookups, 1) == 0)
        name = "127.0.0.1";
    else if (is_once || (name && strncmp(name, "slow", 4) == 0)) {
        const char *seconds = getenv("SLOW_NAME_SECONDS");
        sleep(seconds ? (unsigned)atoi(seconds) : 30);
        return EAI_AGAIN;
    }
    return ((look_up *)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, found);
}

