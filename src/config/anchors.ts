import { durationOf, shortDurationOf } from './duration-setting.ts'

/** Settings of what is put on ledgers. */
export interface AnchorsConfig {
  /**
   * Whether anything is put on a ledger. A copy of a service that is only to be looked at must not do it: what it
   * does not do waits.
   */
  readonly isAnchoring: boolean
  /** How long a ledger is tried before an anchor is an error. */
  readonly anchorPatienceUs: number
  /** How long the sandbox collects leaves for one transaction. */
  readonly anchorBatchWaitUs: number
}

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly oneOf: <Value extends string>(
    name: string,
    fallback: Value,
    values: readonly Value[],
  ) => Value
  readonly problems: string[]
}

export function readAnchorsConfig(reading: Reading): AnchorsConfig {
  return {
    isAnchoring: reading.oneOf('STREAMVAULT_ANCHORING', 'on', ['off', 'on']) === 'on',
    anchorPatienceUs: durationOf(reading, 'STREAMVAULT_ANCHOR_PATIENCE', '24h'),
    anchorBatchWaitUs: shortDurationOf(reading, 'STREAMVAULT_ANCHOR_BATCH_WAIT', '50ms'),
  }
}
