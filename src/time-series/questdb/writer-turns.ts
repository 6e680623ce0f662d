import { QuestDbAway, QuestDbConnection, type QuestDbServer } from './connection.ts'
import type { Ledger } from './ledger.ts'
import { claimTables, commitMode, prepareTables } from './preparation.ts'
import { Unapplied } from './unapplied.ts'

/** What work on the tables is done with. */
export interface WritePlace {
  readonly connection: QuestDbConnection
  readonly unapplied: Unapplied
}

export interface WriterTurnsNeeds {
  readonly server: QuestDbServer
  readonly ledger: Ledger
  readonly logger: { warn(facts: object, message: string): void }
}

/** Lets one at a time write, each on the connection of the one before, or on a new one. */
export class WriterTurns {
  readonly unapplied: Unapplied
  readonly #server: QuestDbServer
  readonly #ledger: Ledger
  readonly #logger: WriterTurnsNeeds['logger']
  #connection: QuestDbConnection | undefined
  #isClosing = false
  #last: Promise<void> = Promise.resolve()

  constructor({ server, ledger, logger }: WriterTurnsNeeds) {
    this.#server = server
    this.#ledger = ledger
    this.#logger = logger
    this.unapplied = new Unapplied(server.prefix)
  }

  /** @throws QuestDbAway; the next one gets a new connection then */
  async take<Result>(work: (place: WritePlace) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#run(work))
    this.#last = result.then(nothing, nothing)
    return await result
  }

  /** Ends what is under way with the server: nothing but `close` may follow. */
  interrupt(): void {
    this.#isClosing = true
    this.#connection?.close()
  }

  async close(): Promise<void> {
    this.interrupt()
    await this.#last
  }

  async #run<Result>(work: (place: WritePlace) => Promise<Result>): Promise<Result> {
    if (this.#isClosing) throw new QuestDbAway('the store is being closed')
    try {
      return await work({ connection: await this.#connected(), unapplied: this.unapplied })
    } catch (error) {
      if (error instanceof QuestDbAway) this.#disconnect()
      throw error
    }
  }

  async #connected(): Promise<QuestDbConnection> {
    if (this.#connection) return this.#connection
    // Kept before it is asked anything, so that it can be interrupted.
    const connection = new QuestDbConnection(this.#server, { sockets: 1, isPinned: true })
    this.#connection = connection
    try {
      const { id, shapes } = this.#ledger
      await claimTables(connection, { id, isNew: shapes.size === 0 })
      await prepareTables(connection, shapes.values())
      await this.#warnOfCommitMode(connection)
      return connection
    } catch (error) {
      this.#disconnect()
      throw error
    }
  }

  async #warnOfCommitMode(connection: QuestDbConnection): Promise<void> {
    const mode = await commitMode(connection)
    if (mode === 'sync' || mode === 'adaptive') return
    const message = 'a power cut of QuestDB can lose readings: set its cairo.commit.mode to sync'
    this.#logger.warn({ mode }, message)
  }

  #disconnect(): void {
    this.#connection?.close()
    this.#connection = undefined
    // Nobody knows what became of what was under way.
    this.unapplied.addUnknown()
  }
}

function nothing(): void {}
