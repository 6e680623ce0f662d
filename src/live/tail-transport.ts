import { endOf, type OpenTail, type TailEnd } from './open-tails.ts'
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

/** Carries a tail over a connection until either side ends it. Asks for no more than is taken. */
export async function carry(
  steps: AsyncGenerator<TailStep, never>,
  tail: OpenTail,
  transport: Transport,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const { signal } = tail
  const aborted = abortOf(signal)
  let saidMs = performance.now()
  try {
    for (;;) {
      const { value } = await Promise.race([steps.next(), aborted])
      const isSilent = value.events.length === 0
      if (isSilent && performance.now() - saidMs < heartbeatMs) continue
      const said = isSilent ? transport.heartbeat(value.position) : transport.events(value.events)
      await Promise.race([said, aborted])
      saidMs = performance.now()
    }
  } catch (error) {
    const end = endOf(signal, error)
    if (end?.code === 'internal_error') onFailure(error)
    if (end !== undefined) await transport.end(end)
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
