import type { TimeRange } from '../../../charts/field-plot.ts'

const hourMs = 3_600_000

export const presets = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
} as const

export type Preset = keyof typeof presets

const usualPreset: Preset = '24h'

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
  if (fromMs < toMs) return { preset: undefined, fromMs, toMs }
  const preset = isPreset(range) ? range : usualPreset
  return { preset, fromMs: nowMs - presets[preset], toMs: nowMs }
}

function isPreset(name: string): name is Preset {
  return Object.hasOwn(presets, name)
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
