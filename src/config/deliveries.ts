import { durationOf } from './duration-setting.ts'

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
