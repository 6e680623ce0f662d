import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { FileStore, LocalFile } from '../../files/store/file-store.ts'
import { writingTo } from './folder-place.ts'

/** Contents that are made durable together: small ones take most of their time for that. */
const keptAtOnce = 200

/** Brings the contents of a backup into the store of a new data folder. */
export class ContentKeeper {
  readonly #store: FileStore
  #written: LocalFile[] = []

  constructor(store: FileStore) {
    this.#store = store
  }

  /** Hands bytes on, and writes them on their way to where they wait for what is said of them. */
  async *write(cid: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const file = openSync(this.#pathOf(cid), 'wx', 0o600)
    try {
      yield* writingTo(file, bytes)
    } finally {
      closeSync(file)
    }
  }

  async keep(cid: string): Promise<void> {
    this.#written.push({ cid, path: this.#pathOf(cid) })
    if (this.#written.length >= keptAtOnce) await this.finish()
  }

  discard(cid: string): void {
    rmSync(this.#pathOf(cid), { force: true })
  }

  /** Makes durable what was to be kept. */
  async finish(): Promise<void> {
    const written = this.#written
    this.#written = []
    await this.#store.keep(written)
  }

  #pathOf(cid: string): string {
    return join(this.#store.scratch, cid)
  }
}
