/** One level of the filters that begin alike. A tree has many: what a level lacks takes no room. */
class Level<Holder> {
  children: Map<string, Level<Holder>> | undefined
  /** The child that is "+", and that which is "#". */
  one: Level<Holder> | undefined
  rest: Level<Holder> | undefined
  holders: Map<Holder, number> | undefined

  get(name: string): Level<Holder> | undefined {
    if (name === '+') return this.one
    return name === '#' ? this.rest : this.children?.get(name)
  }

  getOrAdd(name: string): Level<Holder> {
    const known = this.get(name)
    if (known) return known
    const added = new Level<Holder>()
    if (name === '+') this.one = added
    else if (name === '#') this.rest = added
    else {
      this.children ??= new Map()
      this.children.set(name, added)
    }
    return added
  }

  delete(name: string): void {
    if (name === '+') this.one = undefined
    else if (name === '#') this.rest = undefined
    else if (this.children?.delete(name) && this.children.size === 0) this.children = undefined
  }

  *names(): Generator<string> {
    if (this.one) yield '+'
    if (this.rest) yield '#'
    yield* this.children?.keys() ?? []
  }

  get isEmpty(): boolean {
    return !(this.children || this.one || this.rest || this.holders)
  }
}

/**
 * Topic filters (section 4.7) of many holders, each with a QoS. Finding those that match a topic
 * takes a step for each level of it and each way that its wildcards open, however many there are:
 * `FilterRoom` limits these ways.
 */
export class FilterTree<Holder> {
  readonly #root = new Level<Holder>()

  set(filter: string, holder: Holder, qos: number): void {
    let level = this.#root
    for (const name of filter.split('/')) level = level.getOrAdd(name)
    level.holders ??= new Map()
    level.holders.set(holder, qos)
  }

  delete(filter: string, holder: Holder): void {
    const names = filter.split('/')
    const path: Level<Holder>[] = [this.#root]
    for (const name of names) {
      const child = path.at(-1)?.get(name)
      if (!child) return
      path.push(child)
    }
    const last = path.at(-1) as Level<Holder>
    if (last.holders?.delete(holder) && last.holders.size === 0) last.holders = undefined
    for (let depth = names.length; depth > 0; depth--) {
      if (!(path[depth] as Level<Holder>).isEmpty) return
      path[depth - 1]?.delete(names[depth - 1] as string)
    }
  }

  /** The levels that follow on these, in all filters that begin with them. */
  levelsBelow(...names: readonly string[]): Iterable<string> {
    let level: Level<Holder> | undefined = this.#root
    for (const name of names) level = level?.get(name)
    return level?.names() ?? []
  }

  get isEmpty(): boolean {
    return this.#root.isEmpty
  }

  /** Who has a filter that matches the topic, with the highest QoS of those ([MQTT-3.3.5-1]). */
  match(topic: string): Map<Holder, number> {
    const found = new Map<Holder, number>()
    visit(this.#root, topic.split('/'), 0, (holders) => {
      for (const [holder, qos] of holders) {
        if ((found.get(holder) ?? -1) < qos) found.set(holder, qos)
      }
      return true
    })
    return found
  }

  /** Whether anybody has a filter that matches the topic. */
  matchesAny(topic: string): boolean {
    return !visit(this.#root, topic.split('/'), 0, () => false)
  }

  /** The highest QoS of one holder's filters that match the topic; undefined when none does. */
  qosOf(holder: Holder, topic: string): number | undefined {
    let highest: number | undefined
    visit(this.#root, topic.split('/'), 0, (holders) => {
      const qos = holders.get(holder)
      if (qos !== undefined && qos > (highest ?? -1)) highest = qos
      return true
    })
    return highest
  }
}

/** Shows whoever has a filter that matches, until `take` wants no more. False: it has said so. */
function visit<Holder>(
  level: Level<Holder>,
  names: readonly string[],
  depth: number,
  take: (holders: ReadonlyMap<Holder, number>) => boolean,
): boolean {
  // [MQTT-4.7.2-1]: a wildcard in front matches no topic that begins with $.
  const isWildcardFit = depth > 0 || !names[0]?.startsWith('$')
  // "#" stands for the level above it, too (section 4.7.1.2).
  if (isWildcardFit && level.rest?.holders && !take(level.rest.holders)) return false
  if (depth === names.length) return level.holders ? take(level.holders) : true
  const exact = level.children?.get(names[depth] as string)
  if (exact && !visit(exact, names, depth + 1, take)) return false
  return isWildcardFit && level.one ? visit(level.one, names, depth + 1, take) : true
}
