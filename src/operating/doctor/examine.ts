import type { Check, Surroundings } from './check.ts'
import { checkConsole } from './console-checks.ts'
import { checkContents } from './content-checks.ts'
import {
  checkAdminFile,
  checkJournal,
  checkMasterKey,
  checkState,
  checkTimeSeries,
} from './file-checks.ts'
import { checkDisk, checkFolder, checkLock, checkSync } from './folder-checks.ts'
import { checkLedger } from './ledger-checks.ts'
import { checkPorts, checkTls } from './network-checks.ts'
import { checkNetworkLedgers } from './network-ledger-checks.ts'
import { checkClock, checkFlags, checkNode, checkSettings } from './runtime-checks.ts'
import { type Ask, checkService } from './service-check.ts'

/** Looks at everything that the service needs; changes nothing but a file that it removes again. */
export async function examine(
  surroundings: Surroundings,
  ask: Ask | undefined,
): Promise<readonly Check[]> {
  const folder = checkFolder(surroundings)
  const usable = [checkLock, checkAdminFile, checkMasterKey, checkState, checkJournal]
  const inFolder = [...usable, checkTimeSeries, checkDisk, checkSync]
  return [
    checkNode(surroundings),
    checkFlags(surroundings),
    checkSettings(surroundings),
    checkClock(surroundings),
    folder,
    // What is in a folder that is none has nothing to tell.
    ...(folder.status === 'fail' ? [] : inFolder.map((check) => check(surroundings))),
    ...(folder.status === 'fail' ? [] : await longChecks(surroundings)),
    ...(await checkNetworkLedgers(surroundings)),
    checkTls(surroundings),
    await checkConsole(),
    ...(await checkPorts(surroundings)),
    await checkService(ask, surroundings.isLocked),
  ]
}

/** What reads all that there is. */
async function longChecks(surroundings: Surroundings): Promise<readonly Check[]> {
  return [await checkContents(surroundings), await checkLedger(surroundings)]
}
