import { randomUUID } from 'node:crypto'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DecayingRate } from '../../../core/decaying-rate.ts'
import { giveBackPages, keepReclaimable } from '../../../core/free-pages.ts'
import type { Offset } from '../../journal/journal.ts'
import type { RollupChange } from '../rollups/rollup-touches.ts'
import type { Column, Shape } from '../shape.ts'
import { noCounts, type OwnCounts, type StreamState } from '../stream-state.ts'
import type { StoredCounts } from '../time-series-store.ts'
import type { WindowChange } from '../windows/window-changes.ts'
import { RefusedTable, refusedDdl } from './refused-table.ts'
import type { ClassChange } from './retention-classes.ts'
import { RollupTables, rollupsDdl } from './rollups/rollup-tables.ts'
import { type Proof, UnprovenLog, type UnprovenStretch, unprovenTables } from './unproven-log.ts'
import { WindowTables, windowsDdl } from './windows/window-tables.ts'
import type { RefusedReading } from './write-rows.ts'

/** Version of the tables below; a file of a newer one is refused. 2: there are windows. 3: and proofs. 4: and classes. 5: and rollups. 6: streams leave. */
const fileVersion = 6

const ddl = `
  CREATE TABLE IF NOT EXISTS position (
    next_offset INTEGER NOT NULL, folder TEXT NOT NULL, expiry_round INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS shapes (id TEXT PRIMARY KEY, columns TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS stream_shapes (
    stream TEXT NOT NULL, shape TEXT NOT NULL, PRIMARY KEY (stream, shape)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS streams (
    id TEXT PRIMARY KEY, counts TEXT NOT NULL, timestamp_max INTEGER NOT NULL, newest_content TEXT
  ) STRICT, WITHOUT ROWID;
  ${refusedDdl}
  CREATE TABLE IF NOT EXISTS stream_classes (
    stream TEXT NOT NULL, from_offset INTEGER NOT NULL, class TEXT, PRIMARY KEY (stream, from_offset)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS departed_streams (counts TEXT NOT NULL) STRICT;
  ${windowsDdl}
  ${rollupsDdl}
  ${unprovenTables}
`

/** What is known of a stream after a step: all but its rate, which is not kept. */
export interface StreamChange {
  readonly id: string
  readonly counts: StoredCounts
  readonly timestampMaxUs: number
  readonly newestContent: bigint | undefined
  /** Ids of shapes that are new to it. */
  readonly newShapes: readonly string[]
}

/** What one step along the journal changes, all of it or nothing. */
export interface PositionChange {
  readonly position: Offset
  readonly streams: readonly StreamChange[]
  readonly newShapes: readonly Shape[]
  /** See `ExpiringPortion`. */
  readonly expiryRound?: number
  /** Readings that QuestDB did not take. */
  readonly refused?: readonly RefusedReading[]
  readonly windows?: readonly WindowChange[]
  readonly rollups?: readonly RollupChange[]
  readonly classes?: readonly ClassChange[]
  /** What QuestDB could lose of it; nothing when it is on its disk by now. */
  readonly unproven?: UnprovenChange | undefined
}

export interface UnprovenChange {
  readonly stretch?: UnprovenStretch
  readonly statements?: readonly string[]
}

/** Where rows are now that were on another server. */
export interface MovedPositions {
  /** Id of the data folder. */
  readonly folder: string
  /** The process of the server that has them. */
  readonly process: string
  readonly transactions: ReadonlyMap<string, number>
}

export interface KeptPositions {
  readonly position: Offset
  readonly expiryRound: number
  readonly streams: Map<string, StreamState>
  readonly shapes: Map<string, Shape>
  /** What was counted of the streams that have left, together. */
  readonly departed: OwnCounts
}

/** Streams of which nothing is stored any more. */
export interface Departure {
  readonly streamIds: readonly string[]
  /** What was counted of all that have left, these included. */
  readonly departed: StoredCounts
  readonly position: Offset
  readonly unproven: UnprovenChange | undefined
}

