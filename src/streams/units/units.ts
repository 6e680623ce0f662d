import type { Line } from '../../contracts/transform-step.ts'
import { DomainError } from '../../core/errors.ts'
import { LruMap } from '../../core/lru-map.ts'
import { startThread } from '../../core/threads/start-thread.ts'

/** Names of units. */
export interface UnitPair {
  readonly from: string
  readonly to: string
}

/** By the key of each pair: how to convert, or what is wrong with the units. */
export type Lines = ReadonlyMap<string, Line | string>

/** Pairs that are remembered: a definition is often sent again, and a fleet has few. */
const knownMax = 1_000

/** Pairs that wait for one thread, about a second's work. */
const waitingMax = 10_000

/** Pairs that the next thread will be asked about. */
interface Batch {
  readonly pairs: Map<string, UnitPair>
  readonly answer: Promise<Lines>
}

/**
 * Knows what units mean. It asks a thread that lives for one answer; what is asked meanwhile goes
 * together into the next, so there is one at a time.
 */
export class Units {
  readonly #known = new LruMap<string, Line | string>(knownMax)
  #next: Batch | undefined
  #running: Promise<unknown> = Promise.resolve()

  /** @throws DomainError `overloaded` when too many pairs wait */
  async lines(pairs: readonly UnitPair[]): Promise<Lines> {
    const lines = new Map<string, Line | string>()
    const unknown = new Map<string, UnitPair>()
    for (const pair of pairs) {
      const key = pairKey(pair)
      const line = this.#known.get(key)
      if (line === undefined) unknown.set(key, pair)
      else lines.set(key, line)
    }
    if (unknown.size === 0) return lines
    const found = await this.#ask(unknown)
    for (const key of unknown.keys()) lines.set(key, found.get(key) as Line | string)
    return lines
  }

  async #ask(pairs: ReadonlyMap<string, UnitPair>): Promise<Lines> {
    const batch = this.#next ?? this.#newBatch()
    if (batch.pairs.size > 0 && batch.pairs.size + pairs.size > waitingMax) {
      throw new DomainError('overloaded', 'too many units are being looked up', { retryAfter: 1 })
    }
    for (const [key, pair] of pairs) batch.pairs.set(key, pair)
    return await batch.answer
  }

  #newBatch(): Batch {
    const pairs = new Map<string, UnitPair>()
    const answer = this.#running.then(async () => {
      this.#next = undefined
      return await this.#look(pairs)
    })
    this.#running = answer.catch(() => undefined)
    this.#next = { pairs, answer }
    return this.#next
  }

  async #look(pairs: ReadonlyMap<string, UnitPair>): Promise<Lines> {
    const answers = await inThread([...pairs.values()])
    const lines = new Map([...pairs.keys()].map((key, index) => [key, answers[index] ?? '']))
    for (const [key, line] of lines) this.#known.set(key, line)
    return lines
  }
}

export function pairKey({ from, to }: UnitPair): string {
  return `${from} > ${to}`
}

/** @throws Error when the thread ends without an answer */
async function inThread(pairs: readonly UnitPair[]): Promise<readonly (Line | string)[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly (Line | string)[]>()
  const thread = startThread(import.meta.url, './units-thread', { workerData: pairs })
  thread.once('message', resolve)
  thread.once('error', reject)
  thread.once('exit', () => reject(new Error('the thread of the units has ended')))
  return await promise
}
