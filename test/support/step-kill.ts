/** Ends what is done in steps at one of them, as SIGKILL does: from there on nothing of it has an effect. */
export class StepKill {
  readonly #at: number
  readonly #met = Promise.withResolvers<void>()
  readonly #acting = new Set<Promise<unknown>>()
  #steps = 0
  isMet = false

  /** @param at the number of the step, from 0 on; infinite for none */
  constructor(at = Number.POSITIVE_INFINITY) {
    this.#at = at
  }

  /** Resolves when it is met. */
  get met(): Promise<void> {
    return this.#met.promise
  }

  /** Resolves when whatever others were in the middle of has had its effect. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#acting)
  }

  /** One step before an effect, and one after it. */
  async around<Result>(act: () => Promise<Result>): Promise<Result> {
    await this.#pass()
    const acting = act()
    this.#acting.add(acting)
    try {
      return await acting
    } finally {
      this.#acting.delete(acting)
      await this.#pass()
    }
  }

  /** Something whose named methods are such effects. */
  over<Whole extends object>(whole: Whole, names: readonly (keyof Whole)[]): Whole {
    return new Proxy(whole, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        const call = (...given: unknown[]): unknown => Reflect.apply(value, target, given)
        if (!names.includes(name as keyof Whole)) return call
        return async (...given: unknown[]) => await this.around(async () => await call(...given))
      },
    })
  }

  async #pass(): Promise<void> {
    if (!this.isMet && this.#steps++ !== this.#at) return
    this.isMet = true
    this.#met.resolve()
    await new Promise<never>(() => undefined)
  }
}
