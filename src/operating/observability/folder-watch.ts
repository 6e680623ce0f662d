import { type FilePlaces, folderGone } from '../../core/file-places.ts'

/**
 * How often the file system is asked. Readings are refused within a second; what the journal takes until then is
 * not acknowledged, because its thread looks after each commit.
 */
const everyMs = 250

/**
 * Knows whether the open files of the data folder are still those at their paths. Without the state or the time
 * series a reading in the journal is lost as well: the next start would not know its stream, or that it was stored.
 */
export class FolderWatch {
  readonly #places: FilePlaces
  readonly #timer: NodeJS.Timeout
  #problem: string | undefined

  constructor(places: FilePlaces, ms = everyMs) {
    this.#places = places
    this.#timer = setInterval(() => this.look(), ms).unref()
  }

  /** The problem at the last look, or nothing. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** Looks now, and returns what is wrong, or nothing. */
  look(): string | undefined {
    this.#problem = this.#places.problem()
    return this.#problem
  }

  /** @throws DomainError `data_folder_gone` as long as a file is not at its path */
  assertInPlace(): void {
    if (this.#problem !== undefined) throw folderGone(this.#problem)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
