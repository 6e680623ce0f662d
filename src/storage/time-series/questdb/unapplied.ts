import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Shape } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import type { QuestDbConnection } from './connection.ts'
import { literal, tableOf } from './layout.ts'

/** Rows that QuestDB has taken and not shown yet; beyond these the writer waits for it. */
const rowsMax = 200_000

const pollMs = 10

/** QuestDB has given up on a table: what it has taken of it is shown to nobody until somebody lets it go on. */
export class QuestDbSuspended extends Error {
  override readonly name = 'QuestDbSuspended'
}

/** How far a table is: the newest transaction that queries see, and the newest that there is. */
interface TableProgress {
  readonly applied: number
  readonly sequenced: number
}

/** Which reading of its stream a row is. A reading itself would keep its stretch of the journal in memory. */
interface Identity {
  readonly timestampUs: number
  readonly digest: bigint
}

/** Rows that were sent together. */
interface Batch {
  readonly streams: ReadonlyMap<string, readonly Identity[]>
  readonly rows: number
  readonly tables: ReadonlySet<string>
  /** By table, the transaction at which the batch is visible: known at the first look after it. */
  visibleAt: Map<string, number> | undefined
  /** Texts that identify the readings of a stream, made when somebody asks. */
  readonly identities: Map<string, ReadonlySet<string>>
}

/**
 * Rows on their way through QuestDB's write-ahead log: committed, but not seen by queries for some
 * milliseconds, and for minutes when a server is behind. Duplicates of them are found here, so that no
 * shipment has to wait.
 */
export class Unapplied {
  readonly #prefix: string
  readonly #placeOf: (reading: ShippedReading) => Shape
  #batches: Batch[] = []
  #rows = 0
  /** Whether there may be transactions that are not among the batches: removals, or of a run before. */
  #isUnknown = true

  constructor(prefix: string, placeOf: (reading: ShippedReading) => Shape = ({ shape }) => shape) {
    this.#prefix = prefix
    this.#placeOf = placeOf
  }

  get rows(): number {
    return this.#rows
  }

  /** Whether queries see everything that was sent. */
  get isEmpty(): boolean {
    return this.#batches.length === 0 && !this.#isUnknown
  }

  add(readings: readonly ShippedReading[]): void {
    if (readings.length === 0) return
    const streams = new Map<string, Identity[]>()
    const tables = new Set<string>()
    for (const reading of readings) {
      const { streamId, timestampUs, digest } = reading
      const identity = { timestampUs, digest }
      const ofStream = streams.get(streamId)
      if (ofStream) ofStream.push(identity)
      else streams.set(streamId, [identity])
      tables.add(tableOf(this.#prefix, this.#placeOf(reading).id))
    }
    const identities = new Map<string, ReadonlySet<string>>()
    this.#batches.push({ streams, rows: readings.length, tables, visibleAt: undefined, identities })
    this.#rows += readings.length
  }

  /** There was a change that is no batch: until it is applied, look-ups are wrong. */
  addUnknown(): void {
    this.#isUnknown = true
  }

  /** Another process answers: it may never have had some of it. */
  forget(): void {
    this.#batches = []
    this.#rows = 0
    this.#isUnknown = true
  }

  has({ streamId, timestampUs, digest }: ShippedReading): boolean {
    const identity = `${timestampUs} ${digest}`
    return this.#batches.some((batch) => identitiesOf(batch, streamId).has(identity))
  }

  /** Looks how far QuestDB is, and waits where look-ups would be wrong, or rows are too many. */
  async catchUp(connection: QuestDbConnection): Promise<void> {
    if (this.isEmpty) return
    const first = await this.#look(connection)
    if (this.#isUnknown) {
      await this.#until(connection, first)
      this.#isUnknown = false
    }
    while (this.#rows > rowsMax) {
      await sleep(pollMs)
      await this.#look(connection)
    }
  }

  /** Resolves when queries see everything that was sent before the call. */
  async applied(connection: QuestDbConnection, signal?: AbortSignal): Promise<void> {
    if (this.isEmpty) {
      // Who asks again and again about streams without readings would else let nobody have a turn.
      await nextTurn()
      return
    }
    await this.#until(connection, await this.#look(connection, signal), signal)
    await this.#look(connection, signal)
  }

  async #until(
    connection: QuestDbConnection,
    goal: ReadonlyMap<string, TableProgress>,
    signal?: AbortSignal,
  ): Promise<void> {
    let now = goal
    while (![...goal].every(([table, { sequenced }]) => reaches(now.get(table), sequenced))) {
      await sleep(pollMs, undefined, { signal })
      now = await this.#progress(connection, signal)
    }
  }

  async #look(
    connection: QuestDbConnection,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, TableProgress>> {
    const progress = await this.#progress(connection, signal)
    this.#batches = this.#batches.filter((batch) => {
      batch.visibleAt ??= new Map(
        [...batch.tables].map((table) => [table, progress.get(table)?.sequenced ?? 0]),
      )
      return ![...batch.visibleAt].every(([table, at]) => reaches(progress.get(table), at))
    })
    this.#rows = this.#batches.reduce((sum, { rows }) => sum + rows, 0)
    return progress
  }

  /** @throws QuestDbSuspended */
  async #progress(
    connection: QuestDbConnection,
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, TableProgress>> {
    const { rows } = await connection.run(
      `SELECT name, writerTxn, sequencerTxn, suspended, errorMessage FROM wal_tables()
       WHERE starts_with(name, ${literal(tableOf(this.#prefix, ''))})`,
      signal,
    )
    const progress = new Map<string, TableProgress>()
    for (const [name, applied, sequenced, isSuspended, message] of rows) {
      if (isSuspended === true) {
        throw new QuestDbSuspended(
          `QuestDB has suspended the table ${String(name)}: ${String(message)}`,
        )
      }
      progress.set(String(name), { applied: Number(applied), sequenced: Number(sequenced) })
    }
    return progress
  }
}

/** A table that is not there any more holds up nobody. */
function reaches(progress: TableProgress | undefined, at: number): boolean {
  return progress === undefined || progress.applied >= at
}

function identitiesOf(batch: Batch, streamId: string): ReadonlySet<string> {
  let identities = batch.identities.get(streamId)
  if (!identities) {
    const readings = batch.streams.get(streamId) ?? []
    identities = new Set(readings.map(({ timestampUs, digest }) => `${timestampUs} ${digest}`))
    batch.identities.set(streamId, identities)
  }
  return identities
}
