import { messageOf } from '../../../core/errors.ts'
import type { Offset } from '../../journal/journal.ts'
import type { StoreServer } from '../store-copy.ts'
import type { Repetition } from '../store-durability.ts'
import { QuestDbAway, QuestDbConnection, QuestDbRefusal } from './connection.ts'
import { literal, tableOf } from './layout.ts'
import type { Ledger } from './ledger.ts'
import type { UnprovenChange } from './positions-file.ts'
import { commitMode } from './preparation.ts'
import type { WritePlace } from './write-place.ts'

/** A checkpoint writes all that waits for the disk of the server's machine. */
export const checkpointMs = 300_000

/** A checkpoint of ours begins within this time after we have asked for it. */
const checkpointBeginsMs = 60_000

/** Nothing is lost, but much of it is not proven: the shipper waits. */
export class NotProven extends Error {
  override readonly name = 'NotProven'
}

/** QuestDB is another process than the one that took what is not proven: that is sent again first. */
export class RepetitionPending extends Error {
  override readonly name = 'RepetitionPending'
}

/** QuestDB has less than it was proven to have. */
export class ReadingsLost extends Error {
  override readonly name = 'ReadingsLost'
}

export interface DurabilityNeeds {
  readonly server: StoreServer
  readonly ledger: Ledger
  /** How many bytes entries may have that QuestDB has taken and could lose. */
  readonly heldBytesMax: number
  readonly logger: { warn(facts: object, message: string): void }
}

/**
 * By default QuestDB answers before anything is on its disk, so a power cut of its machine loses what the
 * journal could have forgotten by then. `CHECKPOINT CREATE` ends with sync(2): what was taken before is
 * on the disk after it. Until then the journal keeps it, and it is sent again when QuestDB has been
 * started anew, as nobody can tell a start after a power cut from any other.
 */
export class Durability {
  readonly #needs: DurabilityNeeds
  /** Whether commits are on the disk when they are answered. */
  #isSynced = false
  #repetition: RepetitionState | undefined
  #wanted: PromiseWithResolvers<void> | undefined
  #proving: Promise<void> | undefined
  #problem: string | undefined
  #lost: string | undefined
  #repetitions = 0

  constructor(needs: DurabilityNeeds) {
    this.#needs = needs
  }

  /**
   * The problem that keeps readings from being stored: only an operator can do something about it.
   */
  get problem(): string | undefined {
    return this.#lost
  }

  /** What has to be noted of a change that QuestDB has taken. */
  noted(change: UnprovenChange): UnprovenChange | undefined {
    const isOnDisk = this.#isSynced && this.#needs.ledger.unproven.isEmpty
    return isOnDisk ? undefined : change
  }

  /** How many have begun. */
  get repetitions(): number {
    return this.#repetitions
  }

  get isRepeating(): boolean {
    return this.#repetition !== undefined
  }

