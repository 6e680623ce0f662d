import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../src/core/errors.ts'
import { parseSource } from '../../src/streams/data-streams/source.ts'
import type { StreamType } from '../../src/streams/data-streams/stream-type.ts'

/** The paths of what is wrong with a source, sorted. */
function wrong(type: StreamType, source: object): string[] {
  const found: ErrorDetail[] = []
  parseSource(source, type, found)
  return found.map(({ path }) => path).toSorted()
}

const api = { endpoint: 'https://weather.example/v1', schedule: '*/5 * * * *' }
const database = {
  protocol: 'postgres',
  endpoint: 'db.example:5432/plant',
  query: 'SELECT * FROM readings WHERE at > $1',
  schedule: '0 0 * * * *',
}
const login = { username: 'reader', password: 'secret' }

describe('a source', () => {
  test.each<[StreamType, object]>([
    ['iot_sensor', {}],
    [
      'iot_sensor',
      {
        deviceId: 'boiler-7',
        protocol: 'mqtt',
        endpoint: 'mqtts://broker.example:8883',
        topic: 'plants/+/boiler/#',
        credentials: login,
        timestampField: 'at',
        timestampFormat: 'epoch_ms',
      },
    ],
    ['iot_sensor', { format: 'cbor' }],
    ['manufacturing', { protocol: 'mqtt', format: 'msgpack' }],
    [
      'api_pull',
      {
        ...api,
        method: 'POST',
        headers: { accept: 'application/json' },
        body: { since: 1 },
        timezone: 'Europe/Berlin',
        timeout: '10s',
        authentication: { type: 'apiKey', name: 'x-key', value: 'secret', in: 'header' },
        itemsPath: 'data.items',
        pagination: { type: 'cursor', parameter: 'after', cursorPath: 'data.next' },
      },
    ],
    ['api_pull', { ...api, authentication: { type: 'none' } }],
    ['api_pull', { ...api, authentication: { type: 'basic', ...login } }],
    [
      'api_pull',
      {
        ...api,
        authentication: {
          type: 'oauth2',
          tokenUrl: 'https://id.example/token',
          clientId: 'a',
          clientSecret: 'b',
          scope: 'read',
        },
      },
    ],
    [
      'database',
      { ...database, credentials: login, incrementalColumn: 'updated_at', keyColumn: 'id' },
    ],
    ['database', { ...database, protocol: 'sqlite', endpoint: '/var/lib/plant.db' }],
    ['manufacturing', { protocol: 'http' }],
    ['building_systems', database],
    ['service', {}],
  ])('of the type %s can be %j', (type, source) => {
    expect(wrong(type, source)).toEqual([])
  })

  test.each<[StreamType, object, string]>([
    ['iot_sensor', { query: 'SELECT 1' }, 'query'],
    ['iot_sensor', { deviceId: 7 }, 'deviceId'],
    ['iot_sensor', { deviceId: '' }, 'deviceId'],
    ['iot_sensor', { protocol: 'kafka' }, 'protocol'],
    ['iot_sensor', { topic: 'plants/a+/x' }, 'topic'],
    ['iot_sensor', { topic: 'plants/#/x' }, 'topic'],
    ['iot_sensor', { topic: '' }, 'topic'],
    ['iot_sensor', { format: 'xml' }, 'format'],
    ['api_pull', { schedule: api.schedule }, 'endpoint'],
    ['api_pull', { endpoint: api.endpoint }, 'schedule'],
    ['api_pull', { ...api, endpoint: 'ftp://weather.example' }, 'endpoint'],
    ['api_pull', { ...api, method: 'DELETE' }, 'method'],
    ['api_pull', { ...api, headers: { accept: 1 } }, 'headers.accept'],
    ['api_pull', { ...api, timezone: 'Europe/Atlantis' }, 'timezone'],
    ['api_pull', { ...api, timeout: '10' }, 'timeout'],
    ['api_pull', { ...api, itemsPath: 'data..items' }, 'itemsPath'],
    ['api_pull', { ...api, authentication: {} }, 'authentication.type'],
    ['api_pull', { ...api, authentication: { type: 'magic' } }, 'authentication.type'],
    ['api_pull', { ...api, authentication: { type: 'bearer' } }, 'authentication.token'],
    ['api_pull', { ...api, authentication: { type: 'none', token: 'x' } }, 'authentication.token'],
    ['api_pull', { ...api, pagination: { type: 'scroll' } }, 'pagination.type'],
    ['api_pull', { ...api, pagination: { type: 'page', pageSize: 0 } }, 'pagination.pageSize'],
    ['database', { ...database, protocol: 'oracle' }, 'protocol'],
    ['database', { ...database, endpoint: 'db.example:5432' }, 'endpoint'],
    ['database', { ...database, endpoint: 'me:secret@db.example/plant' }, 'endpoint'],
    ['database', { ...database, query: ' ' }, 'query'],
    ['database', { ...database, incrementalColumn: 'a; DROP TABLE b' }, 'incrementalColumn'],
    ['service', { deviceId: 'x' }, 'deviceId'],
    ['service', { timestampField: 'at' }, 'timestampField'],
  ])('of the type %s cannot be %j: %s is named', (type, source, path) => {
    expect(wrong(type, source)).toEqual([`source.${path}`])
  })
})

describe('a schedule', () => {
  test.each(['30s', '5m', '1h'])('can have a jitter of %s', (jitter) => {
    expect(wrong('api_pull', { ...api, jitter })).toEqual([])
    expect(wrong('database', { ...database, jitter })).toEqual([])
  })

  test.each(['often', '0s', 5])('has no jitter of %j', (jitter) => {
    expect(wrong('api_pull', { ...api, jitter })).toEqual(['source.jitter'])
  })

  test.each([
    '* * * * *',
    '*/15 0-6,22,23 1 JAN-MAR mon',
    '0 30 4 * * 7',
    '5/10 * * * *',
    '0 0 29 2 *',
    '0 0 30 1,2 *',
    '0 0 30 2 MON',
  ])('can be %j', (schedule) => {
    expect(wrong('api_pull', { ...api, schedule })).toEqual([])
  })

  test.each([
    '',
    'hourly',
    '* * * *',
    '* * * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '5-1 * * * *',
    '*/0 * * * *',
    '*/1/2 * * * *',
    '1-2-3 * * * *',
    '1, * * * *',
    '* * * * MONDAY',
    '0 0 30 2 *',
    '0 0 31 4,JUN *',
    '0 0 30 2 */2',
    7,
  ])('is never %j', (schedule) => {
    expect(wrong('api_pull', { ...api, schedule })).toEqual(['source.schedule'])
  })
})

test.each([
  ['spaces', 'postgres', ' '],
  ['semicolons', 'mysql', ';'],
  ['comments', 'mysql', '/*'],
  ['brackets', 'postgres', '['],
  ['quotes', 'postgres', "'"],
  ['escaped quotes', 'mysql', "'\\"],
])('a statement of %s for %s is looked through once', (_, protocol, part) => {
  const query = `SELECT ${part.repeat(19_990 / part.length)}1`
  const times = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    wrong('database', { ...database, protocol, query })
    return performance.now() - startedAt
  })
  // One of them at least is not held up by others on the machine.
  expect(Math.min(...times)).toBeLessThan(50)
})
