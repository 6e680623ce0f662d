import { type Recipe, series } from './recipe.ts'
import { marchMs, present, stored, wave } from './signals.ts'

const rooms = ['living_room', 'cellar']

/** A sensor sends what has changed; until it has sent a value for the first time, that is null or not there. */
function stateOf(index: number) {
  const sent = Math.floor(index / rooms.length)
  return {
    device: rooms[index % rooms.length] ?? '',
    atMs: marchMs + index * 97_000 + (index % 7) * 31,
    battery: sent < 4 ? null : 100 - Math.floor(sent / 40),
    humidity: wave(index, { mean: 52, swing: 9, period: 70, digits: 2 }),
    linkquality: 60 + ((index * 37) % 120),
    pressure: sent < 2 ? undefined : wave(index, { mean: 1013, swing: 9, period: 90, digits: 1 }),
    temperature: wave(index, { mean: 2, swing: 8, period: 80, digits: 2 }),
    voltage: sent < 4 ? null : 3015 - sent,
  }
}

export const zigbee2mqtt: Recipe = {
  name: 'zigbee2mqtt',
  front: 'mqtt',
  messages: series((index) => {
    const { device, atMs, ...values } = stateOf(index)
    const { battery, humidity, ...rest } = values
    const payload = { battery, humidity, last_seen: new Date(atMs).toISOString(), ...rest }
    return { topic: `zigbee2mqtt/${device}`, payload: JSON.stringify(payload) }
  }),
  expected: (index) => {
    const { atMs, ...values } = stateOf(index)
    const reading = { timestamp: stored(atMs), ...present(values) }
    return [JSON.parse(JSON.stringify(reading)) as typeof reading]
  },
}
