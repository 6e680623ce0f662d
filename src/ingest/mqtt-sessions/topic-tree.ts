/** One level of the topics that begin alike. */
interface Node<Value> {
  readonly children: Map<string, Node<Value>>
  value: Value | undefined
}

function newNode<Value>(): Node<Value> {
  return { children: new Map(), value: undefined }
}

/** Values by topic, found by filter: a step for each level that the filter's topics have. */
export class TopicTree<Value> {
  readonly #root = newNode<Value>()

  get(topic: string): Value | undefined {
    let node: Node<Value> | undefined = this.#root
    for (const level of topic.split('/')) node = node?.children.get(level)
    return node?.value
  }

  set(topic: string, value: Value): void {
    let node = this.#root
    for (const level of topic.split('/')) {
      let child = node.children.get(level)
      if (!child) {
        child = newNode()
        node.children.set(level, child)
      }
      node = child
    }
    node.value = value
  }

  delete(topic: string): void {
    const levels = topic.split('/')
    const path: Node<Value>[] = [this.#root]
    for (const level of levels) {
      const child = path.at(-1)?.children.get(level)
      if (!child) return
      path.push(child)
    }
    const last = path.at(-1)
    if (last) last.value = undefined
    for (let depth = levels.length; depth > 0; depth--) {
      const { children, value } = path[depth] as Node<Value>
      if (children.size > 0 || value !== undefined) return
      path[depth - 1]?.children.delete(levels[depth - 1] as string)
    }
  }

  /** Values of the topics that match a filter, one after the other: a caller may take its time. */
  *matching(filter: string): Generator<Value> {
    yield* below(this.#root, filter.split('/'), 0)
  }
}

function* below<Value>(
  node: Node<Value>,
  levels: readonly string[],
  depth: number,
): Generator<Value> {
  const level = levels[depth]
  if (level === undefined) {
    if (node.value !== undefined) yield node.value
  } else if (level === '#') yield* everythingIn(node, depth)
  else if (level === '+') {
    for (const [name, child] of node.children) {
      if (isWildcardFit(name, depth)) yield* below(child, levels, depth + 1)
    }
  } else {
    const child = node.children.get(level)
    if (child) yield* below(child, levels, depth + 1)
  }
}

function* everythingIn<Value>(node: Node<Value>, depth: number): Generator<Value> {
  if (node.value !== undefined) yield node.value
  for (const [name, child] of node.children) {
    if (isWildcardFit(name, depth)) yield* everythingIn(child, depth + 1)
  }
}

/** [MQTT-4.7.2-1]: a wildcard in front matches no topic that begins with $. */
function isWildcardFit(level: string, depth: number): boolean {
  return depth > 0 || !level.startsWith('$')
}
