import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { TimeOrder } from '../../readings-query.ts'
import { type KeptRow, marksByStream, segmentsByStream } from '../../windows/kept-rows.ts'
import type { WindowResult } from '../../windows/revisions.ts'
import { StreamWindows } from '../../windows/stream-windows.ts'
import { newMarks, newSegments, type WindowChange } from '../../windows/window-changes.ts'
import type { WindowRange } from '../../windows/window-starts.ts'
import type { WindowDefinition } from '../../windows/window-store.ts'

/** Streams have numbers here: a result is hardly longer than an id. */
export const windowsDdl = `
  CREATE TABLE IF NOT EXISTS windowed_streams (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE
  ) STRICT;
  CREATE TABLE IF NOT EXISTS window_definitions (
    stream INTEGER NOT NULL, version INTEGER NOT NULL, from_us INTEGER NOT NULL, definition TEXT,
    PRIMARY KEY (stream, version)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS window_marks (
    stream INTEGER NOT NULL, from_us INTEGER NOT NULL, to_us INTEGER NOT NULL,
    PRIMARY KEY (stream, from_us)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS window_results (
    stream INTEGER NOT NULL, start_us INTEGER NOT NULL, count INTEGER NOT NULL,
    revision INTEGER NOT NULL, computed_at_us INTEGER NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (stream, start_us)
  ) STRICT, WITHOUT ROWID;
`

/** What a stream with windows was like when the file was opened. */
export interface KeptStream {
  readonly id: string
  readonly windows: StreamWindows
}

interface AskedResults {
  readonly startUs: number
  readonly endUs: number
  readonly limit: number
  readonly order?: TimeOrder | undefined
}

/**
 * Definitions, marks and results of windows, in the file that has position and counts: so all of them
 * change in one transaction, which QuestDB has none for. Whoever writes has begun one.
 */
export class WindowTables {
  readonly #database: DatabaseSync
  readonly #find: StatementSync
  readonly #add: StatementSync
  readonly #definition: StatementSync
  readonly #mark: StatementSync
  readonly #unmark: StatementSync
  readonly #result: StatementSync
  readonly #newest: StatementSync
  readonly #results: Readonly<Record<TimeOrder, StatementSync>>
  readonly #place: StatementSync
  readonly #expire: StatementSync

  /** @param database that has the tables */
  constructor(database: DatabaseSync) {
    this.#database = database
    this.#find = database.prepare('SELECT number FROM windowed_streams WHERE id = ?')
    this.#add = database.prepare('INSERT INTO windowed_streams (id) VALUES (?)')
    this.#definition = database.prepare('INSERT INTO window_definitions VALUES (?, ?, ?, ?)')
    // Two marks that begin alike become the longer one: what is marked must not be forgotten.
    this.#mark = database.prepare(
      `INSERT INTO window_marks VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET to_us = max(to_us, excluded.to_us)`,
    )
    this.#unmark = database.prepare('DELETE FROM window_marks WHERE stream = ?')
    this.#result = database.prepare(
      'INSERT OR REPLACE INTO window_results VALUES (?, ?, ?, ?, ?, ?)',
    )
    this.#newest = database.prepare(
      'SELECT max(start_us) AS newest FROM window_results WHERE stream = ?',
    )
    const resultsIn = (order: TimeOrder) =>
      database.prepare(
        `SELECT start_us, count, revision, computed_at_us, content FROM window_results
         WHERE stream = ? AND start_us >= ? AND start_us < ? ORDER BY start_us ${order} LIMIT ?`,
      )
    this.#results = { asc: resultsIn('asc'), desc: resultsIn('desc') }
    this.#place = database.prepare(
      `SELECT start_us FROM window_results WHERE stream = ? AND start_us < ?
       ORDER BY start_us LIMIT 1 OFFSET ?`,
    )
    this.#expire = database.prepare('DELETE FROM window_results WHERE stream = ? AND start_us < ?')
  }

  /** @param parsed one object for all definitions that are alike */
  *read(parsed: (definition: string) => WindowDefinition): Generator<KeptStream> {
    const definitions = 'SELECT * FROM window_definitions ORDER BY stream, version'
    const segments = segmentsByStream(this.#database.prepare(definitions).iterate(), parsed)
    const marks = marksByStream(this.#database.prepare('SELECT * FROM window_marks').iterate())
    for (const row of this.#database.prepare('SELECT id, number FROM windowed_streams').iterate()) {
      const number = Number(row['number'])
      const windows = new StreamWindows(segments.get(number), marks.get(number))
      yield { id: String(row['id']), windows }
    }
  }

  /** Writes what follows from readings that arrive or go. */
  writeChanges(changes: readonly WindowChange[]): void {
    for (const change of changes) {
      const marks = newMarks(change)
      const segments = newSegments(change)
      if (marks.length === 0 && segments.length === 0) continue
      const number = this.#numberFor(change.id)
      for (const { fromUs, toUs } of marks) this.#mark.run(number, fromUs, toUs)
      for (const { version, fromUs, definition } of segments) {
        const text = definition === undefined ? null : JSON.stringify(definition)
        this.#definition.run(number, version, fromUs, text)
      }
    }
  }

  /** Puts marks of streams in the place of those that there are. */
  replaceMarks(left: ReadonlyMap<string, readonly WindowRange[]>): void {
    for (const [id, ranges] of left) {
      const number = this.#numberFor(id)
      this.#unmark.run(number)
      for (const { fromUs, toUs } of ranges) this.#mark.run(number, fromUs, toUs)
    }
  }

  /** Writes results, each in the place of that which its window had. */
  writeResults(results: readonly WindowResult[], nowUs: number): void {
    for (const { streamId, timestampUs, count, revision, values } of results) {
      const number = this.#numberFor(streamId)
      this.#result.run(number, timestampUs, count, revision, nowUs, values)
    }
  }

  /** Where the newest window begins that a stream has a result of, or -1. */
  newestUs(id: string): number {
    const number = this.#known(id)
    const newest = number === undefined ? null : this.#newest.get(number)?.['newest']
    return Number(newest ?? -1)
  }

  /** Results of a stream that begin in [startUs, endUs), in ascending time unless something is said. */
  resultsIn(
    id: string,
    { startUs, endUs, limit, order = 'asc' }: AskedResults,
  ): readonly KeptRow[] {
    const number = this.#known(id)
    if (number === undefined) return []
    return this.#results[order].all(number, startUs, endUs, limit)
  }

  /** Removes the oldest results of a stream from before a time, and says how many: `limit` at most. */
  removeBefore(id: string, beforeUs: number, limit: number): number {
    const number = this.#known(id)
    if (number === undefined) return 0
    const next = this.#place.get(number, beforeUs, limit)?.['start_us']
    return Number(this.#expire.run(number, Number(next ?? beforeUs)).changes)
  }

  /** Forgets a stream without results. */
  forget(id: string): void {
    const number = this.#known(id)
    if (number === undefined) return
    this.#unmark.run(number)
    this.#database.prepare('DELETE FROM window_definitions WHERE stream = ?').run(number)
    this.#database.prepare('DELETE FROM windowed_streams WHERE number = ?').run(number)
  }

  /** Not remembered: what a transaction has added may be gone with it. */
  #known(id: string): number | undefined {
    const row = this.#find.get(id)
    return row && Number(row['number'])
  }

  #numberFor(id: string): number {
    return this.#known(id) ?? Number(this.#add.run(id).lastInsertRowid)
  }
}
