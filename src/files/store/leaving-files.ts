import { randomUUID } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { removeGradually } from '../../core/gradual-removal.ts'
import { errorCodeOf } from './durable-file.ts'

/** Files up to this size are removed at once: a sync that meets it takes a few milliseconds more. */
const atOnceBytes = 4 * 1024 * 1024

/**
 * Removes files of a folder, large ones in the background and little by little. These have another name meanwhile,
 * which the next start removes if this does not come to it.
 */
export class LeavingFiles {
  readonly #folder: string
  readonly #ending: string
  readonly #stopping = new AbortController()
  #removing: Promise<unknown> = Promise.resolve()

  /** @param ending of the names of what leaves */
  constructor(folder: string, ending: string) {
    this.#folder = folder
    this.#ending = ending
  }

  /** Once resolved nothing has that name any more. Nothing there is fine. */
  async remove(path: string): Promise<void> {
    const status = await stat(path).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (status === undefined) return
    // The bytes of a file with another name stay as they are.
    if (status.size <= atOnceBytes || status.nlink > 1) return await rm(path, { force: true })
    const leaving = join(this.#folder, randomUUID() + this.#ending)
    await rename(path, leaving)
    // What cannot be removed is tried again by the next start.
    const remove = () => removeGradually(leaving, this.#stopping.signal).catch(() => undefined)
    this.#removing = this.#removing.then(remove)
  }

  /** Leaves what is not removed yet to the next start. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#removing
  }
}
