/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain watchdog: starts one model server on this machine, and watches it. opsbrain itself runs
 * this command; people do not. */

#include "fleet/machine/machine.h"
#include "server/program/commands.h"
#include "server/program/process.h"

int command_watchdog(int argc, char *const *argv)
{
    process_harden();
    return machine_watch(argc, argv);
}
