import type { SandboxTransaction } from './transaction.ts'

/** Transactions that wait for a block, and characters of all: they are sent again when these are there no more. */
const transactionsMax = 20_000
const charsMax = 128 * 1024 * 1024

export interface Waiting {
  readonly transaction: SandboxTransaction
  /** The length of its blob. */
  readonly chars: number
}

/** What is in no block yet, in the order of the sequences, without a gap. */
export class WaitingTransactions {
  #all: Waiting[] = []
  readonly #byHash = new Map<string, SandboxTransaction>()
  readonly #byIntent = new Map<string, SandboxTransaction>()
  #chars = 0

  get size(): number {
    return this.#all.length
  }

  has(hash: string): boolean {
    return this.#byHash.has(hash)
  }

  byIntent(intentId: string): SandboxTransaction | undefined {
    return this.#byIntent.get(intentId)
  }

  /** False when there is no room. */
  add(one: Waiting): boolean {
    const { transaction, chars } = one
    if (this.#all.length >= transactionsMax || this.#chars + chars > charsMax) return false
    this.#all.push(one)
    this.#byHash.set(transaction.hash, transaction)
    for (const intent of intentsOf(transaction)) {
      if (!this.#byIntent.has(intent)) this.#byIntent.set(intent, transaction)
    }
    this.#chars += chars
    return true
  }

  /** The first ones, as many as go into a block; one at least. */
  first(countMax: number, charsMaxOfAll: number): readonly Waiting[] {
    let chars = 0
    const end = this.#all.findIndex((one, at) => {
      chars += one.chars
      return at >= countMax || (at > 0 && chars > charsMaxOfAll)
    })
    return end === -1 ? [...this.#all] : this.#all.slice(0, end)
  }

  /** Takes out the first ones. */
  remove(count: number): void {
    for (const { transaction, chars } of this.#all.splice(0, count)) {
      this.#byHash.delete(transaction.hash)
      for (const intent of intentsOf(transaction)) {
        if (this.#byIntent.get(intent) === transaction) this.#byIntent.delete(intent)
      }
      this.#chars -= chars
    }
  }

  /** Takes out what is in the chain by now, and everything where it does not follow the chain. */
  goOnFrom(nextSequence: number): void {
    const first = this.#all.findIndex(({ transaction }) => {
      return transaction.said.sequence === nextSequence
    })
    this.remove(first === -1 ? this.#all.length : first)
  }
}

function intentsOf({ said, leaves }: SandboxTransaction): readonly string[] {
  return [said.intent, ...leaves.map(({ intentId }) => intentId)]
}
