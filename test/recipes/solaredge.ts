import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wallTime, wave } from './signals.ts'

/** Quarters of an hour in an answer; the newest one has no value yet. */
const quarters = 4

/** Around the night in which clocks are put forward. */
const startMs = marchMs + 27 * 86_400_000

function quarterOf(quarter: number) {
  const value = wave(quarter, { mean: 3_900, swing: 3_700, period: 96, digits: 4 })
  return { atMs: startMs + quarter * 900_000, power: quarter % 96 < 20 ? 0 : value }
}

function quartersOf(index: number) {
  return Array.from({ length: quarters }, (_, quarter) => quarterOf(index + quarter))
}

export const solaredge: Recipe = {
  name: 'solaredge',
  front: 'api',
  messages: series((index) => {
    const values = quartersOf(index).map(({ atMs, power }, place) => {
      const date = wallTime(atMs, 'Europe/Berlin').replace('T', ' ')
      const value =
        place === quarters - 1 ? 'null' : Number.isInteger(power) ? power.toFixed(1) : power
      return `{"date":"${date}","value":${value}}`
    })
    const head = '"timeUnit":"QUARTER_OF_AN_HOUR","unit":"W","measuredBy":"METER"'
    return {
      headers: { 'content-type': 'application/json;charset=UTF-8' },
      payload: `{"power":{${head},"values":[${values.join(',')}]}}`,
    }
  }),
  expected: (index) =>
    quartersOf(index)
      .slice(0, -1)
      .map(({ atMs, power }) => ({ timestamp: stored(atMs), power })),
}
