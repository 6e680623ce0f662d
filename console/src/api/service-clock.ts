import { signal } from '@preact/signals'

/** How far the clock of the service is ahead of that of the browser, in milliseconds. */
const aheadMs = signal(0)

/** Clocks that differ by less count as one: the service tells whole seconds, and not always at once. */
const toleranceMs = 2000

export interface ToldTime {
  /** What the service says, in whole seconds. */
  readonly serviceMs: number
  /** By the clock of the browser. */
  readonly sentMs: number
  readonly answeredMs: number
}

/** How far the service is ahead, after an answer: as before, or not at all, as long as that can be so. */
export function aheadAfter(beforeMs: number, { serviceMs, sentMs, answeredMs }: ToldTime): number {
  const [least, greatest] = [serviceMs - answeredMs, serviceMs + 1000 - sentMs]
  const known = [beforeMs, 0].find(
    (one) => least - toleranceMs <= one && one <= greatest + toleranceMs,
  )
  return known ?? Math.round((least + greatest) / 2)
}

/**
 * The time, by the clock of the service: readings have their times from there. A browser whose clock is wrong would
 * show the last hour as another one, and all of it as long ago.
 */
export function serviceNowMs(): number {
  return Date.now() + aheadMs.value
}

/** `fetch`, which learns from each answer what time it is. */
export async function timedFetch(url: string, init: RequestInit): Promise<Response> {
  const sentMs = Date.now()
  const response = await fetch(url, init)
  const serviceMs = Date.parse(response.headers.get('date') ?? '')
  if (!Number.isNaN(serviceMs)) {
    aheadMs.value = aheadAfter(aheadMs.peek(), { serviceMs, sentMs, answeredMs: Date.now() })
  }
  return response
}
