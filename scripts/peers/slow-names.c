/* For LD_PRELOAD: slow names and tickets. The lookup of a name that begins with "slow" hangs for SLOW_NAME_SECONDS
   (default: 30) and then fails, and a Kerberos ticket takes a second and is then refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int look_up(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    if (name && strncmp(name, "slow", 4) == 0) {
        const char *seconds = getenv("SLOW_NAME_SECONDS");
        sleep(seconds ? (unsigned)atoi(seconds) : 30);
        return EAI_AGAIN;
    }
    return ((look_up *)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, found);
}

/* Returns GSS_S_FAILURE (RFC 2744), without its header, which may not be installed. The arguments after the first are
   not used. */
uint32_t gss_init_sec_context(uint32_t *minor) {
    sleep(1);
    *minor = 0;
    return 13u << 16;
}
