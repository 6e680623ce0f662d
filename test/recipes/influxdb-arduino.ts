import { type FleetRecipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const devices = ['esp32-24a160e5a1b8', 'esp32-24a160e5b040', 'esp8266-5ccf7f0b91aa']

/** Points of one request, as `batchSize` says; what waits after a lost connection comes in requests of this size, too. */
const batchSize = 10

/** The device of a request: each has a buffer of its own. */
function deviceOf(index: number): string {
  return devices[index % devices.length] ?? ''
}

/** A sensor that does not answer is NaN, which the library leaves out. */
function stateOf(index: number, place: number) {
  const at = Math.floor(index / devices.length) * batchSize + place
  const answers = (index * 7 + place) % 19 !== 3
  return {
    seconds: marchMs / 1000 + at * 30 + (index % devices.length),
    ...(answers && {
      temperature: wave(at, { mean: 21, swing: 4, period: 160, digits: 2 }),
      humidity: wave(at, { mean: 48, swing: 9, period: 130, digits: 2 }),
    }),
    rssi: -60 - ((index * 7 + place) % 17),
  }
}

function lineOf(index: number, place: number): string {
  const { seconds, temperature, humidity, rssi } = stateOf(index, place)
  const measured =
    temperature === undefined
      ? ''
      : `temperature=${temperature.toFixed(2)},humidity=${humidity?.toFixed(2)},`
  const tags = `device=${deviceOf(index)},SSID=Shop\\ Floor\\ 2`
  return `environment,${tags} ${measured}rssi=${rssi}i ${seconds}\n`
}

const places = Array.from({ length: batchSize }, (_, place) => place)

export const influxdbArduino: FleetRecipe = {
  name: 'influxdb-arduino',
  front: 'influx',
  messages: series((index) => ({
    headers: { 'content-type': 'text/plain' },
    payload: places.map((place) => lineOf(index, place)).join(''),
  })),
  expected: (index) =>
    places.map((place) => {
      const { seconds, ...reading } = stateOf(index, place)
      return { timestamp: stored(seconds * 1000), ...reading }
    }),
  device: deviceOf,
}
