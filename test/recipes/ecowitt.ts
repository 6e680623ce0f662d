import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** A sensor that is out of reach is left out. */
function stateOf(index: number) {
  const hasWind = index % 17 !== 5
  const speed = Math.max(0, wave(index, { mean: 7, swing: 6, period: 40, digits: 2 }))
  return {
    atMs: marchMs + index * 60_000,
    temperature: wave(index, { mean: 48, swing: 14, period: 90, digits: 1 }),
    humidity: 40 + (index % 60),
    temperature_in: wave(index, { mean: 67, swing: 3, period: 120, digits: 1 }),
    humidity_in: 45 + (index % 9),
    pressure: wave(index, { mean: 29.5, swing: 0.4, period: 150, digits: 3 }),
    ...(hasWind && {
      wind_direction: (index * 37) % 360,
      wind_speed: speed,
      wind_gust: Number((speed * 1.5).toFixed(2)),
    }),
    rain_rate: index % 23 === 0 ? 0.012 : 0,
    rain_today: Number((Math.floor(index / 23) * 0.012).toFixed(3)),
    solar_radiation: Math.max(0, wave(index, { mean: 200, swing: 300, period: 100, digits: 2 })),
    uv: index % 5,
  }
}

export const ecowitt: Recipe = {
  name: 'ecowitt',
  front: 'webhook',
  messages: series((index) => {
    const { atMs, wind_direction: direction, ...state } = stateOf(index)
    const day = new Date(atMs).toISOString().slice(0, 19).replace('T', '+')
    const wind =
      direction === undefined
        ? ''
        : `winddir=${direction}&windspeedmph=${state.wind_speed?.toFixed(2)}&windgustmph=${state.wind_gust?.toFixed(2)}&maxdailygust=21.70&`
    return {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      query: '?station=a-long-secret-of-yours',
      payload: [
        `PASSKEY=307826236D0133E06009CE7FAFBBAFC4&stationtype=WH2650A_V1.6.8&dateutc=${day}`,
        `&tempinf=${state.temperature_in.toFixed(1)}&humidityin=${state.humidity_in}`,
        `&baromrelin=29.565&baromabsin=${state.pressure.toFixed(3)}`,
        `&tempf=${state.temperature.toFixed(1)}&humidity=${state.humidity}&${wind}`,
        `solarradiation=${state.solar_radiation.toFixed(2)}&uv=${state.uv}`,
        `&rainratein=${state.rain_rate.toFixed(3)}&eventrainin=0.071&hourlyrainin=0.000`,
        `&dailyrainin=${state.rain_today.toFixed(3)}&weeklyrainin=0.110&monthlyrainin=1.421`,
        '&yearlyrainin=24.256&totalrainin=24.256&wh65batt=0&wh25batt=0&freq=868M&model=WH2650',
      ].join(''),
    }
  }),
  expected: (index) => {
    const { atMs, ...reading } = stateOf(index)
    return [{ timestamp: stored(atMs), ...reading }]
  },
}
