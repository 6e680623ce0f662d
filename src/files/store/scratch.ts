import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { asDiskFull } from './durable-file.ts'
import type { UploadId } from './upload-id.ts'

/** A folder of copies that are being looked at. Those of an upload are in a folder of its name. */
export class Scratch {
  readonly path: string

  constructor(path: string) {
    this.path = path
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
    await this.#remove(upload)
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.path, name), { recursive: true, force: true })
  }
}
