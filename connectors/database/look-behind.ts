import { hash } from 'node:crypto'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import type { Place } from './statements.ts'

/**
 * Rows that one source remembers at most to have handed over: 8 bytes each, which are in the journal with every
 * page.
 */
export const rememberedMax = 50_000

/** Enough that among all rows of years none is taken for another one. */
const digestBytes = 8

/** Passed rows that are kept for a while, as taking them away one by one would cost more. */
const passedMax = 10_000

/** When a row needs not be remembered any more: none comes before it any more then. */
export interface Passing {
  /** Whether rows with the same first value are told apart by a second one. */
  readonly hasKey: boolean
  /** Rows with greater values that may come before it; undefined: their time decides. */
  readonly rows: number | undefined
  /** All transactions are over whose rows have a time of at most this. */
  readonly passedUs: number
}

export interface MetRow {
  readonly place: Place
  /** The latest that its time can mean; of no concern where rows do not pass by time. */
  readonly timeUs: number
  /** All of it, where it has no key. */
  readonly content: string
}

interface Remembered {
  readonly place: Place
  readonly timeUs: number
  digest: string | undefined
}

/** What is known of rows that were handed over, while the query is gone through once, in its order. */
export class LookBehind {
  readonly #passing: Passing
  /** All rows up to here have been handed over, and no other one will come. */
  #from: Place | undefined
  /** Rows that were handed over earlier, and not met again yet. */
  readonly #earlier: Set<string>
  /** Rows met this time, with the passed ones at the beginning. */
  #met: Remembered[] = []
  #passed = 0
  /** Rows with the newest value, where there is no key: they come again with the next page. */
  readonly #tied = new Set<string>()

  constructor(position: SourcePosition | undefined, passing: Passing) {
    const { from, seen = '' } = (position ?? {}) as { from?: Place; seen?: string }
    this.#from = from
    this.#earlier = new Set(digestsIn(seen))
    this.#passing = passing
  }

  get from(): Place | undefined {
    return this.#from
  }

  /** Takes the next row, and tells whether it is new; `full`: it is, and could not be remembered. */
  meet({ place, timeUs, content }: MetRow): 'new' | 'known' | 'full' {
    const { hasKey } = this.#passing
    if (!hasKey && place[0] !== this.#met.at(-1)?.place[0]) this.#tied.clear()
    const digest = !hasKey || this.#earlier.size > 0 ? digestOf(place, content) : undefined
    if (digest !== undefined && this.#tied.has(digest)) return 'known'
    const isKnown = digest !== undefined && this.#earlier.delete(digest)
    if (!isKnown && this.#isFull(timeUs)) return 'full'
    this.#met.push({ place, timeUs, digest })
    if (!hasKey && digest !== undefined) this.#tied.add(digest)
    this.#pass(place)
    return isKnown ? 'known' : 'new'
  }

  /** Rows with the newest value, where there is no key. */
  get ties(): number {
    return this.#tied.size
  }

  /** The query has been gone through: what was not met again is not there any more. */
  end(): void {
    this.#earlier.clear()
  }

  position(): SourcePosition {
    const digests = [...this.#earlier]
    for (let index = this.#passed; index < this.#met.length; index++) {
      const met = this.#met[index]
      if (met) digests.push((met.digest ??= digestOf(met.place, '')))
    }
    const seen = Buffer.from(digests.join(''), 'latin1').toString('base64')
    return { ...(this.#from && { from: this.#from }), ...(seen !== '' && { seen }) }
  }

  #isFull(timeUs: number): boolean {
    const open = this.#met.length - this.#passed
    if (open === 0 && timeUs <= this.#passing.passedUs) return false
    return open + this.#earlier.size >= rememberedMax
  }

  #pass(newest: Place): void {
    for (let met = this.#met[this.#passed]; met; met = this.#met[this.#passed]) {
      if (!this.#isPassed(met)) break
      if (!this.#passing.hasKey && met.place[0] === newest[0]) break
      this.#from = met.place
      this.#passed++
    }
    if (this.#passed < passedMax) return
    this.#met = this.#met.slice(this.#passed)
    this.#passed = 0
  }

  #isPassed({ timeUs }: Remembered): boolean {
    const { rows, passedUs } = this.#passing
    return rows === undefined ? timeUs <= passedUs : this.#met.length - this.#passed > rows
  }
}

function digestOf(place: Place, content: string): string {
  const text = JSON.stringify(place) + content
  return hash('sha256', text, 'buffer').toString('latin1', 0, digestBytes)
}

function* digestsIn(seen: string): Generator<string> {
  const bytes = Buffer.from(seen, 'base64')
  for (let at = 0; at < bytes.length; at += digestBytes) {
    yield bytes.toString('latin1', at, at + digestBytes)
  }
}
