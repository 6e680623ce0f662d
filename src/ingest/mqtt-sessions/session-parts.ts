import type { Clocks } from '../../core/clock.ts'
import type { MessageQueues } from './message-queues.ts'
import type { SessionRules } from './mqtt-sessions.ts'
import type { RetainedMessages } from './retained-messages.ts'
import type { Session } from './session.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SessionsLog } from './sessions-log.ts'
import type { Wills } from './wills.ts'

/** What the broker's questions and its persistence have in common. */
export interface SessionParts {
  readonly log: SessionsLog
  readonly clock: Clocks
  readonly rules: SessionRules
  readonly registry: SessionRegistry
  readonly queues: MessageQueues
  readonly retained: RetainedMessages
  readonly wills: Wills
  /**
   * Sessions whose queues a message is in, by the object of its payload: the broker copies a packet
   * on its way, and the payload is the only object that stays the same.
   */
  readonly recipients: WeakMap<object, ReadonlyMap<Session, number>>
}
