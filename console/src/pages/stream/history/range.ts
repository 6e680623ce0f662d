import type { TimeRange } from '../../../charts/field-plot.ts'
import { instantOf, shownAt } from '../../../charts/zone-clock.ts'

const hourMs = 3_600_000

export const presets = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
} as const

export type Preset = keyof typeof presets

const usualPreset: Preset = '24h'

/** Beyond these years times are written in another way. */
export const leastTime = '1900-01-01T00:00:00'
export const greatestTime = '9999-12-31T23:59:59'
const [leastMs, greatestMs] = [Date.parse(`${leastTime}Z`), Date.parse(`${greatestTime}Z`)]

/** What an address says of the range: a preset, or two instants. */
export interface RangeWords {
  readonly range: string
  readonly start: string
  readonly end: string
}

export interface ChosenRange extends TimeRange {
  /** Undefined where it is one's own. */
  readonly preset: Preset | undefined
}

/** The range that an address names; the usual one where what it says is none. */
export function rangeOf({ range, start, end }: RangeWords, nowMs: number): ChosenRange {
  const [fromMs, toMs] = [Date.parse(start), Date.parse(end)]
  if (fromMs < toMs && leastMs <= fromMs && toMs <= greatestMs)
    return { preset: undefined, fromMs, toMs }
  const preset = isPreset(range) ? range : usualPreset
  return { preset, fromMs: nowMs - presets[preset], toMs: nowMs }
}

function isPreset(name: string): name is Preset {
  return Object.hasOwn(presets, name)
}

/** How much wider the next range is where no preset is. */
const widening = 10

/** A range that holds this one and more: the next preset, as far as it reaches back, or one of its own. */
export function widerRange(
  { fromMs, toMs }: TimeRange,
  nowMs: number,
): { readonly says: string; readonly words: Record<keyof RangeWords, string | undefined> } {
  const preset = Object.keys(presets)
    .filter(isPreset)
    .find((name) => nowMs - presets[name] < fromMs - (toMs - fromMs) / 2)
  if (preset !== undefined && toMs <= nowMs) {
    return {
      says: `the last ${preset}`,
      words: { range: preset, start: undefined, end: undefined },
    }
  }
  const moreMs = ((toMs - fromMs) * (widening - 1)) / 2
  const own = {
    fromMs: Math.max(leastMs, fromMs - moreMs),
    toMs: Math.min(greatestMs, toMs + moreMs),
  }
  return { says: `${widening} times as much`, words: wordsOf(own) }
}

/** What the clocks of a zone show, as a field for times has it. */
export function clockText(atMs: number, zone: string): string {
  return shownAt(atMs, zone).toISOString().slice(0, 19)
}

/** The range whose ends are typed: NaN where one is no time yet. An end that is as it was shown stays what it is. */
export function typedRange(
  { fromMs, toMs }: TimeRange,
  typed: { readonly from: string; readonly to: string },
  zone: string,
): TimeRange {
  const endOf = (text: string, beforeMs: number) => {
    // One hour of a year comes twice, and a text does not say which.
    if (text === clockText(beforeMs, zone)) return beforeMs
    const shownMs = Date.parse(`${text}Z`)
    return Number.isNaN(shownMs) ? shownMs : instantOf(shownMs, zone)
  }
  return { fromMs: endOf(typed.from, fromMs), toMs: endOf(typed.to, toMs) }
}

/** The parameters of an address for a range of one's own. The preset goes with it. */
export function wordsOf({
  fromMs,
  toMs,
}: TimeRange): Record<'range' | 'start' | 'end', string | undefined> {
  const least = Math.max(toMs, fromMs + 1)
  return { range: undefined, start: isoOf(Math.floor(fromMs)), end: isoOf(Math.ceil(least)) }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
