#include "bench/reach.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dirent.h>
#include <netdb.h>
#include <string.h>
#include <sys/resource.h>

#include "base/outbound.h"
#include "base/text.h"

#define SPARE_DESCRIPTORS 64

static bool is_address(const char *host)
{
    unsigned char bytes[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

static void add_address(const struct addrinfo *info, struct text *out)
{
    char shown[INET6_ADDRSTRLEN];
    const void *bytes = info->ai_family == AF_INET
                            ? (const void *)&((struct sockaddr_in *)info->ai_addr)->sin_addr
                            : (const void *)&((struct sockaddr_in6 *)info->ai_addr)->sin6_addr;

    if (inet_ntop(info->ai_family, bytes, shown, sizeof shown) != NULL)
        text_addf(out, "%s%s", out->data[out->length - 1] == ':' ? "" : ",", shown);
}

bool reach_resolve(const struct endpoint *endpoint, struct curl_slist **out, struct error *error)
{
    const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    char host[URL_HOST_SIZE];
    TEXT_AUTO line = { 0 };
    int port, failed;
    size_t bare;

    if (!url_check(endpoint->url, host, &port, error))
        return false;
    *out = NULL;
    if (is_address(host))
        return true;
    failed = getaddrinfo(host, NULL, &hints, &found);
    if (failed != 0)
        return error_set(error, ERROR_UPSTREAM, "the host '%s' does not resolve: %s", host,
                         gai_strerror(failed));
    text_addf(&line, "%s:%d:", host, port);
    bare = line.length;
    for (struct addrinfo *info = found; info != NULL; info = info->ai_next)
        if ((info->ai_family == AF_INET || info->ai_family == AF_INET6)
            && !address_is_refused(info->ai_addr))
            add_address(info, &line);
    freeaddrinfo(found);
    if (line.length == bare)
        return error_set(error, ERROR_UPSTREAM,
                         "the host '%s' resolves only to addresses that are refused", host);
    *out = curl_slist_append(NULL, line.data);
    return true;
}

static int64_t open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int64_t count = 0;

    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

bool reach_fit(int64_t connections, struct error *error)
{
    int64_t wanted = connections + open_descriptors() + SPARE_DESCRIPTORS;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur == RLIM_INFINITY || (int64_t)limit.rlim_cur >= wanted)
        return true;
    return error_set(error, ERROR_BUSY,
                     "%ld users need %ld open files, but this process may have %ld: raise "
                     "'ulimit -Hn', or ask for fewer users",
                     connections, wanted, (long)limit.rlim_cur);
}