/**
 * How far the journal is stored in QuestDB, and what was counted on the way: a SQLite file beside the
 * journal. QuestDB has no transaction that rows and their counts could share, so rows are
 * sent first, and this is written when QuestDB has them. What a crash in between repeats is sent again.
 */
export class PositionsFile {
  /** The id of the data folder: QuestDB stores for one. */
  readonly id: string
  /** To be written in a transaction. */
  readonly windows: WindowTables
  /** To be written in a transaction, too. */
  readonly rollups: RollupTables
  readonly unproven: UnprovenLog
  readonly refused: RefusedTable
  readonly #database: DatabaseSync
  readonly #move: StatementSync
  readonly #shape: StatementSync
  readonly #streamShape: StatementSync
  readonly #stream: StatementSync

  constructor(path: string) {
    this.#database = openForWriting(path)
    this.windows = new WindowTables(this.#database)
    this.rollups = new RollupTables(this.#database)
    this.refused = new RefusedTable(this.#database)
    this.id = String(this.#database.prepare('SELECT folder FROM position').get()?.['folder'])
    this.#move = this.#database.prepare(
      'UPDATE position SET next_offset = ?, expiry_round = coalesce(?, expiry_round)',
    )
    this.#shape = this.#database.prepare('INSERT INTO shapes VALUES (?, ?)')
    this.#streamShape = this.#database.prepare('INSERT INTO stream_shapes VALUES (?, ?)')
    this.#stream = this.#database.prepare('INSERT OR REPLACE INTO streams VALUES (?, ?, ?, ?)')
    this.unproven = new UnprovenLog(this.#database)
  }

  read(): KeptPositions {
    const [position] = this.#database
      .prepare('SELECT next_offset, expiry_round FROM position')
      .all()
    const streams = new Map<string, StreamState>()
    for (const row of this.#database.prepare('SELECT * FROM streams').iterate()) {
      const content = row['newest_content']
      streams.set(String(row['id']), {
        shapes: new Set(),
        counts: countsOf(row),
        timestampMaxUs: Number(row['timestamp_max']),
        newestContent: typeof content === 'string' ? BigInt(content) : undefined,
        rate: new DecayingRate(),
      })
    }
    for (const row of this.#database.prepare('SELECT * FROM stream_shapes').iterate()) {
      streams.get(String(row['stream']))?.shapes.add(String(row['shape']))
    }
    const shapes = new Map<string, Shape>()
    for (const row of this.#database.prepare('SELECT * FROM shapes').iterate()) {
      const id = String(row['id'])
      shapes.set(id, { id, columns: JSON.parse(String(row['columns'])) as Column[] })
    }
    const expiryRound = Number(position?.['expiry_round'])
    const counts = this.#database.prepare('SELECT counts FROM departed_streams').get()
    const departed = counts ? countsOf(counts) : { ...noCounts }
    return { position: Number(position?.['next_offset']), expiryRound, streams, shapes, departed }
  }

  /** Makes a change durable. */
  commit(change: PositionChange): void {
    const {
      position,
      streams,
      newShapes,
      expiryRound,
      refused = [],
      windows = [],
      rollups = [],
    } = change
    this.transact(() => {
      for (const { id, columns } of newShapes) this.#shape.run(id, JSON.stringify(columns))
      for (const stream of streams) this.#write(stream)
      if (refused.length > 0) this.refused.keep(refused)
      this.windows.writeChanges(windows)
      for (const { id, rollup, touched } of rollups) {
        this.rollups.addMarks(id, rollup.marks.unmarked(touched))
      }
      for (const one of change.classes ?? []) this.#setClass(one)
      if (change.unproven) this.#note(position, change.unproven)
      this.#move.run(position, expiryRound ?? null)
    })
  }

  /** Forgets streams: none of their rows is alive. */
  removeStreams({ streamIds, departed, position, unproven = {} }: Departure): void {
    this.transact(() => {
      for (const id of streamIds) {
        this.#database.prepare('DELETE FROM streams WHERE id = ?').run(id)
        for (const table of ['stream_shapes', 'stream_classes', 'refused_readings']) {
          this.#database.prepare(`DELETE FROM ${table} WHERE stream = ?`).run(id)
        }
        this.rollups.forget(id)
        this.windows.forget(id)
      }
      this.#database.exec('DELETE FROM departed_streams')
      this.#database
        .prepare('INSERT INTO departed_streams VALUES (?)')
        .run(JSON.stringify(departed))
      this.#note(position, unproven)
    })
  }

  /** In the order of offsets. */
  classes(): readonly ClassChange[] {
    return this.#database
      .prepare('SELECT * FROM stream_classes ORDER BY from_offset')
      .all()
      .map(({ stream, from_offset: from, class: name }) => ({
        streamId: String(stream),
        from: Number(from),
        name: typeof name === 'string' ? name : null,
      }))
  }

  /** Notes what is on QuestDB's disk. */
  prove(proof: Proof): void {
    this.transact(() => this.unproven.prove(proof))
  }

  /**
   * Makes it the file of another folder, whose rows have been brought to a server: all before the position is
   * on its disk.
   */
  moveTo({ folder, process, transactions }: MovedPositions): void {
    const { position } = this.read()
    const statement = this.unproven.lastStatement
    this.transact(() => {
      this.#database.prepare('UPDATE position SET folder = ?').run(folder)
      this.unproven.prove({ position, statement, transactions })
      this.unproven.setServer(process)
      this.unproven.setCheckpointAsked(undefined)
    })
  }

  /** All of what the work writes becomes durable, or nothing. */
  transact(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      this.unproven.recount()
      throw error
    }
  }

  /** Gives some free pages back to the disk. Returns whether there may be more. */
  giveBackSpace(pagesMax: number): boolean {
    return giveBackPages(this.#database, pagesMax)
  }

  close(): void {
    this.#database.close()
  }

  #write({ id, counts, timestampMaxUs, newestContent, newShapes }: StreamChange): void {
    this.#stream.run(
      id,
      JSON.stringify(counts),
      timestampMaxUs,
      newestContent === undefined ? null : String(newestContent),
    )
    for (const shape of newShapes) this.#streamShape.run(id, shape)
  }

  /** What was before is needed for entries that are still to be sent again. */
  #setClass({ streamId, from, name }: ClassChange): void {
    const neededFrom = this.unproven.from ?? from
    this.#database
      .prepare(
        `DELETE FROM stream_classes WHERE stream = :stream AND from_offset < (
           SELECT max(from_offset) FROM stream_classes WHERE stream = :stream AND from_offset <= :needed)`,
      )
      .run({ stream: streamId, needed: neededFrom })
    this.#database
      .prepare('INSERT OR REPLACE INTO stream_classes VALUES (?, ?, ?)')
      .run(streamId, from, name)
  }

  #note(position: Offset, { stretch, statements = [] }: UnprovenChange): void {
    if (stretch) this.unproven.addStretch(stretch)
    for (const statement of statements) this.unproven.addStatement(position, statement)
  }
}

/** What a file of an earlier version did not count is nothing. */
function countsOf(row: Readonly<Record<string, unknown>>): OwnCounts {
  return { ...noCounts, ...(JSON.parse(String(row['counts'])) as Partial<StoredCounts>) }
}

function openForWriting(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  // Somebody who looks into the file with a tool is waited for.
  database.exec('PRAGMA busy_timeout = 5000')
  keepReclaimable(database, path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > fileVersion) {
    database.close()
    throw new Error(`${path} was written by a newer version (file format ${version})`)
  }
  database.exec(ddl)
  database
    .prepare('INSERT INTO position SELECT 0, ?, 0 WHERE NOT EXISTS (SELECT * FROM position)')
    .run(randomUUID())
  // What a file of an earlier version says to be stored is gone from the journal.
  database.exec(
    `INSERT INTO proven SELECT next_offset > 0, '{}', NULL, NULL FROM position
     WHERE NOT EXISTS (SELECT * FROM proven)`,
  )
  database.exec(`PRAGMA user_version = ${fileVersion}`)
  return database
}
