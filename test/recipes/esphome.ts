import { type Recipe, series } from './recipe.ts'
import { wave } from './signals.ts'

const sensors = ['air_temperature', 'soil_moisture', 'wifi_signal', 'uptime'] as const

/** Decimals are those of `accuracy_decimals`; a sensor that cannot be read says nan. */
function payloadOf(index: number): string {
  const round = Math.floor(index / sensors.length)
  const sensor = sensors[index % sensors.length]
  if (sensor === 'air_temperature') {
    return round % 11 === 3
      ? 'nan'
      : wave(round, { mean: 1, swing: 9, period: 30, digits: 1 }).toFixed(1)
  }
  if (sensor === 'soil_moisture') {
    return wave(round, { mean: 41, swing: 6, period: 45, digits: 2 }).toFixed(2)
  }
  return String(sensor === 'uptime' ? round * 60 : -60 - (round % 17))
}

export const esphome: Recipe = {
  name: 'esphome',
  front: 'mqtt',
  messages: series((index) => ({
    topic: `greenhouse/sensor/${sensors[index % sensors.length]}/state`,
    payload: payloadOf(index),
    isRetained: true,
  })),
  expected: (index) => {
    const payload = payloadOf(index)
    if (payload === 'nan') return []
    return [{ sensor: sensors[index % sensors.length], value: Number(payload) }]
  },
}
