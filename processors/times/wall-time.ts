import { LruMap } from '../../src/core/lru-map.ts'
import { NaiveTimes } from '../../src/core/naive-times.ts'
import {
  dayOf,
  type InstantUs,
  instantUsOf,
  isWritableInstant,
  secondOfDay,
  type TimeProblem,
} from '../../src/core/time.ts'

/** What a text says of a time. */
export interface WallTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** Digits of a fraction of a second. */
  readonly fraction: string
  /** Seconds ahead of UTC, where it says them. */
  readonly offset: number | undefined
}

/** A time by its digits: microseconds, and the digits that are finer. */
export interface ExactTime {
  readonly us: InstantUs
  readonly finer: string
}

/** The instant that clocks in a zone have shown a time at; a zone that the text names comes before it. */
export function exactTime(wall: WallTime, zone: string): ExactTime | TimeProblem {
  const day = dayOf(wall.year, wall.month, wall.day)
  if (typeof day !== 'number') return day
  const second = secondOfDay(wall.hour, wall.minute, wall.second)
  if (typeof second !== 'number') return second
  const shown = day * 86_400 + second
  const ahead = wall.offset ?? naiveTimes(zone).offsetMinutes(shown * 1_000) * 60
  const micros = Number(wall.fraction.slice(0, 6).padEnd(6, '0'))
  const us = instantUsOf(shown - ahead, micros)
  if (!isWritableInstant(us)) return { problem: 'must have a year from 0001 to 9999 in UTC' }
  return { us, finer: wall.fraction.slice(6) }
}

/** Zones whose clocks are remembered: each takes some hundred kilobytes at most. */
const zonesMax = 100

const zones = new LruMap<string, NaiveTimes>(zonesMax)

function naiveTimes(zone: string): NaiveTimes {
  const known = zones.get(zone)
  if (known) return known
  const times = new NaiveTimes(zone)
  zones.set(zone, times)
  return times
}

/** Seconds ahead of UTC of `Z`, `+01`, `+0100` or `+01:00`. */
export function offsetOf(text: string): number | TimeProblem {
  if (text === 'Z' || text === 'z') return 0
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(-2).padStart(2, '0')) * (text.length > 3 ? 1 : 0)
  if (hours > 23 || minutes > 59)
    return { problem: `must have a time zone up to ±23:59, not ${text}` }
  return (text.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60
}
