import { dotted, iso, mostly, nullable, type Series, seconds, time, value, wall } from './values.ts'

/** Platforms and programs that pass on what others have measured, as their documentation has them. */
export const platforms: readonly Series[] = [
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
