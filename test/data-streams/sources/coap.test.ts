import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource, unsupportedSource } from '../../../src/streams/data-streams/source.ts'
import type { StreamType } from '../../../src/streams/data-streams/stream-type.ts'

const base = { protocol: 'coap', endpoint: 'coap://sensor.example/temperature' }

function found(source: object, type: StreamType = 'iot_sensor'): ErrorDetail[] {
  const problems: ErrorDetail[] = []
  const parsed = parseSource({ ...base, ...source }, type, problems)
  return [...problems, ...unsupportedSource(type, parsed)]
}

describe('a source that is observed over CoAP', () => {
  test.each<object>([
    {},
    { endpoint: 'coap://192.0.2.7:5684/a%20b/c?unit=C&rate=1' },
    { endpoint: 'coap://[2001:db8::7]' },
    { accept: 50, deviceId: 'boiler', timestampField: 'time', timestampFormat: 'epoch_s' },
    { format: 'csv' },
  ])('can be %j', (source) => {
    expect(found(source)).toEqual([])
  })

  test.each<StreamType>(['manufacturing', 'building_systems', 'occupancy'])(
    'can be one of the type %s',
    (type) => {
      expect(found({}, type)).toEqual([])
    },
  )

  test.each<[object, string]>([
    [{ endpoint: 'coap:sensor' }, 'endpoint'],
    [{ endpoint: 'http://sensor.example/' }, 'endpoint'],
    [{ endpoint: 'coap://a:b@sensor.example/' }, 'endpoint'],
    [{ endpoint: 'coap://sensor.example/#a' }, 'endpoint'],
    [{ endpoint: 'coap://sensor.example/%zz' }, 'endpoint'],
    [{ endpoint: `coap://sensor.example/${'a'.repeat(256)}` }, 'endpoint'],
    [{ endpoint: `coap://sensor.example${'/a'.repeat(400)}` }, 'endpoint'],
    [{ accept: 65_536 }, 'accept'],
    [{ format: 'sparkplug' }, 'format'],
    [{ eventTypes: { a: {} } }, 'eventTypes'],
    [{ topic: 'a' }, 'topic'],
    [{ endpoint: undefined }, 'protocol'],
  ])('cannot be %j', (source, key) => {
    expect(found(source).map(({ path }) => path)).toContain(`source.${key}`)
  })

  test('cannot be one over DTLS, and is told so', () => {
    const [problem] = found({ endpoint: 'coaps://sensor.example/' })
    expect(problem?.message).toContain('DTLS (coaps) is not supported')
  })
})
