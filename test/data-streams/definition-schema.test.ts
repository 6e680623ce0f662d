import { describe, expect, test } from 'vitest'
import { parseDefinition, schemaOf } from '../../src/streams/data-streams/definition.ts'

function body(overrides: object = {}): object {
  return {
    name: 'Boiler',
    vaultId: '01234567-89ab-4def-8123-456789abcdef',
    type: 'iot_sensor',
    schema: { level: { type: 'number' } },
    ...overrides,
  }
}

describe('schemaOf', () => {
  test('is lenient, and reads RFC 3339 from the field timestamp, unless told otherwise', () => {
    expect(schemaOf(parseDefinition(body()))).toEqual({
      fields: { level: { type: 'number' } },
      validation: 'lenient',
      timestampField: 'timestamp',
      timestampFormat: 'rfc3339',
      time: { isRequired: false },
    })
  })

  test('has no items where a kind of source calls something else so', () => {
    const opcua = {
      protocol: 'opcua',
      endpoint: 'opc.tcp://plant:4840',
      items: [{ field: 'level', nodeId: 'ns=2;s=a' }],
    }
    const definition = parseDefinition(body({ type: 'manufacturing', source: opcua }))
    expect(schemaOf(definition)).not.toHaveProperty('items')
  })

  test('takes over what the definition says', () => {
    const definition = parseDefinition(
      body({
        source: { timestampField: 'ts', timestampFormat: 'epoch_ms' },
        processing: { validation: 'strict' },
      }),
    )

    expect(schemaOf(definition)).toMatchObject({
      validation: 'strict',
      timestampField: 'ts',
      timestampFormat: 'epoch_ms',
    })
  })
})
