import { durationUs } from '../core/duration.ts'

/** Settings of what is delivered to receivers of events. */
export interface DeliveryConfig {
  /** Between the passes that deliver again what has failed (decisions.md#attempts-and-passes). */
  readonly resendEveryUs: number
  /**
   * How long events, their deliveries and the attempts of these can be looked at
   * (decisions.md#events-and-their-changes).
   */
  readonly deliveriesKeptUs: number
}

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly problems: string[]
}

export function readDeliveryConfig(reading: Reading): DeliveryConfig {
  return {
    resendEveryUs: durationOf(reading, 'STREAMVAULT_RESEND_EVERY', '5m'),
    deliveriesKeptUs: durationOf(reading, 'STREAMVAULT_DELIVERIES_KEPT', '30d'),
  }
}

function durationOf({ text, problems }: Reading, name: string, fallback: string): number {
  const given = text(name, fallback)
  const us = durationUs(given)
  if (us !== undefined) return us
  problems.push(`${name} must be a duration such as 30s, 5m, 12h or 30d, not '${given}'`)
  return 1_000_000
}
