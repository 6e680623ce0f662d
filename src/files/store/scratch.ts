import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asDiskFull, errorCodeOf } from './durable-file.ts'
import { LeavingFiles } from './leaving-files.ts'
import type { UploadId } from './upload-id.ts'

/** A folder of copies that are being looked at. Those of an upload are in a folder of its name. */
export class Scratch {
  readonly path: string
  readonly #leaving: LeavingFiles

  constructor(path: string) {
    this.path = path
    this.#leaving = new LeavingFiles(path, '.gone')
  }

  async prepare(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 })
  }

  async empty(): Promise<void> {
    for (const name of await readdir(this.path)) await this.#remove(name)
  }

  /** Where a copy of an upload may be written. */
  async pathFor(upload: UploadId): Promise<string> {
    const folder = join(this.path, upload)
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw asDiskFull(error)
    }
    return join(folder, randomUUID())
  }

  /** Removes all copies of an upload. */
  async discard(upload: UploadId): Promise<void> {
    const folder = join(this.path, upload)
    const names = await readdir(folder).catch((error: unknown) => {
      if (errorCodeOf(error) === 'ENOENT') return []
      throw error
    })
    for (const name of names) await this.remove(join(folder, name))
    await this.#remove(upload)
  }

  /** Removes a copy, a large one little by little. */
  async remove(path: string): Promise<void> {
    await this.#leaving.remove(path)
  }

  async close(): Promise<void> {
    await this.#leaving.close()
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.path, name), { recursive: true, force: true })
  }
}
