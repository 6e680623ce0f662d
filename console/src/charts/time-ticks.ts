import { instantOf, offsetMs, shownAt } from './zone-clock.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const stepsMs = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14].map((count) => count * day),
] as const

const monthsOfSteps = [1, 3, 6, 12, 60, 120] as const

export interface TickRange {
  readonly fromMs: number
  readonly toMs: number
  readonly zone: string
}

/**
 * Times at which the clocks of a zone show something round, in ascending order: also across days of 23
 * and 25 hours.
 */
export function timeTicks({ fromMs, toMs, zone }: TickRange, ticksMax: number): number[] {
  const leastMs = (toMs - fromMs) / Math.max(1, ticksMax)
  if (!(leastMs > 0)) return []
  const stepMs = stepsMs.find((ms) => ms >= leastMs)
  if (stepMs === undefined) return monthTicks({ fromMs, toMs, zone }, leastMs)
  return stepMs <= hour
    ? shortTicks({ fromMs, toMs, zone }, stepMs)
    : clockTicks({ fromMs, toMs, zone }, stepMs)
}

/** Within hours each instant counts: of an hour that clocks show twice, both. */
function shortTicks({ fromMs, toMs, zone }: TickRange, stepMs: number): number[] {
  const ticks: number[] = []
  const roundFrom = (ms: number) => {
    const offset = offsetMs(ms, zone)
    return Math.ceil((ms + offset) / stepMs) * stepMs - offset
  }
  for (let at = roundFrom(fromMs); at <= toMs; at = roundFrom(at + 1)) ticks.push(at)
  return ticks
}

/** Longer steps go by the clocks. Weeks begin on Mondays: the first of January 1970 was a Thursday. */
function clockTicks({ fromMs, toMs, zone }: TickRange, stepMs: number): number[] {
  const anchor = stepMs % (7 * day) === 0 ? 4 * day : 0
  const firstShown =
    Math.floor((shownAt(fromMs, zone).getTime() - anchor) / stepMs) * stepMs + anchor
  const ticks: number[] = []
  for (let shown = firstShown; ; shown += stepMs) {
    const at = instantOf(shown, zone)
    if (at > toMs) return ticks
    if (at >= fromMs && at > (ticks.at(-1) ?? Number.NEGATIVE_INFINITY)) ticks.push(at)
  }
}

function monthTicks({ fromMs, toMs, zone }: TickRange, leastMs: number): number[] {
  const [longest = 12] = monthsOfSteps.slice(-1)
  const step = monthsOfSteps.find((months) => months * 28 * day >= leastMs) ?? longest
  const first = shownAt(fromMs, zone)
  const firstMonth = Math.floor((first.getUTCFullYear() * 12 + first.getUTCMonth()) / step) * step
  const ticks: number[] = []
  for (let month = firstMonth; ; month += step) {
    const at = instantOf(Date.UTC(Math.floor(month / 12), month % 12, 1), zone)
    if (at > toMs) return ticks
    if (at >= fromMs) ticks.push(at)
  }
}

const monthNames = [
  'Jan',
  'Feb',
  'Mar',
  'Apr',
  'May',
  'Jun',
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
] as const

/** What stands below a tick: no more than tells it from its neighbours, and the day where one begins. */
export function tickLabels(ticks: readonly number[], zone: string): string[] {
  const distance = Math.min(...ticks.slice(1).map((at, before) => at - (ticks[before] ?? at)))
  return ticks.map((at) => labelOf(shownAt(at, zone), distance))
}

function labelOf(shown: Date, distanceMs: number): string {
  const month = monthNames[shown.getUTCMonth()] ?? ''
  if (distanceMs >= 27 * day && Number.isFinite(distanceMs))
    return `${month} ${shown.getUTCFullYear()}`
  const isMidnight =
    shown.getUTCHours() === 0 && shown.getUTCMinutes() === 0 && shown.getUTCSeconds() === 0
  if (isMidnight || (distanceMs >= 20 * hour && Number.isFinite(distanceMs))) {
    return `${shown.getUTCDate()} ${month}`
  }
  const clock = shown.toISOString().slice(11, 16)
  return distanceMs < minute ? shown.toISOString().slice(11, 19) : clock
}
