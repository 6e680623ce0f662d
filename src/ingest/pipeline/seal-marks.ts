import { sql } from 'kysely'
import { LruMap } from '../../core/lru-map.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { EntryReader } from './entry-reader.ts'
import type { OpenTally } from './tallies.ts'

/** Stretches that are known to be marked: one that is forgotten is marked once more. */
const knownMax = 100_000

/** Marks that one statement writes. */
const marksPerStatement = 5_000

/** A stretch of event time whose readings are to be sealed, or sealed again. */
export interface SealMark {
  readonly streamId: string
  readonly startUs: number
  readonly widthUs: number
  /** The entry that it is marked for: one that came later may have found the mark there. */
  readonly offset: Offset
  readonly receivedAtUs: number
}

/**
 * Marks the stretches that readings belong to. A stretch has one mark until it is sealed, so what is remembered here are
 * stretches that have one: they cost no statement.
 *
 * Who seals a stretch forgets it here first (`forgetAll`), and then waits until everything is stored that was decided by
 * then. So each reading is in what is sealed, or marks the stretch anew, whatever clocks say.
 */
export class SealMarks {
  readonly #known = new LruMap<string, true>(knownMax)
  #found: SealMark[] = []
  #decidingUntil = 0
  #written = 0

  /** The offset behind all entries that were decided with what is known here, or are being decided. */
  get decidingUntil(): Offset {
    return this.#decidingUntil
  }

  /** Marks that were written since the start. */
  get written(): number {
    return this.#written
  }

  /** To be told of how many marks are written, once they are. */
  noteWritten(marks: number): void {
    this.#written += marks
  }

  /** To be called before entries up to an offset are decided. */
  begin(until: Offset): void {
    this.#decidingUntil = Math.max(this.#decidingUntil, until)
  }

  /** Takes an entry with a reading that is to be stored, of a stream with seals. */
  see(tally: OpenTally, { timestampUs, receivedAtUs }: EntryReader, offset: Offset): void {
    const { streamId, sealUs: widthUs = 0, markedFromUs } = tally
    if (timestampUs >= markedFromUs && timestampUs < markedFromUs + widthUs) return
    const startUs = Math.floor(timestampUs / widthUs) * widthUs
    tally.markedFromUs = startUs
    const key = keyOf({ streamId, startUs, widthUs })
    if (this.#known.get(key)) return
    this.#known.set(key, true)
    this.#found.push({ streamId, startUs, widthUs, offset, receivedAtUs })
  }

  /** The marks that are to be written with the decision. */
  take(): readonly SealMark[] {
    const found = this.#found
    this.#found = []
    return found
  }

  /** What was found since the last decision may not be written. */
  forget(): void {
    this.#found = []
    this.#known.clear()
  }

  /** Has readings of these stretches mark them again, from `decidingUntil` on at the latest. */
  forgetAll(marks: Iterable<Pick<SealMark, 'streamId' | 'startUs' | 'widthUs'>>): void {
    for (const mark of marks) this.#known.delete(keyOf(mark))
  }
}

function keyOf({
  streamId,
  startUs,
  widthUs,
}: Pick<SealMark, 'streamId' | 'startUs' | 'widthUs'>): string {
  return `${streamId} ${startUs} ${widthUs}`
}

/**
 * Writes marks as a part of the transaction of their decision. Of a stream that is gone none is. A mark that is there
 * stays due when it is, so that late data that keeps coming does not put it off.
 */
export async function writeMarks(
  transaction: StateDatabase,
  marks: readonly SealMark[],
): Promise<void> {
  for (let from = 0; from < marks.length; from += marksPerStatement) {
    const rows = marks
      .slice(from, from + marksPerStatement)
      .map(({ streamId, startUs, widthUs, offset, receivedAtUs }) => [
        streamId,
        startUs,
        widthUs,
        offset,
        Math.max(startUs + widthUs, receivedAtUs),
      ])
    await sql`INSERT INTO seal_marks (stream_id, start_us, width_us, journal_offset, due_at)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
      FROM json_each(${JSON.stringify(rows)})
      WHERE EXISTS (SELECT 1 FROM data_streams WHERE id = value ->> 0)
      ON CONFLICT (stream_id, start_us, width_us)
      DO UPDATE SET journal_offset = excluded.journal_offset`.execute(transaction)
  }
}
