import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** Observations in an answer, of one minute each. */
const minutes = 3

/** What the station could not measure is null: all of the wind while it is iced up, say. */
function minuteOf(minute: number) {
  const isIced = minute % 29 > 26
  return {
    atS: marchMs / 1000 + minute * 60,
    wind: isIced ? null : wave(minute, { mean: 3, swing: 2.9, period: 50, digits: 2 }),
    gust: isIced ? null : wave(minute, { mean: 6, swing: 3, period: 50, digits: 2 }),
    direction: isIced ? null : (minute * 13) % 360,
    pressure: wave(minute, { mean: 992, swing: 8, period: 200, digits: 1 }),
    temperature: wave(minute, { mean: -1, swing: 9, period: 150, digits: 1 }),
    humidity: 60 + (minute % 40),
    rain: minute % 11 === 0 ? 0.012 : 0,
    battery: wave(minute, { mean: 2.7, swing: 0.1, period: 180, digits: 2 }),
  }
}

function minutesOf(index: number) {
  return Array.from({ length: minutes }, (_, minute) => minuteOf(index + minute))
}

export const tempest: Recipe = {
  name: 'tempest',
  front: 'api',
  messages: series((index) => {
    const rows = minutesOf(index).map((one) => [
      one.atS,
      one.wind === null ? null : 0.4,
      one.wind,
      one.gust,
      one.direction,
      3,
      one.pressure,
      one.temperature,
      one.humidity,
      24_594,
      0.44,
      205,
      one.rain,
      0,
      0,
      0,
      one.battery,
      1,
      0,
      null,
      null,
      0,
    ])
    const status = '"status":{"status_code":0,"status_message":"SUCCESS"}'
    return {
      headers: { 'content-type': 'application/json' },
      payload: `{${status},"device_id":280616,"type":"obs_st","source":"db","obs":${JSON.stringify(rows)}}`,
    }
  }),
  expected: (index) =>
    minutesOf(index).map(({ atS, wind, gust, direction, ...fields }) => ({
      timestamp: stored(atS * 1000),
      ...(wind !== null && { wind, gust, direction }),
      ...fields,
    })),
}
