import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import {
  changedDefinition,
  isSameDefinition,
} from '../../src/streams/data-streams/definition-change.ts'

const before = parseDefinition({
  name: 'Boiler',
  vaultId: '01234567-89ab-4def-8123-456789abcdef',
  type: 'iot_sensor',
  source: { deviceId: 'boiler-7', timestampField: 'at' },
  schema: { level: { type: 'number', min: 0 } },
  processing: { validation: 'strict' },
  tags: { site: 'berlin' },
})

const tag = fc.constantFrom('site', 'floor', 'line')
const change = fc.record(
  {
    name: fc.constantFrom('Boiler', 'Pump'),
    tags: fc.dictionary(tag, fc.constantFrom('berlin', 'oslo', null)),
    schema: fc.dictionary(
      fc.constantFrom('depth', 'width'),
      fc.constantFrom({ type: 'number' }, { type: 'string' }, null),
    ),
    processing: fc.record(
      { frequency: fc.constantFrom('1m', '1h', null), validation: fc.constantFrom('strict', null) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

describe('a change of a definition', () => {
  test('done twice is done once', () => {
    fc.assert(
      fc.property(change, (one) => {
        const once = changedDefinition(before, one)

        expect(isSameDefinition(changedDefinition(once, one), once)).toBe(true)
      }),
    )
  })

  test('and another one about other members can be done in either order', () => {
    fc.assert(
      fc.property(change, fc.constantFrom('a', 'b', null), (one, value) => {
        const other = { tags: { owner: value }, source: { deviceId: value } }

        const here = changedDefinition(changedDefinition(before, one), other)
        const there = changedDefinition(changedDefinition(before, other), one)

        expect(isSameDefinition(here, there)).toBe(true)
      }),
    )
  })

  test('to what is there already changes nothing', () => {
    const { rules: _, ...sent } = before
    expect(isSameDefinition(changedDefinition(before, sent), before)).toBe(true)
    expect(isSameDefinition(changedDefinition(before, {}), before)).toBe(true)
  })

  test('can be told from none, whatever it changes', () => {
    for (const one of [
      { name: 'Pump' },
      { tags: { site: null } },
      { tags: null },
      { source: { deviceId: 'boiler-8' } },
      { schema: { level: { type: 'integer' } } },
      { processing: { validation: null } },
    ]) {
      expect(isSameDefinition(changedDefinition(before, one), before)).toBe(false)
    }
  })
})
