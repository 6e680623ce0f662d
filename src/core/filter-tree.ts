/** One level of the filters that begin alike. */
interface Node<Holder> {
  readonly children: Map<string, Node<Holder>>
  readonly holders: Map<Holder, number>
}

function newNode<Holder>(): Node<Holder> {
  return { children: new Map(), holders: new Map() }
}

/**
 * Topic filters (section 4.7) of many holders, each with a QoS. Finding those that match a topic
 * takes a step for each level of it and each way that its wildcards open, however many there are.
 */
export class FilterTree<Holder> {
  readonly #root = newNode<Holder>()

  set(filter: string, holder: Holder, qos: number): void {
    let node = this.#root
    for (const level of filter.split('/')) {
      let child = node.children.get(level)
      if (!child) {
        child = newNode()
        node.children.set(level, child)
      }
      node = child
    }
    node.holders.set(holder, qos)
  }

  delete(filter: string, holder: Holder): void {
    const levels = filter.split('/')
    const path: Node<Holder>[] = [this.#root]
    for (const level of levels) {
      const child = path.at(-1)?.children.get(level)
      if (!child) return
      path.push(child)
    }
    path.at(-1)?.holders.delete(holder)
    for (let depth = levels.length; depth > 0; depth--) {
      const { children, holders } = path[depth] as Node<Holder>
      if (children.size > 0 || holders.size > 0) return
      path[depth - 1]?.children.delete(levels[depth - 1] as string)
    }
  }

  /** The levels that follow on these, in all filters that begin with them. */
  levelsBelow(...levels: readonly string[]): Iterable<string> {
    let node: Node<Holder> | undefined = this.#root
    for (const level of levels) node = node?.children.get(level)
    return node?.children.keys() ?? []
  }

  get isEmpty(): boolean {
    return this.#root.children.size === 0
  }

  /** Who has a filter that matches the topic, with the highest QoS of those ([MQTT-3.3.5-1]). */
  match(topic: string): Map<Holder, number> {
    const found = new Map<Holder, number>()
    const levels = topic.split('/')
    const visit = (node: Node<Holder>, depth: number): void => {
      // [MQTT-4.7.2-1]: a wildcard in front matches no topic that begins with $.
      const isWildcardFit = depth > 0 || !topic.startsWith('$')
      // "#" stands for the level above it, too (section 4.7.1.2).
      if (isWildcardFit) collect(node.children.get('#'), found)
      if (depth === levels.length) {
        collect(node, found)
        return
      }
      const exact = node.children.get(levels[depth] as string)
      if (exact) visit(exact, depth + 1)
      const one = isWildcardFit ? node.children.get('+') : undefined
      if (one) visit(one, depth + 1)
    }
    visit(this.#root, 0)
    return found
  }
}

function collect<Holder>(node: Node<Holder> | undefined, found: Map<Holder, number>): void {
  if (!node) return
  for (const [holder, qos] of node.holders) {
    if ((found.get(holder) ?? -1) < qos) found.set(holder, qos)
  }
}
