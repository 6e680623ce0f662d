import type { FastifyReply } from 'fastify'
import { monotonicMs } from '../../core/clock.ts'
import { race } from '../../core/race.ts'
import { endOf, type Follower, type OpenTail, type OpenTails, type TailEnd } from './open-tails.ts'
import type { TailEvent, TailStep } from './tail.ts'

/** A connection with nothing to say says so this often: proxies and clients give up silent ones. */
const heartbeatMs = 15_000

/** How a tail is put on a connection. Each call resolves when the other side takes more. */
export interface Transport {
  events(events: readonly TailEvent[]): Promise<void>
  /** Nothing came for a while; one has followed up to this position. */
  heartbeat(position: string): Promise<void>
  end(end: TailEnd): Promise<void>
}

/**
 * Opens a tail whose place is given back when its connection is closed, or its request answered in
 * another way. To be called before anything is waited for: the client may leave at any time.
 *
 * @throws DomainError `rate_limited` or `overloaded` when there are too many
 */
export function openOn({ raw }: FastifyReply, tails: OpenTails, follower: Follower): OpenTail {
  const tail = tails.open(follower)
  raw.once('close', () => tail.release())
  // It left while it was found out who asks: nobody will tell us any more.
  if (raw.destroyed) tail.release()
  return tail
}

/** Carries a tail over a connection until either side ends it. Asks for no more than is taken. Never rejects. */
export async function carry(
  steps: AsyncGenerator<TailStep, never>,
  tail: OpenTail,
  transport: Transport,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const { signal } = tail
  const aborted = abortOf(signal)
  let saidMs = monotonicMs()
  try {
    for (;;) {
      const { value } = await race([steps.next(), aborted])
      const isSilent = value.events.length === 0
      if (isSilent && monotonicMs() - saidMs < heartbeatMs) continue
      const said = isSilent ? transport.heartbeat(value.position) : transport.events(value.events)
      await race([said, aborted])
      saidMs = monotonicMs()
    }
  } catch (error) {
    const end = endOf(signal, error)
    if (end?.code === 'internal_error') onFailure(error)
    // Nobody waits for this: what fails of it as well is told here, or never.
    if (end !== undefined) await transport.end(end).catch(onFailure)
  } finally {
    tail.release()
  }
}

/** Rejects when the signal is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(new Error('the tail is over'))
  if (signal.aborted) abort()
  else signal.addEventListener('abort', abort, { once: true })
  promise.catch(() => undefined)
  return promise
}
