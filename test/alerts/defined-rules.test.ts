import { expect, test } from 'vitest'
import { RuleReader } from '../../src/alerts/defined-rules.ts'

const rule = { id: 'hot', field: 'temperature', operator: '>', threshold: 80 }
const definition = (threshold: number) =>
  JSON.stringify({
    schema: { temperature: { type: 'number' } },
    processing: { alerting: [{ ...rule, threshold }] },
  })

test('streams of one definition share what it says about alerts', () => {
  const reader = new RuleReader()

  const first = reader.rulesOf(definition(80))

  expect(first.fields).toMatchObject({ temperature: { type: 'number' } })
  expect(first.rules).toMatchObject([rule])
  expect(reader.rulesOf(definition(80))).toBe(first)
  expect(reader.rulesOf(definition(90)).rules).toMatchObject([{ ...rule, threshold: 90 }])
})
