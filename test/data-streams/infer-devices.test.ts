import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { samplesOfMessages } from '../../src/streams/data-streams/message-samples.ts'
import { misfitsOf } from '../../src/streams/data-streams/proposal-misfits.ts'
import { proposeStream } from '../../src/streams/data-streams/stream-proposal.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number
const startMs = Date.UTC(2026, 0, 31)
const vaultId = '01234567-89ab-4def-8123-456789abcdef'

interface Sent {
  readonly topic?: string
  readonly payload: unknown
}

/** Values of a series that is no constant: whole and not, zero, below it; the first ten show little of that. */
function value(index: number, seed = 1): number {
  if (index < 10) return 20 + ((index * seed) % 5)
  if (index % 13 === 0) return 0
  return index % 3 === 0 ? -index * seed : Math.round(index * seed * 37) / 8
}

/** A value that is null from time to time, but not in the first ten. */
function nullable(index: number, seed = 1): number | null {
  return index % 17 === 11 ? null : value(index, seed)
}

function time(index: number): Date {
  return new Date(startMs + index * 60_000)
}

const iso = (index: number) => time(index).toISOString()
const seconds = (index: number) => Math.floor(time(index).getTime() / 1_000)
const wall = (index: number) => iso(index).slice(0, 19)
const dotted = (index: number) => wall(index).replace(/^(\d+)-(\d+)-(\d+)T(.*)$/, '$3.$2.$1 $4')

/** Members that are there in most messages of a series only, and in all of the first ten. */
function mostly(index: number, members: object): object {
  return index % 19 === 14 ? {} : members
}

