import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../core/errors.ts'

/** Waits before something is asked again: doubled each time, up to the longest. */
const retryMsFirst = 250
const retryMsMax = 30_000

/**
 * Asks for something again as long as it fails with what may pass: nobody waits for a job.
 *
 * @throws whatever else it fails with; once the job is told to end, also what may pass
 */
export async function patiently<Value>(
  ask: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  for (let retryMs = retryMsFirst; ; retryMs = Math.min(retryMs * 2, retryMsMax)) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DomainError) || !error.retryable || signal.aborted) throw error
    }
    await pause(retryMs, signal)
  }
}

/** A pause that ends early, and without an error, when the job is told to end. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
