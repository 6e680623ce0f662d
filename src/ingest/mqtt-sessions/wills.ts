import type { LeftWill } from './mqtt-sessions.ts'
import type { SessionChange } from './sessions-file.ts'

/** Wills of the clients that are connected, and of those that were when the service was killed. */
export class Wills {
  readonly #wills = new Map<string, LeftWill>()
  readonly #left = new Set<string>()

  /** Puts back a will from the disk: its client did not say goodbye. */
  restore(will: LeftWill): void {
    this.#wills.set(will.brokerClientId, will)
    this.#left.add(will.brokerClientId)
  }

  put(will: LeftWill): SessionChange {
    const { brokerClientId, userId, clientId, apiKeyId, topic, payload, qos, retain } = will
    this.#wills.set(brokerClientId, will)
    const flag = retain ? 1 : 0
    return ['putWill', brokerClientId, userId, clientId, apiKeyId, topic, payload, qos, flag]
  }

  get(brokerClientId: string): LeftWill | undefined {
    return this.#wills.get(brokerClientId)
  }

  delete(brokerClientId: string): readonly SessionChange[] {
    this.#left.delete(brokerClientId)
    return this.#wills.delete(brokerClientId) ? [['dropWill', brokerClientId]] : []
  }

  deleteOf(userId: string): readonly SessionChange[] {
    const own = [...this.#wills.values()].filter((will) => will.userId === userId)
    return own.flatMap(({ brokerClientId }) => this.delete(brokerClientId))
  }

  userIds(): readonly string[] {
    return [...this.#wills.values()].map(({ userId }) => userId)
  }

  left(): readonly LeftWill[] {
    return [...this.#left].flatMap((id) => this.#wills.get(id) ?? [])
  }
}
