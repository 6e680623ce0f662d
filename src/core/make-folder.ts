import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The file system has no place for new folders, as those of /proc and /sys. */
export class NoPlaceForFolder extends Error {
  override readonly name = 'NoPlaceForFolder'
}

/**
 * Makes a folder and those above it, as `mkdirSync` with `recursive` does. That one never returns where the system says of a
 * folder that is there that it is not, as /proc does.
 *
 * @param mode of each folder that is made
 * @throws NoPlaceForFolder; Error of the system
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    if (code !== 'ENOENT') throw error
    const parent = dirname(path)
    if (existsSync(parent)) {
      throw new NoPlaceForFolder(`no folder can be made in ${parent}`, { cause: error })
    }
    makeFolder(parent, mode)
    makeFolder(path, mode)
  }
}
