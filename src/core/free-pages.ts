import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

/** Free pages that a file keeps for what comes next: 4 MiB of usual ones. */
const pagesKept = 1_024

/**
 * Files that are larger are not converted: it is done before the service is ready, at about 100 MB a second, and once
 * in the life of a file.
 */
const convertedBytesMax = 512 * 1024 * 1024

/** Room that a conversion needs, in sizes of the file: a copy, and the log that it goes through. */
const copiesNeeded = 3

/** The log of a file is cut to this size once it was read back into the file. */
const logBytesMax = 16 * 1024 * 1024

/** https://www.sqlite.org/pragma.html#pragma_auto_vacuum */
const incremental = 2

/**
 * Lets a SQLite file give free pages back to the disk. To be called by who has just opened it, before anything else:
 * a file without tables is made so, and one that has some is written anew, if it is not too large and the disk
 * has room. Where that cannot be done it stays as it is, and uses free pages for what comes next.
 */
export function keepReclaimable(database: DatabaseSync, path: string): void {
  if (numberOf(database, 'auto_vacuum') === incremental) return limitLog(database)
  const pages = numberOf(database, 'page_count')
  const bytes = pages * numberOf(database, 'page_size')
  if (pages === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  // A disk that is full is no reason not to start: nothing is written then.
  else if (bytes <= convertedBytesMax && roomBeside(path) > copiesNeeded * bytes) {
    try {
      database.exec('PRAGMA auto_vacuum = INCREMENTAL')
      database.exec('VACUUM')
    } catch {
      // Somebody looks into the file just now, or the disk for temporary files is full: the next start tries again.
    }
  }
  limitLog(database)
}

/**
 * Gives some free pages of a file back to the disk, in a transaction of its own: so many at most. Returns whether there
 * may be more.
 */
export function giveBackPages(database: DatabaseSync, pagesMax: number): boolean {
  if (numberOf(database, 'auto_vacuum') !== incremental) return false
  const spare = numberOf(database, 'freelist_count') - pagesKept
  if (spare <= 0) return false
  database.exec(`PRAGMA incremental_vacuum(${Math.min(spare, pagesMax)})`)
  if (spare > pagesMax) return true
  // The file becomes smaller when its log is read back into it, which few writes do not bring about.
  database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  return false
}

function limitLog(database: DatabaseSync): void {
  database.exec(`PRAGMA journal_size_limit = ${logBytesMax}`)
}

/** None where the disk does not say. */
function roomBeside(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return 0
  }
}

function numberOf(database: DatabaseSync, pragma: string): number {
  return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma])
}
