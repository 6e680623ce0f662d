import { basename, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import type { ShippedReading } from '../../shipment.ts'
import type { StoreCopy } from '../../store-copy.ts'
import { processOf } from '../durability.ts'
import type { Ledger } from '../ledger.ts'
import type { WriterTurns } from '../writer-turns.ts'

/** Pages of the file that are copied at once, by a thread that others need, too. */
const pagesPerStep = 256

/** Ranges that are remembered of what was removed while a copy is made. */
const removedMax = 10_000

/** What was removed of a stream. */
interface RemovedRange {
  readonly streamId: string
  readonly startUs: number
  readonly endUs: number
}

export interface StoreCopiesNeeds {
  readonly turns: WriterTurns
  readonly ledger: Ledger
  /** The path of the file with position and counts. */
  readonly path: string
}

/**
 * Copies of the store: the file of positions as it was at one position, and rows that whoever makes the copy
 * reads from the server, while the store goes on.
 *
 * Rows say from which entry on they are there, and by which one they were removed, so that they can be read as they
 * were. But one that was removed and then sent again has been replaced. That is looked for as long as there is a copy, and
 * nothing is taken from the server meanwhile that has only been marked.
 */
export class StoreCopies {
  readonly #needs: StoreCopiesNeeds
  #removed: Map<string, RemovedRange[]> | undefined
  #ranges = 0
  #problem: string | undefined

  constructor(needs: StoreCopiesNeeds) {
    this.#needs = needs
  }

  /** Whether rows have to stay on the server that are only marked as removed. */
  get needsRows(): boolean {
    return this.#removed !== undefined
  }

  async copyTo(folder: string, signal: AbortSignal): Promise<StoreCopy> {
    const { turns, ledger, path } = this.#needs
    const { copy, positions } = await turns.take(async ({ connection, unapplied }) => {
      await unapplied.applied(connection)
      const process = await processOf(connection)
      const { position, expiryRound } = ledger
      const shapes = [...ledger.shapes.values()]
      const served = { server: connection.server, process, position, expiryRound, shapes }
      this.#begin()
      const files = [join(folder, basename(path))]
      return { copy: { position, rows: {}, files, served }, positions: fixedMoment(path) }
    })
    try {
      const progress = () => signal.throwIfAborted()
      await backup(positions, join(folder, basename(path)), { rate: pagesPerStep, progress })
      return copy
    } finally {
      positions.close()
    }
  }

  /** Ends what is being copied; returns why it is of no use, if so. */
  end(): string | undefined {
    this.#removed = undefined
    return this.#problem
  }

  noteRemoved(range: RemovedRange): void {
    if (!this.#removed) return
    if (++this.#ranges > removedMax) {
      this.#problem = `readings of more than ${removedMax} ranges were removed while the backup was made`
      return
    }
    const ranges = this.#removed.get(range.streamId)
    if (ranges) ranges.push(range)
    else this.#removed.set(range.streamId, [range])
  }

  noteStored(readings: readonly ShippedReading[]): void {
    const removed = this.#removed
    if (!removed || removed.size === 0) return
    const isReplaced = readings.some(({ streamId, timestampUs: at }) =>
      removed.get(streamId)?.some(({ startUs, endUs }) => startUs <= at && at < endUs),
    )
    if (!isReplaced) return
    this.#problem = 'readings were removed and sent again while the backup was made: begin another'
  }

  #begin(): void {
    this.#removed = new Map()
    this.#ranges = 0
    this.#problem = undefined
  }
}

/** The file as it is now, whatever is written to it later. */
function fixedMoment(path: string): DatabaseSync {
  const file = new DatabaseSync(path, { readOnly: true })
  file.exec('BEGIN')
  // The moment is that of the first look.
  file.prepare('SELECT count(*) FROM sqlite_schema').get()
  return file
}
