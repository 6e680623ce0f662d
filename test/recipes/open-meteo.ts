import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** Hours in an answer; the next answer has all of them but the first again. */
const hours = 6

/** The newest models do not have each value for each hour. */
function hourOf(hour: number) {
  return {
    atMs: marchMs + hour * 3_600_000,
    temperature: wave(hour, { mean: 6, swing: 7, period: 24, digits: 1 }),
    precipitation: hour % 7 === 0 ? 0.4 : 0,
    wind: hour % 31 === 9 ? null : wave(hour, { mean: 14, swing: 9, period: 40, digits: 1 }),
  }
}

function hoursOf(index: number) {
  return Array.from({ length: hours }, (_, hour) => hourOf(index + hour))
}

export const openMeteo: Recipe = {
  name: 'open-meteo',
  front: 'api',
  messages: series((index) => {
    const all = hoursOf(index)
    const column = (value: (hour: (typeof all)[number]) => unknown) =>
      JSON.stringify(all.map(value))
    const payload =
      `{"latitude":52.52,"longitude":13.419998,"generationtime_ms":0.0${700 + index},` +
      '"utc_offset_seconds":0,"timezone":"GMT","timezone_abbreviation":"GMT","elevation":38.0,' +
      '"hourly_units":{"time":"iso8601","temperature_2m":"°C","precipitation":"mm","wind_speed_10m":"km/h"},' +
      `"hourly":{"time":${column(({ atMs }) => new Date(atMs).toISOString().slice(0, 16))},` +
      `"temperature_2m":${column(({ temperature }) => temperature)},` +
      `"precipitation":${column(({ precipitation }) => precipitation)},` +
      `"wind_speed_10m":${column(({ wind }) => wind)}}}`
    return { headers: { 'content-type': 'application/json; charset=utf-8' }, payload }
  }),
  expected: (index) =>
    hoursOf(index).map(({ atMs, temperature, precipitation, wind }) => ({
      timestamp: stored(atMs),
      temperature,
      precipitation,
      ...(wind !== null && { wind_speed: wind }),
    })),
}
