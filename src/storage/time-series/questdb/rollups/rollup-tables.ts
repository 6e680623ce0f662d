import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { WindowRange } from '../../windows/window-starts.ts'
import { dayUs } from './day-of-rollups.ts'

export const rollupsDdl = `
  CREATE TABLE IF NOT EXISTS rollup_streams (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE IF NOT EXISTS rollup_marks (
    stream INTEGER NOT NULL, from_us INTEGER NOT NULL, to_us INTEGER NOT NULL,
    PRIMARY KEY (stream, from_us)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS rollup_days (
    stream INTEGER NOT NULL, shape TEXT NOT NULL, day_us INTEGER NOT NULL, totals BLOB NOT NULL,
    PRIMARY KEY (stream, shape, day_us)
  ) STRICT;
`

/** A stream that is rolled up, and what is marked of it. */
export interface KeptRollup {
  readonly id: string
  readonly marked: readonly WindowRange[]
}

/** A day of one shape of a stream. */
export interface RollupDay {
  readonly shape: string
  readonly dayUs: number
  readonly totals: Float64Array
}

/**
 * Rollups and their marks, in the file that has position and counts: so a mark becomes durable with the position that
 * covers its readings. Whoever writes has begun a transaction.
 */
export class RollupTables {
  readonly #database: DatabaseSync
  readonly #find: StatementSync
  readonly #mark: StatementSync
  readonly #unmark: StatementSync
  readonly #days: StatementSync
  readonly #daysOfShape: StatementSync
  readonly #write: StatementSync
  readonly #remove: StatementSync
  readonly #expire: StatementSync

  /** @param database that has the tables */
  constructor(database: DatabaseSync) {
    this.#database = database
    this.#find = database.prepare('SELECT number FROM rollup_streams WHERE id = ?')
    // Two marks that begin alike become the longer one: what is marked must not be forgotten.
    this.#mark = database.prepare(
      `INSERT INTO rollup_marks VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET to_us = max(to_us, excluded.to_us)`,
    )
    this.#unmark = database.prepare('DELETE FROM rollup_marks WHERE stream = ?')
    this.#days = database.prepare(
      `SELECT shape, day_us, totals FROM rollup_days
       WHERE stream = ? AND day_us > ? AND day_us < ? ORDER BY shape, day_us`,
    )
    this.#daysOfShape = database.prepare(
      `SELECT shape, day_us, totals FROM rollup_days
       WHERE stream = ? AND shape = ? AND day_us > ? AND day_us < ? ORDER BY day_us`,
    )
    this.#write = database.prepare('INSERT OR REPLACE INTO rollup_days VALUES (?, ?, ?, ?)')
    this.#remove = database.prepare(
      'DELETE FROM rollup_days WHERE stream = ? AND shape = ? AND day_us = ?',
    )
    this.#expire = database.prepare('DELETE FROM rollup_days WHERE stream = ? AND day_us < ?')
  }

  *read(): Generator<KeptRollup> {
    const marks = this.#database.prepare('SELECT * FROM rollup_marks').all()
    const byStream = Map.groupBy(marks, (row) => Number(row['stream']))
    for (const row of this.#database.prepare('SELECT * FROM rollup_streams').iterate()) {
      const own = byStream.get(Number(row['number'])) ?? []
      const marked = own.map((mark) => ({
        fromUs: Number(mark['from_us']),
        toUs: Number(mark['to_us']),
      }))
      yield { id: String(row['id']), marked }
    }
  }

  /** Notes streams that are rolled up from now on. */
  add(id: string, marked: readonly WindowRange[]): void {
    this.#database.prepare('INSERT INTO rollup_streams (id) VALUES (?)').run(id)
    this.addMarks(id, marked)
  }

  addMarks(id: string, ranges: readonly WindowRange[]): void {
    if (ranges.length === 0) return
    const number = this.#numberOf(id)
    for (const { fromUs, toUs } of ranges) this.#mark.run(number, fromUs, toUs)
  }

  /** Puts marks of a stream in the place of those that there are. */
  replaceMarks(id: string, left: readonly WindowRange[]): void {
    this.#unmark.run(this.#numberOf(id))
    this.addMarks(id, left)
  }

  /** The days of a stream that touch a range. */
  days(id: string, { fromUs, toUs }: WindowRange): readonly RollupDay[] {
    return this.#days.all(this.#numberOf(id), fromUs - dayUs, toUs).map(dayOf)
  }

  daysOfShape(id: string, shape: string, { fromUs, toUs }: WindowRange): readonly RollupDay[] {
    return this.#daysOfShape.all(this.#numberOf(id), shape, fromUs - dayUs, toUs).map(dayOf)
  }

  write(id: string, { shape, dayUs: startUs, totals }: RollupDay): void {
    const bytes = new Uint8Array(totals.buffer, totals.byteOffset, totals.byteLength)
    this.#write.run(this.#numberOf(id), shape, startUs, bytes)
  }

  remove(id: string, { shape, dayUs: startUs }: Pick<RollupDay, 'shape' | 'dayUs'>): void {
    this.#remove.run(this.#numberOf(id), shape, startUs)
  }

  /** Removes the days that begin before a time. */
  removeBefore(id: string, beforeUs: number): void {
    this.#expire.run(this.#numberOf(id), beforeUs)
  }

  /** Forgets a stream, which need not be there. */
  forget(id: string): void {
    const row = this.#find.get(id)
    if (!row) return
    const number = Number(row['number'])
    this.#unmark.run(number)
    this.#expire.run(number, Number.MAX_SAFE_INTEGER)
    this.#database.prepare('DELETE FROM rollup_streams WHERE number = ?').run(number)
  }

  #numberOf(id: string): number {
    const row = this.#find.get(id)
    if (!row) throw new Error(`the stream ${id} is not rolled up`)
    return Number(row['number'])
  }
}

function dayOf({ shape, day_us: startUs, totals }: Readonly<Record<string, unknown>>): RollupDay {
  // A copy: what SQLite hands out need not begin where a double may.
  const { buffer } = Uint8Array.from(totals as Uint8Array)
  return { shape: String(shape), dayUs: Number(startUs), totals: new Float64Array(buffer) }
}