  /** Resolves when there is something to be sent again. Each has its own promise: old ones are forgotten. */
  async wanted(): Promise<void> {
    if (this.#repetition) return
    this.#wanted = Promise.withResolvers()
    await this.#wanted.promise
  }

  /**
   * Looks who answers on a new connection, and whether it has what it was proven to have.
   *
   * @returns whether it is another process than before
   * @throws ReadingsLost
   */
  async connected(connection: QuestDbConnection): Promise<boolean> {
    const { ledger, logger } = this.#needs
    const { unproven, position } = ledger
    const server = await processOf(connection)
    this.#isSynced = await isSyncing(connection)
    await this.#assertNothingLost(connection)
    await this.#releaseForgotten(connection)
    if (unproven.server === server || this.#repetition?.server === server) return false
    this.#repetition = undefined
    if (unproven.isEmpty) {
      unproven.setServer(server)
      return true
    }
    this.#repetition = { server, next: unproven.from ?? position, statement: 0 }
    this.#repetitions++
    logger.warn(
      { from: unproven.from ?? position, to: position },
      'QuestDB was restarted: what is not proven to be on its disk is sent again',
    )
    this.#wanted?.resolve()
    return true
  }

  /** Where the entries begin that have to be sent again; undefined when none have to be. */
  get repeatsFrom(): Offset | undefined {
    const { ledger } = this.#needs
    if (!this.#repetition) return undefined
    const { next } = this.#repetition
    return Math.max(next, ledger.unproven.firstFrom(next) ?? ledger.position)
  }

  /** What has to be sent again next. Statements before it are run here. */
  async next({ connection, unapplied }: WritePlace): Promise<Repetition | undefined> {
    const repetition = this.#repetition
    if (!repetition) return undefined
    const { unproven, position } = this.#needs.ledger
    for (;;) {
      const statement = unproven.statementAfter(repetition.statement)
      const from = this.repeatsFrom ?? position
      const until = statement?.position ?? position
      if (from < until) return { from, until }
      if (!statement) break
      unapplied.addUnknown()
      await connection.run(statement.text)
      repetition.next = Math.max(repetition.next, until)
      repetition.statement = statement.id
    }
    unproven.setServer(repetition.server)
    this.#repetition = undefined
    return undefined
  }

  /** @throws Error when it is the turn of other entries */
  assertNext(from: Offset): void {
    if (this.repeatsFrom === from) return
    throw new Error(`expected a repetition from ${this.repeatsFrom ?? 'nowhere'}, not from ${from}`)
  }

  /** Notes how far it was sent again. */
  repeated(nextOffset: Offset): void {
    if (this.#repetition) this.#repetition.next = nextOffset
  }

  /** @throws NotProven when the journal holds back as much as it may */
  async makeRoom(): Promise<void> {
    const { ledger, heldBytesMax } = this.#needs
    const { bytes } = ledger.unproven
    if (bytes < heldBytesMax / 2) return
    const proven = this.prove()
    if (bytes < heldBytesMax) return
    await proven
    if (ledger.unproven.bytes < heldBytesMax) return
    throw new NotProven(
      `QuestDB does not prove that it has readings on its disk: ${this.#problem ?? 'no checkpoint yet'}`,
    )
  }

  /** Has QuestDB write everything to its disk. A failure is no harm: the journal keeps what it has. */
  async prove(): Promise<void> {
    const { ledger, logger } = this.#needs
    this.#proving ??= this.#prove()
      .then(
        () => (this.#problem = undefined),
        (error: unknown) => {
          this.#problem = messageOf(error)
          const facts = { heldBytes: ledger.unproven.bytes, problem: this.#problem }
          logger.warn(facts, 'QuestDB could not be had to write to its disk')
        },
      )
      .then(() => (this.#proving = undefined))
    await this.#proving
  }

  async #prove(): Promise<void> {
    const { server, ledger } = this.#needs
    const { unproven, position } = ledger
    const { server: running, lastStatement: statement } = unproven
    if (running === undefined || this.#repetition || unproven.isEmpty) return
    const connection = new QuestDbConnection(server, { sockets: 1, answerMs: checkpointMs })
    try {
      const transactions = await transactionsOf(connection)
      if (!this.#isSynced) await this.#checkpoint(connection)
      // A process that was started since then may have lost what the one before had.
      if ((await processOf(connection)) !== running) return
      ledger.prove({ position, statement, transactions })
    } finally {
      connection.close()
    }
  }

  async #checkpoint(connection: QuestDbConnection): Promise<void> {
    const { unproven } = this.#needs.ledger
    unproven.setCheckpointAsked(await timeOf(connection))
    try {
      await connection.run('CHECKPOINT CREATE')
    } catch (error) {
      // Somebody else has made one, and needs it.
      if (error instanceof QuestDbRefusal) unproven.setCheckpointAsked(undefined)
      throw error
    }
    await connection.run('CHECKPOINT RELEASE')
    unproven.setCheckpointAsked(undefined)
  }

  /** A checkpoint that we have asked for, and whose end we have not seen, would stay for ever. */
  async #releaseForgotten(connection: QuestDbConnection): Promise<void> {
    const { unproven } = this.#needs.ledger
    const asked = unproven.checkpointAsked
    if (asked === undefined || this.#proving) return
    const { rows } = await connection.run('SELECT in_progress, started_at FROM checkpoint_status()')
    const [isInProgress, startedAt] = rows[0] ?? []
    const afterMs = Date.parse(String(startedAt)) - Date.parse(asked)
    const isOurs = isInProgress === true && afterMs >= 0 && afterMs < checkpointBeginsMs
    if (isOurs) await connection.run('CHECKPOINT RELEASE')
    unproven.setCheckpointAsked(undefined)
  }

  async #assertNothingLost(connection: QuestDbConnection): Promise<void> {
    const { transactions } = this.#needs.ledger.unproven
    const found = await transactionsOf(connection)
    const behind = [...transactions].filter(([table, proven]) => (found.get(table) ?? 0) < proven)
    this.#lost = undefined
    if (behind.length === 0) return
    const tables = behind
      .slice(0, tablesNamed)
      .map(([table, proven]) => `${table} ends at ${found.get(table) ?? 'nothing'} of ${proven}`)
    const more = behind.length > tablesNamed ? `, and ${behind.length - tablesNamed} more` : ''
    this.#lost = `QuestDB has lost transactions that were on its disk, and the journal has their readings no more: ${tables.join(', ')}${more}. Put back the newest copy of its folder`
    throw new ReadingsLost(this.#lost)
  }
}

interface RepetitionState {
  /** Which process gets it all. */
  readonly server: string
  next: Offset
  /** Id of the last statement that was run again. */
  statement: number
}

/** Tables that a message names. */
const tablesNamed = 5

/** Whether commits are on the disk when they are answered. */
export async function isSyncing(connection: QuestDbConnection): Promise<boolean> {
  const mode = await commitMode(connection)
  return mode === 'sync' || mode === 'adaptive'
}

/** Tells one process of the server from the next. */
export async function processOf(connection: QuestDbConnection): Promise<string> {
  const { rows } = await connection.run('SELECT pg_postmaster_start_time()')
  const started = rows[0]?.[0]
  if (typeof started !== 'string') throw new QuestDbAway('QuestDB does not say when it was started')
  return started
}

async function timeOf(connection: QuestDbConnection): Promise<string> {
  const { rows } = await connection.run('SELECT now()')
  return String(rows[0]?.[0])
}

/** By table, the newest transaction that was taken. */
export async function transactionsOf(connection: QuestDbConnection): Promise<Map<string, number>> {
  const { rows } = await connection.run(
    `SELECT name, sequencerTxn FROM wal_tables()
     WHERE starts_with(name, ${literal(tableOf(connection.server.prefix, ''))})`,
  )
  return new Map(rows.map(([name, transaction]) => [String(name), Number(transaction)]))
}
