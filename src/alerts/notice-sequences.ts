/**
 * Rules of a stream whose sequences are kept, the ones that gave notice last: four times as many as there can be
 * at a time, because rules that are gone may come back under the same id.
 */
const rulesMax = 200

interface Saved {
  readonly floor: number
  /** Each rule with the number of its newest event, the rule that gave notice last at the end. */
  readonly rules: readonly (readonly [string, number])[]
}

/**
 * Numbers the events that each rule of one stream gives notice by: 1, 2, 3 and so on, whatever becomes of the rule's
 * definition. A number is never given twice: a rule whose number was forgotten goes on behind all that were forgotten.
 */
export class NoticeSequences {
  readonly #newest: Map<string, number>
  /** Above all numbers that were forgotten. */
  #floor: number

  /** @param text what `text` was before; undefined of a stream that has given no notice */
  constructor(text?: string) {
    const { floor = 0, rules = [] } = JSON.parse(text ?? '{}') as Partial<Saved>
    this.#floor = floor
    this.#newest = new Map(rules)
  }

  next(ruleId: string): number {
    const sequence = (this.#newest.get(ruleId) ?? this.#floor) + 1
    this.#newest.delete(ruleId)
    this.#newest.set(ruleId, sequence)
    for (const [oldest, last] of this.#newest) {
      if (this.#newest.size <= rulesMax) break
      this.#newest.delete(oldest)
      this.#floor = Math.max(this.#floor, last)
    }
    return sequence
  }

  get text(): string {
    const saved: Saved = { floor: this.#floor, rules: [...this.#newest] }
    return JSON.stringify(saved)
  }
}
