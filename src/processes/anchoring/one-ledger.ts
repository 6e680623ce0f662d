import type { Ledger } from '../../ledgers/ledger.ts'

/** A ledger that is opened once, whoever needs it first: nobody else may sign for its account. */
export class OneLedger {
  readonly #open: () => Promise<Ledger>
  #opening: Promise<Ledger> | undefined

  constructor(open: () => Promise<Ledger>) {
    this.#open = open
  }

  /** Opens it, again after a failure. @throws Error why it cannot be opened */
  async opened(): Promise<Ledger> {
    this.#opening ??= this.#open()
    try {
      return await this.#opening
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  /** To close it twice is fine. */
  async close(): Promise<void> {
    const ledger = await this.#opening?.catch(() => undefined)
    await ledger?.close()
  }
}
