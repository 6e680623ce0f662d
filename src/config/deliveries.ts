/** Settings of what is delivered to receivers of events. */
export interface DeliveryConfig {
  /** Between the passes that deliver again what has failed (D39). */
  readonly resendEveryUs: number
  /** How long events, their deliveries and the attempts of these can be looked at (D41). */
  readonly deliveriesKeptUs: number
}

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly problems: string[]
}

export function readDeliveryConfig(reading: Reading): DeliveryConfig {
  return {
    resendEveryUs: durationUs(reading, 'STREAMVAULT_RESEND_EVERY', '5m'),
    deliveriesKeptUs: durationUs(reading, 'STREAMVAULT_DELIVERIES_KEPT', '30d'),
  }
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

function durationUs({ text, problems }: Reading, name: string, fallback: string): number {
  const given = text(name, fallback)
  const [, count, unit = ''] = /^(\d{1,5})([smhd])$/.exec(given) ?? []
  const seconds = Number(count) * (secondsOf[unit] ?? 0)
  if (seconds > 0) return seconds * 1_000_000
  problems.push(`${name} must be a duration such as 30s, 5m, 12h or 30d, not '${given}'`)
  return 1_000_000
}
