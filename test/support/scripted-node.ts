import { createHash } from 'node:crypto'

/** A transaction as nodes of an account chain know it. */
export interface NodeTransaction {
  readonly hash: string
  readonly from: string
  readonly nonce: number
  /** What it pays at most, and is asked at least. */
  readonly price: number
  /** What it is for; empty for what somebody sends by hand. */
  readonly intentId: string
  readonly blob: string
}

interface NodeBlock {
  readonly id: string
  readonly timeUs: number
  readonly transactions: readonly NodeTransaction[]
}

/** What a node says to a transaction, in words that nobody should go by. */
export type NodeAnswer = 'taken' | 'already known' | 'nonce too low' | 'underpriced'

/** Nodes want a tenth more for what is to take the place of another one. */
const raise = 1.1

/**
 * The rules of an EVM node, without its machine: accounts that count, a pool that keeps what leaves a gap, replacement by price, blocks
 * that can be taken back, and a height from which on they cannot. It does what it is told, in steps.
 */
export class ScriptedNode {
  /** Less than this no block takes. */
  price = 10
  /** Blocks on top of one that make it final. */
  depth = 2
  nowUs = 1_700_000_000_000_000
  #blocks: NodeBlock[] = []
  #pool = new Map<string, NodeTransaction>()
  /** All that it was ever sent. */
  readonly #sent = new Map<string, NodeTransaction>()
  #made = 0
  #settled = 0

  get height(): number {
    return this.#blocks.length
  }

  /** Up to here no block is taken back. */
  get finalHeight(): number {
    this.#settled = Math.max(this.#settled, this.height - this.depth)
    return this.#settled
  }

  blockAt(height: number): NodeBlock | undefined {
    return this.#blocks[height - 1]
  }

  /** Transactions of an account up to a height. */
  count(from: string, height = this.height): number {
    return this.onChain(height).filter((one) => one.from === from).length
  }

  /** Counts what waits behind them without a gap, too. */
  countWithPool(from: string): number {
    let next = this.count(from)
    while (this.#pool.has(placeOf({ from, nonce: next }))) next++
    return next
  }

  onChain(height = this.height): readonly NodeTransaction[] {
    return this.#blocks.slice(0, height).flatMap(({ transactions }) => transactions)
  }

  /** The height of the block that has it. */
  heightOf(hash: string): number | undefined {
    const at = this.#blocks.findIndex((block) =>
      block.transactions.some((one) => one.hash === hash),
    )
    return at === -1 ? undefined : at + 1
  }

  isPooled(hash: string): boolean {
    return [...this.#pool.values()].some((one) => one.hash === hash)
  }

  get pooled(): readonly NodeTransaction[] {
    return [...this.#pool.values()]
  }

  get sent(): readonly NodeTransaction[] {
    return [...this.#sent.values()]
  }

  send(transaction: NodeTransaction): NodeAnswer {
    const { hash, from, nonce, price } = transaction
    this.#sent.set(hash, transaction)
    if (this.isPooled(hash)) return 'already known'
    if (nonce < this.count(from)) return 'nonce too low'
    const other = this.#pool.get(placeOf(transaction))
    if (other && price < other.price * raise) return 'underpriced'
    this.#pool.set(placeOf(transaction), transaction)
    return 'taken'
  }

  /** Makes blocks of what the pool has that pays enough, each account in its order. */
  mine(blocks = 1): void {
    for (let made = 0; made < blocks; made++) {
      this.nowUs += 12_000_000
      const transactions: NodeTransaction[] = []
      const senders = new Set([...this.#pool.values()].map(({ from }) => from))
      for (const from of senders) transactions.push(...this.#takenOf(from))
      this.#append(transactions)
    }
  }

  /** Makes a block of one that was sent, as a maker of blocks does that has not heard of better ones. */
  include(hash: string): void {
    const transaction = this.#sent.get(hash)
    if (!transaction || transaction.nonce !== this.count(transaction.from)) {
      throw new Error(`${hash} cannot be next`)
    }
    this.#pool.delete(placeOf(transaction))
    this.#append([transaction])
  }

  /** What somebody sends from an account by hand, at this price: it takes the place of whatever waits there. */
  sendByHand(from: string, price: number): NodeTransaction {
    const nonce = this.count(from)
    const hash = createHash('sha256')
      .update(`by hand ${++this.#made}`)
      .digest('hex')
    const transaction = { hash, from, nonce, price, intentId: '', blob: '' }
    const answer = this.send(transaction)
    if (answer !== 'taken') throw new Error(answer)
    return transaction
  }

  /** Takes blocks back and makes more in their place, without what was in them: it is in no pool either. */
  reorg(blocks: number): void {
    if (this.height - blocks < this.finalHeight) throw new Error('what is final is not taken back')
    this.#blocks.length -= blocks
    for (let made = 0; made <= blocks; made++) this.#append([])
  }

  /** As a network that has lost what was final: nothing on it is, until more blocks come. */
  loseFinality(): void {
    this.#settled = 0
    this.depth += this.height
  }

  /** Forgets all that is in no block, as a restart does, or a pool that is full. */
  empty(): void {
    this.#pool.clear()
  }

  /** Another node of the same chain, which hears of nothing from now on. */
  replica(): ScriptedNode {
    const copy = new ScriptedNode()
    copy.price = this.price
    copy.depth = this.depth
    copy.#blocks = [...this.#blocks]
    copy.#pool = new Map(this.#pool)
    copy.#settled = this.#settled
    return copy
  }

  #takenOf(from: string): NodeTransaction[] {
    const taken: NodeTransaction[] = []
    for (let nonce = this.count(from); ; nonce++) {
      const next = this.#pool.get(placeOf({ from, nonce }))
      if (!next || next.price < this.price) return taken
      taken.push(next)
      this.#pool.delete(placeOf(next))
    }
  }

  #append(transactions: readonly NodeTransaction[]): void {
    const id = createHash('sha256')
      .update(`block ${++this.#made}`)
      .digest('hex')
    this.#blocks.push({ id, timeUs: this.nowUs, transactions })
  }
}

function placeOf({ from, nonce }: Pick<NodeTransaction, 'from' | 'nonce'>): string {
  return `${from} ${nonce}`
}
