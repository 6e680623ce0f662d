import { effect, signal } from '@preact/signals'
import { serviceNowMs } from '../api/service-clock.ts'
import { ago, dateTime, offsetName } from '../formats/times.ts'

/** The time as pages show it; it moves each second while the page is seen. */
export const nowMs = signal(serviceNowMs())

setInterval(() => {
  if (!document.hidden) nowMs.value = serviceNowMs()
}, 1000)
document.addEventListener('visibilitychange', () => {
  nowMs.value = serviceNowMs()
})
// At once, when it is known that the clock of the browser is wrong.
effect(() => {
  nowMs.value = serviceNowMs()
})

export interface TimeProps {
  readonly at: string | number | Date | null | undefined
  /** `ago`: how long it is since, with the time itself as its title. */
  readonly as?: 'ago' | 'time' | 'ms'
  /** What is shown where there is none. */
  readonly none?: string
}

/** A time in the chosen zone, readable by machines as well. */
export function Time({ at, as = 'time', none = 'never' }: TimeProps) {
  if (at === null || at === undefined) return <span class="soft">{none}</span>
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{String(at)}</span>
  const exact = dateTime(date, as === 'ms' ? 'ms' : 'seconds')
  return (
    <time dateTime={date.toISOString()} title={`${exact} ${offsetName(date)}`}>
      {as === 'ago' ? ago(date, nowMs.value) : exact}
    </time>
  )
}
