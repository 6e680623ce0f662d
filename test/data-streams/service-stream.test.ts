import { describe, expect, test } from 'vitest'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'

const vaultId = '01234567-89ab-4def-8123-456789abcdef'

const service = (overrides: object = {}) => ({
  name: 'changes',
  vaultId,
  type: 'service',
  ...overrides,
})

describe('a stream of the type service', () => {
  test('has the schema of the events, which may be sent as it is answered', () => {
    const { schema } = parseDefinition(service())

    expect(Object.keys(schema)).toEqual(['event', 'resourceType', 'resourceId', 'name', 'apiKeyId'])
    expect(parseDefinition(service({ schema })).schema).toEqual(schema)
  })

  test.each([
    [{ schema: {} }, 'schema'],
    [{ schema: { level: { type: 'number' } } }, 'schema'],
    [{ source: { protocol: 'http' } }, 'source.protocol'],
    [{ processing: { validation: 'strict' } }, 'processing.validation'],
    [{ processing: { deduplicate: true } }, 'processing.deduplicate'],
    [
      { processing: { transform: [{ filter: { expression: 'event == "vault.created"' } }] } },
      'processing.transform',
    ],
  ])('takes nothing that would change its events: %j', (overrides, path) => {
    const details = [expect.objectContaining({ path })]
    expect(() => parseDefinition(service(overrides))).toThrow(
      expect.objectContaining({ code: 'invalid_request', details }),
    )
  })
})
