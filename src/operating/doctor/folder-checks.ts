import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { monotonicMs } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { type Check, fail, ok, type Surroundings, warn } from './check.ts'

const GiB = 1024 ** 3

/**
 * How many times the space is wanted with which readings are refused: less than that is soon used
 * up.
 */
const freeShareWanted = 2

export function checkFolder({ config }: { readonly config: Pick<Config, 'dataDir'> }): Check {
  const { dataDir } = config
  const name = 'data folder'
  const found = statSync(dataDir, { throwIfNoEntry: false })
  if (found && !found.isDirectory()) {
    return fail(name, `${dataDir} is not a folder`, 'set STREAMVAULT_DATA_DIR to a folder')
  }
  const advice = found
    ? `let the user who runs the service write there: chown ${dataDir}`
    : `make ${dataDir} for the user who runs the service, or set STREAMVAULT_DATA_DIR to another folder`
  const writable = existingPart(dataDir)
  try {
    accessSync(writable, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return fail(name, `${writable} cannot be written: ${messageOf(error)}`, advice)
  }
  if (!found) return ok(name, `${dataDir} is not there yet: the first start makes it`)
  if ((found.mode & 0o077) !== 0) {
    const message = `others than its owner can get into ${dataDir} (mode ${octal(found.mode)})`
    return warn(name, message, `chmod 700 ${dataDir}`)
  }
  return ok(name, `${dataDir} is there and can be written`)
}

export function checkLock({ config, isLocked, owner }: Surroundings): Check {
  if (!isLocked) return ok('lock', 'no process uses the data folder')
  if (owner) {
    const { pid, command, version, startedAt } = owner
    const who = `process ${pid} (streamvault ${command}, version ${version}, since ${startedAt})`
    return ok('lock', `${who} uses the data folder`)
  }
  const message = 'a process that does not say who it is uses the data folder'
  return warn('lock', message, `find it: fuser ${join(config.dataDir, 'lock.db')}`)
}

/** Type of a file system in memory (statfs(2), TMPFS_MAGIC). */
const inMemory = 0x01021994

export function checkDisk({ config }: Surroundings): Check {
  const { bavail, bsize, type } = statfsSync(existingPart(config.dataDir))
  const free = bavail * bsize
  const message = `${(free / GiB).toFixed(1)} GiB are free`
  const advice = 'make space, or move the data folder (STREAMVAULT_DATA_DIR) to a larger disk'
  const { diskBytesMin } = config
  if (free < diskBytesMin) {
    const refused = `${message}: no readings are taken with less than ${diskBytesMin} bytes`
    return fail('disk', refused, `${advice}; STREAMVAULT_DISK_MIN is the limit`)
  }
  if (free < diskBytesMin * freeShareWanted) return warn('disk', message, advice)
  if (type === inMemory) {
    const lost = `the data folder is in memory (tmpfs), ${message}: a restart of the machine loses it`
    return warn('disk', lost, 'move the data folder to a disk')
  }
  return ok('disk', message)
}

const syncs = 20
const syncBytes = 4_096

/** Beyond this a single message waits noticeably for its acknowledgement. */
const syncMsWanted = 20

/** How long the disk takes to make a small write durable: each acknowledgement waits for one. */
export function checkSync({ config }: Surroundings): Check {
  const { dataDir } = config
  if (!existsSync(dataDir)) return ok('fsync', 'is measured once the data folder is there')
  const path = join(dataDir, `doctor-${process.pid}.tmp`)
  try {
    const times = timesOfSyncs(path).toSorted((one, other) => one - other)
    const median = times[syncs >> 1] ?? 0
    const figures = `median ${median.toFixed(2)} ms, longest ${(times.at(-1) ?? 0).toFixed(2)} ms`
    const message = `${syncs} small writes were made durable: ${figures}`
    if (median <= syncMsWanted) return ok('fsync', message)
    const advice = 'each acknowledgement waits for that: use a faster disk, or send larger batches'
    return warn('fsync', message, advice)
  } catch (error) {
    const advice = 'nothing can be acknowledged there: look at the disk, its space and its rights'
    return fail('fsync', `a small write was not made durable: ${messageOf(error)}`, advice)
  } finally {
    rmSync(path, { force: true })
  }
}

function timesOfSyncs(path: string): number[] {
  const file = openSync(path, 'wx', 0o600)
  const block = Buffer.alloc(syncBytes, 1)
  try {
    return Array.from({ length: syncs }, () => {
      const startedMs = monotonicMs()
      writeSync(file, block)
      fsyncSync(file)
      return monotonicMs() - startedMs
    })
  } finally {
    closeSync(file)
  }
}

/** The folder itself, or the nearest one above that exists. */
function existingPart(folder: string): string {
  let part = resolve(folder)
  while (!existsSync(part)) part = dirname(part)
  return part
}

export function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`
}
