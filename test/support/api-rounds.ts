import { apiPull } from '../../connectors/api-pull/api-pull.ts'
import type { Dial, FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import type { PolledSource } from '../../src/contracts/poll-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

/** A source of the API connector that is asked by a test, through the real guard. */
export class ApiRounds {
  readonly #source: PolledSource
  readonly #dial: Dial
  position: SourcePosition | undefined
  nowUs = systemClock.nowUs()

  constructor(
    source: object,
    ports: readonly number[],
    {
      dial,
      position,
    }: { readonly dial?: Dial; readonly position?: SourcePosition | undefined } = {},
  ) {
    const allowed = new AllowedDestinations(ports.map((port) => ({ host: '127.0.0.1', port })))
    this.#dial = dial ?? guardedDial(new EgressGuard({ allowed }))
    this.#source = apiPull.open({
      streamId: newId<StreamId>(),
      source: { schedule: '* * * * *', ...source },
    })
    this.position = position
  }

  get identity(): string {
    return this.#source.identity
  }

  /**
   * One round, in which so many pages at most become durable.
   *
   * @returns the messages of these pages
   */
  async round(pagesMax = Number.POSITIVE_INFINITY, signal = new AbortController().signal) {
    const messages: FetchedMessage[] = []
    let pages = 0
    const round = this.#source.poll({
      position: this.position,
      dial: this.#dial,
      signal,
      nowUs: () => this.nowUs,
    })
    if (pagesMax === 0) return messages
    for await (const page of round) {
      // As the journal keeps it: as text.
      const { position } = page
      messages.push(...page.messages)
      if (position !== undefined)
        this.position = JSON.parse(JSON.stringify(position)) as object as SourcePosition
      if (++pages === pagesMax) break
    }
    return messages
  }

  /** The payloads of a round, as texts. */
  async texts(): Promise<readonly string[]> {
    return (await this.round()).map(({ payload }) => Buffer.from(payload).toString())
  }

  /** Why a round fails. */
  async failure(): Promise<Error> {
    try {
      await this.round()
    } catch (error) {
      return error as Error
    }
    throw new Error('the round did not fail')
  }
}
