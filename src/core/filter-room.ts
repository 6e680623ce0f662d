/**
 * Limits of the topic filters of one user: they are in memory, and in the way of each message of the
 * user. Whoever has 10,000 devices has five filters for each of them.
 */
const filtersMax = 50_000
const levelsMax = 400_000

/**
 * Ways in which a user's filters are made of names and wildcards, such as `users/name/+/name`. One
 * topic can match one filter of each of them, and a message takes a step for each level of those.
 */
const patternsMax = 100

/** How much room the filters of one user take, and whether there is some for another. */
export class FilterRoom {
  #filters = 0
  #levels = 0
  readonly #patterns = new Map<string, number>()

  hasRoomFor(filter: string): boolean {
    const names = filter.split('/')
    if (this.#filters >= filtersMax || this.#levels + names.length > levelsMax) return false
    return this.#patterns.size < patternsMax || this.#patterns.has(patternOf(names))
  }

  /** To be called once for each filter of each client, whether there was room for it or not. */
  take(filter: string): void {
    this.#change(filter, 1)
  }

  /** To be called for what was taken, once. */
  release(filter: string): void {
    this.#change(filter, -1)
  }

  #change(filter: string, by: 1 | -1): void {
    const names = filter.split('/')
    const pattern = patternOf(names)
    const count = (this.#patterns.get(pattern) ?? 0) + by
    if (count > 0) this.#patterns.set(pattern, count)
    else this.#patterns.delete(pattern)
    this.#filters += by
    this.#levels += by * names.length
  }
}

function patternOf(names: readonly string[]): string {
  return names.map((name) => (name === '+' || name === '#' ? name : '/')).join('')
}
