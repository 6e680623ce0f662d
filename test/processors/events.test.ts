import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'

const receipt = { receivedAtUs: 1_000_000, futureToleranceUs: 0 }

function judgeEvents(reading: unknown, validation: StreamSchema['validation'] = 'strict') {
  const schema: StreamSchema = {
    fields: {},
    events: {
      field: 'type',
      types: {
        opened: { door: { type: 'string', required: true } },
        counted: { people: { type: 'integer', max: 100 } },
      },
    },
    validation,
    timestampField: 'timestamp',
    timestampFormat: 'epoch_us',
  }
  return judgeOf(schema)(reading, receipt)
}

describe('an event', () => {
  test('is held to the schema of its type', () => {
    expect(judgeEvents({ type: 'opened', door: 'north' })).toMatchObject({
      accepted: true,
      values: '{"door":"north","type":"opened"}',
    })
    expect(judgeEvents({ type: 'opened' })).toMatchObject({
      reason: 'schema_mismatch',
      message: 'door is required',
    })
    expect(judgeEvents({ type: 'counted', door: 'north' })).toMatchObject({
      message: 'door is not a field of this stream',
    })
    expect(judgeEvents({ type: 'counted', people: 101 })).toMatchObject({ accepted: false })
  })

  test('keeps beside its fields what its type does not have, in a lenient stream', () => {
    expect(judgeEvents({ type: 'counted', people: 101, door: 'north' }, 'lenient')).toMatchObject({
      accepted: true,
      values: '{"people":101,"type":"counted"}',
      extra: '{"door":"north"}',
      flagged: ['people'],
    })
  })

  test.each([
    [{ door: 'north' }, 'type is required: there are opened, counted'],
    [{ type: 7 }, 'type is not a type of event of this stream: there are opened, counted'],
    [
      { type: 'closed', timestamp: 5 },
      "type 'closed' is not a type of event of this stream: there are opened, counted",
    ],
  ])('of no known type is refused: %j', (reading, message) => {
    expect(judgeEvents(reading)).toMatchObject({ reason: 'schema_mismatch', message })
  })

  test('of no known type keeps the time that it claims', () => {
    expect(judgeEvents({ type: 'closed', timestamp: 5 })).toMatchObject({ timestampUs: 5 })
  })

  test('is refused for being none before its type is asked for', () => {
    expect(judgeEvents([])).toMatchObject({ reason: 'malformed' })
    expect(judgeEvents({ timestamp: 'noon' })).toMatchObject({ reason: 'timestamp_invalid' })
  })

  test('is of no type that it has inherited', () => {
    expect(judgeEvents({ type: 'constructor' })).toMatchObject({ accepted: false })
  })
})
