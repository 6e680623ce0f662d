import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { DomainError } from './errors.ts'

/** A client asks again after so long: whoever deleted or moved files may put them back. */
const retryAfterSeconds = 5

interface Place {
  readonly path: string
  readonly identity: string
}

/**
 * The places of files that are open: whether their paths still lead to them.
 *
 * A file that is deleted or moved can be written on, and its sync succeeds. But the next start opens what is at its
 * path, and finds nothing of what was written. So whoever acknowledges what a file has taken looks here afterwards.
 */
export class FilePlaces {
  readonly #places: readonly Place[]

  /**
   * To be made once the files are open, and before anything is written that counts. Paths that lead nowhere are
   * left out: a file that is not made yet cannot be lost.
   */
  constructor(paths: readonly string[]) {
    this.#places = paths.flatMap((path) => {
      const identity = identityOf(path)
      return identity === undefined ? [] : [{ path, identity }]
    })
  }

  /** The files of a SQLite database that is open in WAL mode. A commit is in its log before it is in the database. */
  static ofDatabase(path: string): FilePlaces {
    return new FilePlaces([path, `${path}-wal`])
  }

  /**
   * The problem, with the name of the file, or nothing. Asks the file system: some microseconds a
   * file.
   */
  problem(): string | undefined {
    for (const { path, identity } of this.#places) {
      if (identityOf(path) !== identity) return `${basename(path)} was deleted, moved or replaced`
    }
    return undefined
  }

  /** @throws DomainError `data_folder_gone`, retryable: the same files may come back */
  assertInPlace(): void {
    const problem = this.problem()
    if (problem !== undefined) throw folderGone(problem)
  }
}

export function folderGone(problem: string): DomainError {
  return new DomainError('data_folder_gone', `the data folder is not as it was: ${problem}`, {
    retryAfter: retryAfterSeconds,
  })
}

/** Device and inode; nothing where the path does not lead to a file that can be looked at. */
function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}
