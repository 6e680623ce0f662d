import { statfs } from 'node:fs/promises'
import { DomainError } from '../../core/errors.ts'

/** How often the disk is asked: what arrives in between has to fit into the space that is kept free. */
const everyMs = 1_000

/**
 * How much more than the limit has to be free before readings are taken again: an eighth of it, or
 * 16 MiB.
 */
const slackShare = 8
const slackBytesMax = 16 * 1024 * 1024

/** What a disk says of itself, as `statfs` does. */
export type AskDisk = (path: string) => Promise<{ readonly bavail: number; readonly bsize: number }>

export interface DiskSpaceNeeds {
  /** A folder on the disk. */
  readonly path: string
  /** With less than this nothing is taken any more. */
  readonly bytesMin: number
  readonly askDisk?: AskDisk
  readonly everyMs?: number
}

/**
 * Knows whether the disk with the data has room for more. The journal would notice a full disk by itself; but then
 * the state and the time series could not go on either, and what makes room again needs some room.
 */
export class DiskSpace {
  readonly bytesMin: number
  readonly #needs: DiskSpaceNeeds
  readonly #askDisk: AskDisk
  readonly #timer: NodeJS.Timeout
  #available: number | undefined
  #refusal: DomainError | undefined
  #asking: Promise<void> | undefined

  /** Resolves when the disk has been asked for the first time. */
  static async watch(needs: DiskSpaceNeeds): Promise<DiskSpace> {
    const space = new DiskSpace(needs)
    await space.ask()
    return space
  }

  private constructor(needs: DiskSpaceNeeds) {
    this.#needs = needs
    const { bytesMin, askDisk = statfs, everyMs: ms = everyMs } = needs
    this.bytesMin = bytesMin
    this.#askDisk = askDisk
    this.#timer = setInterval(() => void this.ask(), ms).unref()
  }

  /** Bytes that may still be written; undefined while the disk does not say. */
  get available(): number | undefined {
    return this.#available
  }

  /** The problem that there is now, or nothing. */
  get problem(): string | undefined {
    return this.#refusal?.message
  }

  /** @throws DomainError `disk_low` while there is too little room */
  assertRoom(): void {
    if (this.#refusal) throw this.#refusal
  }

  /** Asks the disk now. One that does not answer is believed to be as it was. */
  async ask(): Promise<void> {
    this.#asking ??= this.#look().finally(() => {
      this.#asking = undefined
    })
    await this.#asking
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const answer = await this.#askDisk(this.#needs.path).catch(() => undefined)
    this.#available = answer && answer.bavail * answer.bsize
    if (this.#available === undefined) return
    const slack = Math.min(this.bytesMin / slackShare, slackBytesMax)
    const wanted = this.bytesMin + (this.#refusal === undefined ? 0 : slack)
    const isFull = this.#available < wanted
    this.#refusal = isFull ? (this.#refusal ?? refusal(this.bytesMin)) : undefined
  }
}

function refusal(bytesMin: number): DomainError {
  const message = `less than ${bytesMin} bytes are free on the disk with the data`
  return new DomainError('disk_low', message, { retryAfter: 5 })
}
