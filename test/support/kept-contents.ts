import { mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import type { LocalFile } from '../../src/files/store/file-store.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** A scratch folder, and contents that were moved out of it. */
export class KeptContents implements Disposable {
  readonly #folder = new TemporaryFolder()
  readonly scratch = this.#folder.file('scratch')
  readonly #contents = this.#folder.file('contents')
  /** Files of each call, and those that were in the scratch folder at the time. */
  readonly portions: { readonly files: number; readonly inScratch: number }[] = []

  constructor() {
    mkdirSync(this.scratch)
    mkdirSync(this.#contents)
  }

  keep(files: readonly LocalFile[]): Promise<void> {
    this.portions.push({ files: files.length, inScratch: this.leftInScratch().length })
    for (const { cid, path } of files) renameSync(path, `${this.#contents}/${cid}`)
    return Promise.resolve()
  }

  file(name: string): string {
    return this.#folder.file(name)
  }

  bytesOf(cid: string): Buffer {
    return readFileSync(`${this.#contents}/${cid}`)
  }

  cids(): readonly string[] {
    return readdirSync(this.#contents)
  }

  /** Paths of files and folders. */
  leftInScratch(): readonly string[] {
    return readdirSync(this.scratch, { recursive: true, encoding: 'utf8' })
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]()
  }
}
