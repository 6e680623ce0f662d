import { type Recipe, series } from './recipe.ts'
import { marchMs, stored, wave } from './signals.ts'

/** A chip that cannot be read has no temperature: ArduinoJson writes null for what is no number. */
function valuesOf(index: number) {
  const atMs = marchMs + index * 60_000
  const isUnread = index % 37 === 5
  const temperature = wave(index, { mean: 52, swing: 6, period: 45, digits: 2 })
  return { atMs, temperature: isUnread ? null : temperature, rssi: -58 - (index % 13) }
}

export const esp32: Recipe = {
  name: 'esp32',
  front: 'mqtt',
  messages: series((index) => {
    const { atMs, temperature, rssi } = valuesOf(index)
    return {
      topic: 'esp32/24dcc3a1b2c4/reading',
      payload: `{"timestamp":${atMs / 1_000},"temperature":${temperature},"rssi":${rssi}}`,
    }
  }),
  expected: (index) => {
    const { atMs, temperature, rssi } = valuesOf(index)
    return [{ timestamp: stored(atMs), rssi, ...(temperature !== null && { temperature }) }]
  },
}
