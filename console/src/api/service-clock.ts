import { signal } from '@preact/signals'

/** Answers tell the time in whole seconds, and take a moment to come: what is within this is no difference. */
const toleranceMs = 5_000

/** How far the clock of the service is ahead of that of the browser, where they differ. */
export const serviceAheadMs = signal(0)

/** Takes over what an answer says of the time. Browsers whose clocks are wrong would tell wrong ages else. */
export function noteServiceTime(date: string | null, receivedAtMs: number): void {
  const ahead = aheadOf(date, receivedAtMs)
  if (ahead === undefined || Math.abs(ahead - serviceAheadMs.peek()) <= toleranceMs) return
  serviceAheadMs.value = Math.abs(ahead) <= toleranceMs ? 0 : ahead
}

function aheadOf(date: string | null, receivedAtMs: number): number | undefined {
  const ahead = date === null ? Number.NaN : Date.parse(date) - receivedAtMs
  return Number.isFinite(ahead) ? ahead : undefined
}

/** Asks, and notes what time it is where the answer comes from. */
export async function fetchNotingTime(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init)
  noteServiceTime(response.headers.get('date'), Date.now())
  return response
}
