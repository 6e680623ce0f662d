import type { FetchConnector } from '../../contracts/fetch-connector.ts'
import { timeNameOf } from '../../contracts/time-member.ts'
import type { StreamId } from '../../core/ids.ts'
import { OrderedIntake, type OrderedIntakeNeeds } from './ordered-intake.ts'
import type { SourcePositions } from './source-positions.ts'

export interface LeftMessagesNeeds extends OrderedIntakeNeeds {
  readonly connectors: readonly Pick<FetchConnector, 'waitingIn'>[]
  readonly positions: Pick<SourcePositions, 'leftBehind' | 'note' | 'textOf'>
}

/** What comes after a source. */
export interface Successor {
  /** Undefined where the stream fetches nothing any more. */
  readonly identity: string | undefined
  readonly source: Readonly<Record<string, unknown>>
}

/**
 * Hands over what a source was holding back when another one has replaced it. It is durable with the position of that
 * source: so it is found after a kill, too, and goes in one batch with a position that has it no more.
 */
export class LeftMessages {
  readonly #needs: LeftMessagesNeeds

  constructor(needs: LeftMessagesNeeds) {
    this.#needs = needs
  }

  /** @throws DomainError when it could not be kept: it is still with the position then */
  async handOver(
    id: StreamId,
    { identity, source }: Successor,
    signal: AbortSignal,
  ): Promise<void> {
    const { connectors, positions, handedIn } = this.#needs
    await handedIn.over(id, signal)
    const position = await positions.leftBehind(id, identity, signal)
    if (position === undefined) return
    const { timestampField } = source
    const timeKey = timeNameOf(typeof timestampField === 'string' ? { timestampField } : {})
    const messages = connectors.flatMap((one) => one.waitingIn?.(position, timeKey) ?? [])
    if (messages.length === 0) return
    const text = positions.textOf(identity ?? '')
    const intake = new OrderedIntake(this.#needs, id, signal)
    const giveUp = () => void intake.finish()
    signal.addEventListener('abort', giveUp, { once: true })
    if (signal.aborted) giveUp()
    try {
      await intake.accept(messages, text)
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }
}
