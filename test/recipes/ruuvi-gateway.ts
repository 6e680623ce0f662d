import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

const tags = ['C6:A5:B9:E0:AD:06', 'E3:75:CF:37:4E:23'] as const

/** RuuviTags by data format 5; the second one has no humidity sensor, and was switched on later. */
function stateOf(index: number, tag: number) {
  const steps = Math.round(
    wave(index + tag * 9, { mean: 4, swing: 22, period: 70, digits: 3 }) / 0.005,
  )
  return {
    atS: marchMs / 1000 + index * 10 - tag,
    rssi: -60 - ((index * 7 + tag) % 35),
    steps,
    humidity: tag === 1 ? undefined : 16_000 + ((index * 131) % 8_000),
    pressure: 50_000 + ((index * 53) % 2_000),
    millivolts: 2_977 - Math.floor(index / 9),
    sequence: index,
  }
}

type State = ReturnType<typeof stateOf>

function hex(value: number, bytes: number): string {
  return (value & (2 ** (bytes * 8) - 1))
    .toString(16)
    .toUpperCase()
    .padStart(bytes * 2, '0')
}

/** Acceleration of a tag that lies still. */
const motion = '00240008041C'

/** An advertisement: flags, the manufacturer, and 24 bytes of data format 5 (RAWv2). */
function dataOf(state: State, tag: number): string {
  const { steps, humidity = 0xff_ff, pressure, millivolts, sequence } = state
  const power = ((millivolts - 1_600) << 5) | 22
  return (
    `0201061BFF990405${hex(steps, 2)}${hex(humidity, 2)}${hex(pressure, 2)}${motion}` +
    `${hex(power, 2)}F4${hex(sequence, 2)}${tags[tag]?.replaceAll(':', '')}`
  )
}

function tagsOf(index: number): readonly number[] {
  return index < 20 ? [0] : [0, 1]
}

export const ruuviGateway: Recipe = {
  name: 'ruuvi-gateway',
  front: 'http',
  credentials: 'basic',
  messages: series((index) => {
    const heard = tagsOf(index).map((tag) => {
      const state = stateOf(index, tag)
      const { rssi, atS } = state
      return `"${tags[tag]}":{"rssi":${rssi},"timestamp":"${atS}","data":"${dataOf(state, tag)}"}`
    })
    const atS = marchMs / 1000 + index * 10 + 2
    const head =
      `"coordinates":"","timestamp":"${atS}","nonce":"${2_636_366_621 + index}",` +
      '"gw_mac":"C8:25:2D:8E:9C:2C"'
    return {
      headers: { 'content-type': 'application/json' },
      payload: `{"data":{${head},"tags":{${heard.join(',')}}}}`,
    }
  }),
  expected: (index) =>
    tagsOf(index).map((tag) => {
      const { atS, rssi, steps, humidity, pressure, millivolts } = stateOf(index, tag)
      return {
        timestamp: stored(atS * 1000),
        tag: tags[tag],
        rssi,
        temperature: steps * 0.005,
        ...(humidity !== undefined && { humidity: humidity * 0.0025 }),
        pressure: pressure + 50_000,
        voltage: millivolts / 1000,
      }
    }),
}
