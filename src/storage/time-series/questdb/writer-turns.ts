import type { StoreServer } from '../store-copy.ts'
import { QuestDbAway, QuestDbConnection } from './connection.ts'
import { type Durability, RepetitionPending } from './durability.ts'
import type { Ledger } from './ledger.ts'
import { claimTables, prepareTables } from './preparation.ts'
import { Unapplied } from './unapplied.ts'
import type { WritePlace } from './write-place.ts'

export interface WriterTurnsNeeds {
  readonly server: StoreServer
  readonly ledger: Ledger
  readonly durability: Durability
}

/** Lets one at a time write, each on the connection of the one before, or on a new one. */
export class WriterTurns {
  readonly unapplied: Unapplied
  readonly #needs: WriterTurnsNeeds
  #connection: QuestDbConnection | undefined
  #isKnown = false
  #isClosing = false
  #last: Promise<void> = Promise.resolve()

  constructor(needs: WriterTurnsNeeds) {
    this.#needs = needs
    const { server, ledger } = needs
    this.unapplied = new Unapplied(server.prefix, ledger.classes.placeOf)
  }

  /** Whether the server was asked who it is, and has not gone since, as far as anybody knows. */
  get isConnected(): boolean {
    return this.#isKnown
  }

  /**
   * @throws QuestDbAway: the next one gets a new connection then; RepetitionPending: nothing else may be
   *   done before that
   */
  async take<Result>(work: (place: WritePlace) => Promise<Result>): Promise<Result> {
    return await this.takeAnyway(async (place) => {
      if (this.#needs.durability.isRepeating) {
        throw new RepetitionPending('what QuestDB may have lost has to be sent again first')
      }
      return await work(place)
    })
  }

  /** Takes a turn for what may be done during a repetition, too. */
  async takeAnyway<Result>(work: (place: WritePlace) => Promise<Result>): Promise<Result> {
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
    const { server, ledger, durability } = this.#needs
    if (this.#connection) return this.#connection
    // Kept before it is asked anything, so that it can be interrupted.
    const connection = new QuestDbConnection(server, { sockets: 1, isPinned: true })
    this.#connection = connection
    try {
      const { id, shapes, unproven } = ledger
      await claimTables(connection, { id, isNew: !unproven.hasProof })
      if (await durability.connected(connection)) this.unapplied.forget()
      await prepareTables(connection, shapes.values())
      this.#isKnown = true
      return connection
    } catch (error) {
      this.#disconnect()
      throw error
    }
  }

  #disconnect(): void {
    this.#connection?.close()
    this.#connection = undefined
    this.#isKnown = false
    // Nobody knows what became of what was under way.
    this.unapplied.addUnknown()
  }
}

function nothing(): void {}
