/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain watchdog: the process that opsbrain starts for each server on this machine; people do
 * not call it. */

#include "fleet/machine/machine.h"
#include "server/program/commands.h"
#include "server/program/process.h"

int command_watchdog(int argc, char *const *argv)
{
    process_harden();
    return machine_watch(argc, argv);
}
