import type { Pgoutput, PgoutputPlugin } from 'pg-logical-replication'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { type LogPosition, parseLsn } from './log-position.ts'
import { RowBatch } from './row-batch.ts'
import { type ShapeNeeds, type TableShape, tableShape } from './table-shape.ts'

/** What one page hands over, and how far the log is read with it. */
export interface ChangePage {
  readonly messages: readonly FetchedMessage[]
  readonly bytes: number
  readonly position: LogPosition
}

export interface ChangePagesOptions extends ShapeNeeds {
  /** Parser of the messages of the plugin `pgoutput`. */
  readonly parser: Pick<PgoutputPlugin, 'parse'>
  readonly schema: string
  readonly table: string
  readonly withUpdates: boolean
  /** Where a row came from, for a person. */
  readonly source: string
  /** Where the log is read from. */
  readonly position: LogPosition
}

/** The transaction that is being read. */
interface Transaction {
  readonly commitLsn: bigint
  /** Changes of the table so far, whether they are wanted or not. */
  changes: number
  /** Number of these changes that are durable already. */
  readonly durable: number
}

/** Makes pages of messages out of the changes of one table, in the order of their commits. */
export class ChangePages {
  readonly #options: ChangePagesOptions
  /** Shapes by ids of tables; those of other tables of the publication are undefined. */
  readonly #shapes = new Map<number, TableShape | undefined>()
  readonly #batch: RowBatch
  #transaction: Transaction | undefined
  #reached: bigint

  constructor(options: ChangePagesOptions) {
    this.#options = options
    this.#batch = new RowBatch(options.source)
    this.#reached = options.position.lsn
  }

  /** Whether no transaction is being read. */
  get isBetween(): boolean {
    return this.#transaction === undefined
  }

  /** All that was committed before was read. */
  get reached(): bigint {
    return this.#reached
  }

  get isEmpty(): boolean {
    return this.#batch.isEmpty
  }

  get isFull(): boolean {
    return this.#batch.isFull
  }

  /** Bytes of the messages that were not taken yet. */
  get bytes(): number {
    return this.#batch.bytes
  }

  /** @throws Error for what is no message of pgoutput */
  read(bytes: Buffer): void {
    const message = this.#options.parser.parse(bytes)
    switch (message.tag) {
      case 'begin':
        this.#begin(parseLsn(message.commitLsn ?? '0/0'))
        return
      case 'relation':
        this.#learn(message)
        return
      case 'insert':
        this.#change(message.relation, message.new, true)
        return
      case 'update':
        this.#change(message.relation, message.new, this.#options.withUpdates)
        return
      case 'commit':
        this.pass(parseLsn(message.commitEndLsn ?? '0/0'))
        this.#transaction = undefined
        return
      // These are no readings, and do not say how one is read.
      case 'delete':
      case 'truncate':
      case 'message':
      case 'origin':
      case 'type':
        return
      default:
        message satisfies never
    }
  }

  /** The server has nothing more to send from before this place. */
  pass(lsn: bigint): void {
    if (lsn > this.#reached) this.#reached = lsn
  }

  /** All that was read since the page before. */
  take(): ChangePage {
    const { system } = this.#options.position
    const { commitLsn, changes } = this.#transaction ?? {}
    const part = commitLsn === undefined ? undefined : { commitLsn, changes: changes ?? 0 }
    return { ...this.#batch.take(), position: { system, lsn: this.#reached, part } }
  }

  #begin(commitLsn: bigint): void {
    const { lsn, part } = this.#options.position
    let durable = 0
    if (commitLsn < lsn) durable = Number.POSITIVE_INFINITY
    else if (commitLsn === part?.commitLsn) durable = part.changes
    this.#transaction = { commitLsn, changes: 0, durable }
  }

  #learn(relation: Pgoutput.MessageRelation): void {
    const { schema, table } = this.#options
    const isOurs = relation.schema === schema && relation.name === table
    const shape = isOurs ? tableShape(relation.columns, this.#options) : undefined
    this.#shapes.set(relation.relationOid, shape)
    for (const [index, column] of relation.columns.entries()) {
      column.parser = shape?.valueTexts[index] ?? asItIs
    }
  }

  #change(
    relation: Pgoutput.MessageRelation,
    values: Readonly<Record<string, unknown>>,
    isWanted: boolean,
  ): void {
    const shape = this.#shapes.get(relation.relationOid)
    const transaction = this.#transaction
    if (shape === undefined || transaction === undefined) return
    transaction.changes++
    if (!isWanted || transaction.changes <= transaction.durable) return
    this.#batch.add(shape.rowOf(values))
  }
}

function asItIs(text: string): string {
  return text
}
