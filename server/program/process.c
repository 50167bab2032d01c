/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/process.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/core/log.h"

#define ARENAS 2

void process_limit_memory(void)
{
    mallopt(M_ARENA_MAX, ARENAS);
}

#ifdef NDEBUG
static void set(int option, unsigned long value, const char *what)
{
    if (prctl(option, value, 0UL, 0UL, 0UL) != 0)
        log_warning("%s: %s", what, strerror(errno));
}

void process_harden(void)
{
    set(PR_SET_DUMPABLE, 0, "cannot prevent core dumps and debugging");
    set(PR_SET_NO_NEW_PRIVS, 1,
        "cannot keep programs that opsbrain starts from gaining privileges");
}
#else
void process_harden(void)
{
}
#endif
