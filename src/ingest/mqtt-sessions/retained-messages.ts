import { retainedBytesPerUserMax, retainedPerUserMax } from './limits.ts'
import { TopicTree } from './topic-tree.ts'

export interface Retained {
  readonly topic: string
  readonly payload: Uint8Array
  readonly qos: 0 | 1 | 2
}

interface UserMessages {
  readonly tree: TopicTree<Retained>
  count: number
  bytes: number
}

/** The newest message of each topic that was published with the retain flag, by user. */
export class RetainedMessages {
  readonly #users = new Map<string, UserMessages>()
  count = 0
  bytes = 0

  userIds(): Iterable<string> {
    return this.#users.keys()
  }

  get(userId: string, topic: string): Retained | undefined {
    return this.#users.get(userId)?.tree.get(topic)
  }

  hasRoom(userId: string, retained: Retained): boolean {
    const user = this.#users.get(userId)
    if (!user) return true
    const before = user.tree.get(retained.topic)
    const count = user.count + (before ? 0 : 1)
    const bytes = user.bytes + bytesOf(retained) - (before ? bytesOf(before) : 0)
    return count <= retainedPerUserMax && bytes <= retainedBytesPerUserMax
  }

  put(userId: string, retained: Retained): void {
    let user = this.#users.get(userId)
    if (!user) {
      user = { tree: new TopicTree(), count: 0, bytes: 0 }
      this.#users.set(userId, user)
    }
    this.delete(userId, retained.topic)
    user.tree.set(retained.topic, retained)
    this.#count(user, 1, bytesOf(retained))
    this.#users.set(userId, user)
  }

  delete(userId: string, topic: string): void {
    const user = this.#users.get(userId)
    const before = user?.tree.get(topic)
    if (!user || !before) return
    user.tree.delete(topic)
    this.#count(user, -1, -bytesOf(before))
    if (user.count === 0) this.#users.delete(userId)
  }

  /** Messages that match a filter, one after the other. */
  *matching(userId: string, filter: string): Generator<Retained> {
    const user = this.#users.get(userId)
    if (user) yield* user.tree.matching(filter)
  }

  #count(user: UserMessages, messages: number, bytes: number): void {
    user.count += messages
    user.bytes += bytes
    this.count += messages
    this.bytes += bytes
  }
}

function bytesOf({ topic, payload }: Retained): number {
  return topic.length + payload.byteLength
}
