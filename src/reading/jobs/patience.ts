import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../../core/errors.ts'

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
  for (let retryMs = retryMsFirst; ; retryMs = longer(retryMs)) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DomainError) || !error.retryable || signal.aborted) throw error
    }
    await pause(retryMs, signal)
  }
}

/**
 * Asks for something again whatever it fails with, and tells of it each time. Undefined once the job is told to
 * end, but it asks at least once.
 */
export async function stubbornly<Value>(
  ask: () => Promise<Value>,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<Value | undefined> {
  for (let retryMs = retryMsFirst; ; retryMs = longer(retryMs)) {
    try {
      return await ask()
    } catch (error) {
      onFailure(error)
    }
    await pause(retryMs, signal)
    if (signal.aborted) return undefined
  }
}

function longer(retryMs: number): number {
  return Math.min(retryMs * 2, retryMsMax)
}

/** A pause that ends early, and without an error, when the job is told to end. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
