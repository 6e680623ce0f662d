import { keptBytesMax, retainedPayloadBytesMax } from './limits.ts'
import type { NewMessage } from './message-queues.ts'
import type { Retained } from './retained-messages.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionChange } from './sessions-file.ts'

/** A change of what is retained, and how to take it back when it could not be kept. */
export interface RetentionChange {
  readonly changes: readonly SessionChange[]
  readonly undo: () => void
}

/** What is kept of messages with the retain flag (section 3.3.1.3), and what finds no room. */
export class Retention {
  readonly #parts: Pick<SessionParts, 'retained' | 'queues'>
  dropped = 0

  constructor(parts: Pick<SessionParts, 'retained' | 'queues'>) {
    this.#parts = parts
  }

  /** An empty payload takes away what is retained, and so does a message that finds no room. */
  put(userId: string, message: Omit<NewMessage, 'retain'>): RetentionChange {
    const { retained } = this.#parts
    const { topic } = message
    const before = retained.get(userId, topic)
    const undo = () => {
      if (before) retained.put(userId, before)
      else retained.delete(userId, topic)
    }
    const next: Retained = {
      topic,
      payload: Uint8Array.from(message.payload),
      qos: message.qos === 2 ? 2 : message.qos === 1 ? 1 : 0,
    }
    const isEmpty = next.payload.byteLength === 0
    if (!isEmpty && this.#hasRoom(userId, next)) {
      retained.put(userId, next)
      return { changes: [['putRetained', topic, userId, next.payload, next.qos]], undo }
    }
    if (!isEmpty) this.dropped++
    retained.delete(userId, topic)
    return { changes: before ? [['dropRetained', topic]] : [], undo }
  }

  /** Takes away what is retained of a user's topics, or of some of them. */
  drop(userId: string, isOver: (topic: string) => boolean = () => true): readonly SessionChange[] {
    const { retained } = this.#parts
    const over = [...retained.matching(userId, '#')].filter(({ topic }) => isOver(topic))
    return over.map(({ topic }) => {
      retained.delete(userId, topic)
      return ['dropRetained', topic] as const
    })
  }

  #hasRoom(userId: string, next: Retained): boolean {
    const { retained, queues } = this.#parts
    return (
      next.payload.byteLength <= retainedPayloadBytesMax &&
      retained.bytes + queues.bytes + next.payload.byteLength <= keptBytesMax &&
      retained.hasRoom(userId, next)
    )
  }
}