const devices: readonly {
  readonly name: string
  readonly message: (index: number) => Sent
  readonly source: object
  readonly fields: Readonly<Record<string, unknown>>
}[] = [
  {
    name: 'Tasmota',
    message: (index) => ({
      topic: 'tele/plug/SENSOR',
      payload: { Time: wall(index), ENERGY: { Power: nullable(index), Factor: value(index, 2) } },
    }),
    source: { timestampField: 'Time', timestampFormat: 'local', timezone: 'UTC' },
    fields: { energy_power: 'ENERGY.Power', energy_factor: 'ENERGY.Factor' },
  },
  {
    name: 'zigbee2mqtt',
    message: (index) => ({
      topic: `zigbee2mqtt/room ${index % 3}`,
      payload: {
        temperature: nullable(index),
        last_seen: iso(index),
        update: { state: 'idle' },
        ...mostly(index, { battery: 97, linkquality: value(index, 3) }),
      },
    }),
    source: { topic: 'zigbee2mqtt/+', timestampField: 'last_seen' },
    fields: { temperature: undefined, device: '$topic[1]', update_state: 'update.state' },
  },
  {
    name: 'a Shelly of the second generation',
    message: (index) => ({
      topic: 'shellyplus1pm/events/rpc',
      payload: {
        src: 'shellyplus1pm',
        method: 'NotifyStatus',
        params: {
          ts: seconds(index) + 0.43,
          'switch:0': { id: 0, ...(index % 2 === 0 && { apower: value(index) }) },
        },
      },
    }),
    source: { timestampField: 'params.ts', timestampFormat: 'epoch_s' },
    fields: { switch_0_apower: 'params.switch:0.apower' },
  },
  {
    name: 'The Things Stack',
    message: (index) => ({
      payload: {
        end_device_ids: { device_id: 'meter-7' },
        received_at: iso(index).replace('Z', '123456Z'),
        uplink_message: {
          f_port: 2,
          f_cnt: index,
          decoded_payload: { temperature: nullable(index), ...mostly(index, { humidity: 40 }) },
          rx_metadata: Array.from({ length: 1 + (index % 3) }, (_, place) => ({
            gateway_ids: { gateway_id: `gw-${place}` },
            rssi: -100 + place,
            ...(index > 50 && { time: iso(index) }),
          })),
          settings: { timestamp: 1_463_457_000 + index, frequency: '868100000' },
        },
      },
    }),
    source: { timestampField: 'received_at' },
    fields: {
      decoded_payload_temperature: 'uplink_message.decoded_payload.temperature',
      rx_metadata_0_rssi: 'uplink_message.rx_metadata[0].rssi',
    },
  },
  {
    name: 'a Ruuvi gateway',
    message: (index) => ({
      payload: {
        data: {
          coordinates: '',
          timestamp: `${seconds(index)}`,
          gw_mac: 'C8:25:2D:8E:9C:2C',
          tags: Object.fromEntries(
            Array.from({ length: 1 + (index % 3) }, (_, place) => [
              `F4:1F:0C:28:CB:D${place}`,
              { rssi: -50 - place, timestamp: `${seconds(index)}`, data: '02' },
            ]),
          ),
        },
      },
    }),
    source: { items: { path: 'data.tags', as: 'map' }, timestampFormat: 'epoch_s' },
    fields: { key: undefined, rssi: undefined, data_gw_mac: '$parent.data.gw_mac' },
  },
  {
    name: 'OwnTracks',
    message: (index) => ({
      topic: 'owntracks/jane/phone',
      payload: {
        _type: 'location',
        lat: value(index),
        lon: value(index, 2),
        tst: seconds(index),
        ...mostly(index, { batt: 50, vel: value(index) }),
      },
    }),
    source: { timestampField: 'tst', timestampFormat: 'epoch_s' },
    fields: { lat: undefined, tst: undefined },
  },
  {
    name: 'Traccar',
    message: (index) => ({
      payload: {
        position: {
          deviceId: 1,
          serverTime: iso(index + 1),
          deviceTime: iso(index),
          fixTime: iso(index).replace('Z', '+00:00'),
          latitude: value(index),
          address: index > 20 ? 'Main Street' : null,
          attributes: { ...mostly(index, { batteryLevel: value(index) }), motion: index % 2 === 0 },
        },
        device: { id: 1, uniqueId: '862205051234567', lastUpdate: iso(index) },
      },
    }),
    source: { timestampField: 'position.fixTime' },
    fields: { position_latitude: 'position.latitude', device_unique_id: 'device.uniqueId' },
  },
  {
    name: 'a tracker with numbers for names',
    message: (index) => ({
      payload: {
        state: {
          reported: { ts: time(index).getTime(), latlng: '54.6,25.2', 239: 1, 66: nullable(index) },
        },
      },
    }),
    source: { timestampField: 'state.reported.ts', timestampFormat: 'epoch_ms' },
    fields: { reported_66: 'state.reported.66' },
  },
  {
    name: 'Telegraf, one by one',
    message: (index) => ({
      payload: {
        fields: { usage_idle: value(index), ...mostly(index, { usage_user: value(index, 2) }) },
        name: 'cpu',
        tags: { host: 'raynor' },
        timestamp: seconds(index),
      },
    }),
    source: { timestampFormat: 'epoch_s' },
    fields: { fields_usage_idle: 'fields.usage_idle', tags_host: 'tags.host' },
  },
  {
    name: 'Telegraf, in batches',
    message: (index) => ({
      payload: {
        metrics: Array.from({ length: 1 + (index % 4) }, (_, place) => ({
          fields: { usage_idle: value(index, place + 1) },
          name: 'cpu',
          tags: { host: 'raynor' },
          timestamp: seconds(index) + place,
        })),
      },
    }),
    source: { items: 'metrics', timestampFormat: 'epoch_s' },
    fields: { fields_usage_idle: 'fields.usage_idle' },
  },
  {
    name: 'OpenTelemetry',
    message: (index) => ({
      payload: {
        resourceMetrics: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'boiler' } }] },
            scopeMetrics: [
              {
                scope: { name: 'boiler' },
                metrics: ['temperature', 'pressure'].map((name, place) => ({
                  name,
                  unit: '1',
                  gauge: {
                    dataPoints: [
                      {
                        asDouble: value(index, place + 1),
                        timeUnixNano: `${time(index).getTime()}000000`,
                      },
                    ],
                  },
                })),
              },
            ],
          },
        ],
      },
    }),
    source: {
      items: ['resourceMetrics', 'scopeMetrics', 'metrics', 'gauge.dataPoints'].map((path) => ({
        path,
        as: 'list',
      })),
      timestampField: 'timeUnixNano',
      timestampFormat: 'epoch_ns',
    },
    fields: { asDouble: undefined, name: '$parent.name' },
  },
  {
    name: 'a shadow of AWS IoT',
    message: (index) => ({
      payload: {
        state: { reported: { temperature: nullable(index), door: 'shut' } },
        metadata: { reported: { temperature: { timestamp: seconds(index) - 3 } } },
        version: index,
        timestamp: seconds(index),
      },
    }),
    source: { timestampFormat: 'epoch_s' },
    fields: { reported_temperature: 'state.reported.temperature', version: undefined },
  },
  {
    name: 'Event Grid of an Azure IoT hub',
    message: (index) => ({
      payload: [
        {
          id: `9af86784-${index}`,
          subject: 'devices/d1',
          eventType: 'Microsoft.Devices.DeviceTelemetry',
          eventTime: iso(index),
          data: {
            body: { Weather: { Temperature: nullable(index) } },
            systemProperties: {
              'iothub-connection-device-id': 'd1',
              'iothub-enqueuedtime': iso(index),
            },
          },
        },
      ],
    }),
    source: { timestampField: 'eventTime' },
    fields: { weather_temperature: 'data.body.Weather.Temperature' },
  },
  {
    name: 'Open-Meteo',
    message: (index) => ({
      payload: {
        latitude: 52.5,
        generationtime_ms: value(index),
        timezone: 'Europe/Berlin',
        hourly_units: { time: 'iso8601', temperature_2m: '°C' },
        hourly: {
          time: [0, 1, 2, 3, 4].map((hour) => wall(index + hour * 60).slice(0, 16)),
          temperature_2m: [0, 1, 2, 3, 4].map((hour) => nullable(index + hour)),
          precipitation: [0, 0, 0.1, 0, 0],
        },
      },
    }),
    source: {
      items: { path: 'hourly', as: 'columns' },
      timestampField: 'time',
      timestampFormat: 'local',
      timezone: 'Europe/Berlin',
    },
    fields: { temperature_2m: undefined, latitude: '$parent.latitude' },
  },
  {
    name: 'SolarEdge',
    message: (index) => ({
      payload: {
        energy: {
          unit: 'Wh',
          values: Array.from({ length: 24 }, (_, hour) => ({
            date: wall(index + hour * 60).replace('T', ' '),
            value: hour < 6 ? null : value(index + hour),
          })),
        },
      },
    }),
    source: { items: 'energy.values', timestampField: 'date', timestampFormat: 'local' },
    fields: { value: undefined, energy_unit: '$parent.energy.unit' },
  },
  {
    name: 'rows of observations',
    message: (index) => ({
      payload: {
        type: 'obs_st',
        serial_number: 'ST-1',
        obs: [[seconds(index), nullable(index), value(index, 2), 0]],
      },
    }),
    source: { timestampField: 'time', timestampFormat: 'epoch_s' },
    fields: { value_1: undefined, serial_number: '$parent.serial_number' },
  },
  {
    name: 'rows with their names beside them',
    message: (index) => ({
      payload: {
        columns: ['time', 'level'],
        rows: Array.from({ length: 2 + (index % 3) }, (_, place) => [
          iso(index + place),
          nullable(index + place),
        ]),
      },
    }),
    source: {
      items: { path: 'rows', as: 'rows', columns: 'columns' },
      timestampField: 'time',
    },
    fields: { level: undefined },
  },
  {
    name: 'samples at equal distances',
    message: (index) => ({
      payload: {
        sensor: 'acc-1',
        start: time(index).getTime(),
        interval_ms: 10,
        values: Array.from({ length: 8 }, (_, place) => value(index + place)),
      },
    }),
    source: {
      items: { path: 'values', as: 'samples', start: 'start', interval: 'interval_ms', unit: 'ms' },
      timestampFormat: 'epoch_ms',
    },
    fields: { value: undefined, sensor: '$parent.sensor' },
  },
  {
    name: 'Kepware',
    message: (index) => ({
      payload: {
        timestamp: time(index).getTime(),
        values: ['Line.Oven.Temperature', 'Line.Oven.Running'].map((id, place) => ({
          id,
          v: place === 0 ? value(index) : index % 2 === 0,
          q: true,
          t: time(index).getTime(),
        })),
      },
    }),
    source: {
      items: { path: 'values', as: 'pivot', name: 'id', value: 'v', time: 't' },
      timestampFormat: 'epoch_ms',
    },
    fields: { line_oven_temperature: "['Line.Oven.Temperature']" },
  },
  {
    name: 'Siemens',
    message: (index) => ({
      payload: {
        seq: index,
        vals: ['101', '102'].map((id, place) => ({
          id,
          qc: 3,
          ts: iso(index),
          val: value(index, place + 1),
        })),
      },
    }),
    source: { items: { path: 'vals', as: 'pivot', name: 'id', value: 'val', time: 'ts' } },
    fields: { _101: '101' },
  },
  {
    name: 'PubSub of OPC UA',
    message: (index) => ({
      payload: {
        MessageId: `m-${index}`,
        MessageType: 'ua-data',
        PublisherId: 'plant-7',
        Messages: [
          {
            DataSetWriterId: 1,
            Timestamp: iso(index).replace('Z', '1234Z'),
            Payload: {
              Temperature: { Value: nullable(index) },
              ...(index % 4 !== 3 && { Speed: { Value: value(index) } }),
            },
          },
        ],
      },
    }),
    source: { items: 'Messages', timestampField: 'Timestamp' },
    fields: { temperature_value: 'Payload.Temperature.Value', publisher_id: '$parent.PublisherId' },
  },
  {
    name: 'numbers as texts, and words for none',
    message: (index) => ({
      payload: {
        temperature: index % 7 === 6 ? 'unavailable' : `${value(index)}`,
        level: index % 23 === 12 ? 'nan' : `${value(index, 2)}`,
        serial: '00123',
        at: dotted(index),
      },
    }),
    source: { timestampField: 'at', timestampFormat: 'dd.MM.yyyy HH:mm:ss', timezone: 'UTC' },
    fields: { temperature: undefined, serial: undefined },
  },
  {
    name: 'what has unlucky names',
    message: (index) => ({
      payload: { count: index, Level: value(index), level: value(index, 2), 'a-b': 1, extra: 'x' },
    }),
    source: {},
    fields: { count_value: 'count', level_value: 'level', a_b: 'a-b', extra_value: 'extra' },
  },
]

function sent({ topic, payload }: Sent) {
  return { ...(topic !== undefined && { topic }), payload: Buffer.from(JSON.stringify(payload)) }
}

describe('a proposal from the first ten of 200 messages', () => {
  test.each(devices)('of $name takes all others', ({ message, source, fields }) => {
    const all = Array.from({ length: 200 }, (_, index) => sent(message(index)))
    const needs = { judgeOf, nowUs }

    const { proposal, misfits } = proposeStream(samplesOfMessages(all.slice(0, 10), nowUs), needs)
    const definition = parseDefinition({ name: 'device', vaultId, ...proposal })

    expect(misfits).toEqual([])
    expect(misfitsOf(samplesOfMessages(all, nowUs), definition, needs)).toEqual([])
    expect(definition.source).toMatchObject(source)
    const found = Object.keys(fields).map((name) => [name, definition.schema[name]?.from])
    expect(Object.fromEntries(found)).toEqual(fields)
    expect(Object.keys(definition.schema)).toEqual(expect.arrayContaining(Object.keys(fields)))
  })
})
