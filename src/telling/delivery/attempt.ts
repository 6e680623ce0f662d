import type { AttemptResult, DueDelivery, RetryRules } from './delivery.ts'

/** An attempt that has ended, and by which rules it is followed. */
export interface MadeAttempt extends Pick<RetryRules, 'retryCount' | 'retryDelayUs'> {
  readonly result: AttemptResult
}

/**
 * Makes one attempt of a delivery; never takes longer than `attemptMsMax`. Resolves with nothing when there is
 * nobody left to deliver to, or nothing to deliver.
 *
 * @param ending is aborted by the attempt itself when its time is over, and by the engine when it stops
 */
export type MakeAttempt = (
  delivery: DueDelivery,
  ending: AbortController,
) => Promise<MadeAttempt | undefined>

/** The longest time that an attempt can be given (decisions.md#attempts-and-passes). */
export const attemptMsMax = 30_000
