import { describe, expect, test } from 'vitest'
import { converse, type FirmwareScript, ownerOf } from '../support/firmware.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { received } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const retained = { retain: true } as const

const exposed = { access: 1, type: 'numeric', property: 'temperature', unit: '°C' }

/** A description of 200 devices, as large as those of a house are. */
const devices = JSON.stringify(
  Array.from({ length: 200 }, (_, index) => ({
    ieee_address: `0x00158d0001${index.toString(16).padStart(6, '0')}`,
    type: 'EndDevice',
    friendly_name: `sensor ${index}`,
    definition: {
      model: 'WSDCGQ11LM',
      vendor: 'Aqara',
      exposes: Array.from({ length: 6 }, () => exposed),
    },
  })),
)

/** zigbee2mqtt, the MQTT class of its sources: a library that subscribes to all that it publishes, with QoS 0. */
const zigbee2mqtt: FirmwareScript = {
  clientId: 'mqttjs_3f2a91bc',
  clean: true,
  will: ['zigbee2mqtt/bridge/state', '{"state":"offline"}', { qos: 1, retain: true }],
  subscriptions: [
    ['zigbee2mqtt/#', 0],
    ['homeassistant/status', 0],
    ['homeassistant/#', 0],
  ],
  says: [
    ['zigbee2mqtt/bridge/state', '{"state":"online"}', retained],
    ['zigbee2mqtt/bridge/info', '{"version":"2.1.0","coordinator":{"type":"zStack3x0"}}', retained],
    ['zigbee2mqtt/bridge/devices', devices, retained],
    ['zigbee2mqtt/bridge/groups', '[]', retained],
    ['zigbee2mqtt/bridge/extensions', '[]', retained],
    ['zigbee2mqtt/bridge/logging', '{"level":"info","message":"Zigbee2MQTT started!"}'],
    [
      'homeassistant/sensor/0x00158d0001aabbcc/temperature/config',
      '{"availability":[{"topic":"zigbee2mqtt/bridge/state"}],"device_class":"temperature","state_topic":"zigbee2mqtt/boiler","value_template":"{{ value_json.temperature }}"}',
      retained,
    ],
    ['zigbee2mqtt/boiler/availability', '{"state":"online"}', retained],
  ],
  readings: {
    topic: 'zigbee2mqtt/boiler',
    schema: { temperature: { type: 'number' }, humidity: { type: 'number' } },
    payloads: [
      '{"battery":97,"humidity":48.2,"linkquality":132,"pressure":1009,"temperature":21.5,"voltage":2985}',
      '{"battery":97,"humidity":48.1,"linkquality":129,"pressure":1009,"temperature":21.6,"voltage":2985}',
    ],
    stored: [
      { temperature: 21.5, humidity: 48.2 },
      { temperature: 21.6, humidity: 48.1 },
    ],
  },
}

/** Home Assistant with its discovery, and what it shows of others as a stream of states. */
const homeAssistant: FirmwareScript = {
  clientId: '2zTQf3oEqvL0eYxh5n8XkD',
  clean: true,
  will: ['homeassistant/status', 'offline'],
  subscriptions: [
    ['homeassistant/+/+/config', 0],
    ['homeassistant/+/+/+/config', 0],
    ['homeassistant/device/+/config', 0],
    ['homeassistant/#', 0],
    ['zigbee2mqtt/bridge/state', 0],
    ['tasmota/discovery/#', 0],
    ['tele/plug/LWT', 0],
  ],
  says: [
    ['homeassistant/status', 'online'],
    ['zigbee2mqtt/lamp/set', '{"state":"ON"}'],
    ['cmnd/plug/POWER', 'ON'],
    ['states/sensor/boiler_temperature/unit_of_measurement', '"°C"', { qos: 1, retain: true }],
  ],
  readings: {
    topic: 'states/sensor/boiler_temperature/state',
    source: { format: 'plain' },
    schema: { temperature: { type: 'number' } },
    payloads: ['21.5', '21.7'],
    stored: [{ temperature: 21.5 }, { temperature: 21.7 }],
  },
}

describe('a bridge connects as it is, and its readings are stored:', () => {
  test.each([
    ['zigbee2mqtt', zigbee2mqtt],
    ['Home Assistant', homeAssistant],
  ])('%s', async (_, script) => {
    await converse(service, connect, script)
  })
})

test('what a bridge has subscribed to that is a stream’s comes as ever', async () => {
  const { owner, streamId } = await ownerOf(service, zigbee2mqtt)
  const bridge = await connect(owner.key)
  const assistant = await connect(owner.key)
  const filters = ['homeassistant/#', zigbee2mqtt.readings.topic]
  expect(await assistant.subscribe(filters, 0)).toEqual([0, 0])

  await bridge.mqtt.publishAsync('homeassistant/status', 'online', { qos: 0 })
  await bridge.mqtt.publishAsync(zigbee2mqtt.readings.topic, '{"temperature":21.5}', { qos: 1 })

  await expect.poll(() => assistant.messages).toMatchObject([{ topic: 'zigbee2mqtt/boiler' }])
  expect(await received(owner, streamId)).toBe(1)
})
