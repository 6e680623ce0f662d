import type { FetchConnector } from '../../contracts/fetch-connector.ts'
import type { StreamId } from '../../core/ids.ts'
import { OrderedIntake, type OrderedIntakeNeeds } from './ordered-intake.ts'
import type { SourcePositions } from './source-positions.ts'

/** The field for the time, where a definition names none. */
const usualTimestampField = 'timestamp'

export interface LeftMessagesNeeds extends OrderedIntakeNeeds {
  readonly connectors: readonly Pick<FetchConnector, 'waitingIn'>[]
  readonly positions: Pick<SourcePositions, 'leftBehind' | 'textOf' | 'note'>
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
    const { connectors, positions } = this.#needs
    const position = await positions.leftBehind(id, identity, signal)
    if (position === undefined) return
    const { timestampField } = source
    const timeKey = typeof timestampField === 'string' ? timestampField : usualTimestampField
    const messages = connectors.flatMap((one) => one.waitingIn?.(position, timeKey) ?? [])
    if (messages.length === 0) return
    const text = positions.textOf(identity ?? '')
    await new OrderedIntake(this.#needs, id, signal).accept(messages, text)
    positions.note(id, text)
  }
}
