import type { Acceptor } from '../../contracts/connector.ts'
import type { CompiledStream } from '../../contracts/reading.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { Relay } from '../relay/relay.ts'
import type { LifecycleEvents, PendingEvent } from './lifecycle-events.ts'

/** Nobody wakes it; nearly always the outbox is empty, and then a look costs next to nothing. */
const lookMs = 100

export interface LifecycleRelayNeeds {
  readonly events: LifecycleEvents
  readonly intake: Pick<Acceptor, 'accept'>
  readonly findStream: (id: StreamId) => Promise<CompiledStream | undefined>
  /** @throws DomainError when nothing can be accepted now */
  readonly assertReady: () => void
  /** Called with a failure that nobody waits for. */
  readonly onFailure: (error: unknown) => void
}

/**
 * Begins to bring lifecycle events from the outbox into the journal. One that is handed in again after a
 * crash has the same time and content: a duplicate, which is not stored again.
 */
export function startLifecycleRelay(needs: LifecycleRelayNeeds): Relay<PendingEvent> {
  return new Relay({
    outbox: needs.events,
    handOver: (events) => handIn(events, needs),
    lookMs,
    onFailure(error) {
      // A journal that takes nothing at the moment says so in readiness.
      if (!(error instanceof DomainError)) needs.onFailure(error)
    },
  })
}

/** Resolves when all of them are durable. @throws the first failure, once all are settled */
async function handIn(
  events: readonly PendingEvent[],
  { intake, findStream, assertReady }: LifecycleRelayNeeds,
): Promise<void> {
  assertReady()
  const outcomes: Promise<DomainError | undefined>[] = []
  for (const { streamId, atUs, reading } of events) {
    // Looked up for each: nothing may come into a stream that was deleted meanwhile.
    const stream = await findStream(streamId)
    if (stream === undefined) continue
    const message = { stream, payload: Buffer.from(reading), source: 'service' }
    const { promise, resolve } = Promise.withResolvers<DomainError | undefined>()
    intake.accept({ ...message, receivedAtUs: atUs }, resolve)
    outcomes.push(promise)
  }
  const failure = (await Promise.all(outcomes)).find((outcome) => outcome !== undefined)
  if (failure) throw failure
}
