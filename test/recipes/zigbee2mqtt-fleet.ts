import { type FleetRecipe, type SentMessage, series } from './recipe.ts'
import { marchMs, present, stored, wave } from './signals.ts'

const sensors = ['living_room', 'cellar', '0x00158d0001dc126a']

function sensorOf(index: number): string {
  return sensors[index % sensors.length] ?? ''
}

/** A sensor sends what has changed; until it has sent a value for the first time, that is null or not there. */
function stateOf(index: number) {
  const sent = Math.floor(index / sensors.length)
  return {
    atMs: marchMs + index * 61_000 + (index % 7) * 31,
    battery: sent < 4 ? null : 100 - Math.floor(sent / 40),
    humidity: wave(index, { mean: 52, swing: 9, period: 70, digits: 2 }),
    linkquality: 60 + ((index * 37) % 120),
    pressure: sent < 2 ? undefined : wave(index, { mean: 1013, swing: 9, period: 90, digits: 1 }),
    temperature: wave(index, { mean: 2, swing: 8, period: 80, digits: 2 }),
    voltage: sent < 4 ? null : 3015 - sent,
  }
}

/** What the bridge publishes beside the states of devices; undefined where it is the turn of one of them. */
function besides(index: number): SentMessage | undefined {
  const online = '{"state":"online"}'
  const others: readonly SentMessage[] = [
    { topic: 'zigbee2mqtt/bridge/state', payload: online, isRetained: true },
    { topic: `zigbee2mqtt/${sensorOf(index)}/availability`, payload: online, isRetained: true },
    {
      topic: 'zigbee2mqtt/bridge/logging',
      payload: `{"level":"info","message":"z2m:mqtt: MQTT publish ${index}","namespace":"z2m:mqtt"}`,
    },
    {
      topic: 'homeassistant/sensor/0x00158d0001dc126a/temperature/config',
      payload: `{"state_topic":"zigbee2mqtt/cellar","unit_of_measurement":"°C","index":${index}}`,
      isRetained: true,
    },
  ]
  return index % 5 === 3 ? others[Math.floor(index / 5) % others.length] : undefined
}

export const zigbee2mqttFleet: FleetRecipe = {
  name: 'zigbee2mqtt-fleet',
  front: 'mqtt',
  messages: series((index) => {
    const { atMs, ...values } = stateOf(index)
    const { battery, humidity, ...rest } = values
    const payload = { battery, humidity, last_seen: new Date(atMs).toISOString(), ...rest }
    const state = { topic: `zigbee2mqtt/${sensorOf(index)}`, payload: JSON.stringify(payload) }
    return besides(index) ?? state
  }),
  expected: (index) => {
    if (besides(index) !== undefined) return []
    const { atMs, ...values } = stateOf(index)
    const reading = { timestamp: stored(atMs), ...present(values) }
    return [JSON.parse(JSON.stringify(reading)) as typeof reading]
  },
  device: sensorOf,
}
