import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { DomainError } from '../../src/core/errors.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { samplesOfMessages } from '../../src/streams/data-streams/message-samples.ts'
import { misfitsOf } from '../../src/streams/data-streams/proposal-misfits.ts'
import { proposeStream } from '../../src/streams/data-streams/stream-proposal.ts'
import { Samples } from '../../src/streams/data-streams/stream-samples.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number
const vaultId = '01234567-89ab-4def-8123-456789abcdef'

interface Proposed {
  readonly proposal: {
    readonly source: object
    readonly schema: Readonly<Record<string, object>>
  }
  readonly notes: readonly { readonly path: string }[]
  readonly misfits: readonly { readonly index: number; readonly error: string }[]
}

function proposed(samples: readonly unknown[]): Proposed {
  return proposeStream(new Samples(samples), { judgeOf, nowUs })
}

/** The samples that a stream of the proposal would refuse, as its own definition has it. */
function refusedBy({ proposal }: Proposed, samples: readonly unknown[]): number[] {
  const { source, schema } = parseDefinition({ name: 'boiler', vaultId, ...proposal })
  const misfits = misfitsOf(new Samples(samples), { source, schema }, { judgeOf, nowUs })
  return [...new Set(misfits.map(({ index }) => index))]
}

/** Messages of one kind, each with something that a field can be made of. */
function alike(...kinds: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<readonly unknown[]> {
  const several = kinds.map((kind) => fc.array(kind, { minLength: 1, maxLength: 8 }))
  return fc.oneof(
    ...several.map((some) => some.map((all) => [...all, { always: 1 }])),
    ...several.map((some) => some.map((all) => all.map((one) => ({ around: one, always: 1 })))),
  )
}

describe('a proposal', () => {
  test('has types, and what is inside by its path', () => {
    const samples = [
      { level: 1, temperature: 20, isOn: true, servicedAt: '2026-01-01T00:00:00Z' },
      { level: 3, temperature: 21.5, isOn: false, position: { x: 1.5, tags: ['a'] } },
    ]

    expect(proposed(samples).proposal).toEqual({
      type: 'iot_sensor',
      source: { missing: [null] },
      schema: {
        level: { type: 'number' },
        temperature: { type: 'number' },
        isOn: { type: 'boolean' },
        servicedAt: { type: 'datetime' },
        position_x: { type: 'number', from: 'position.x' },
        position_tags: { type: 'array', items: { type: 'string' }, from: 'position.tags' },
      },
    })
  })

  test('has no limits and no lists of values, which the next samples would not keep', () => {
    const samples = Array.from({ length: 40 }, (_, index) => ({
      mode: ['eco', 'boost'][index % 2],
      level: index,
    }))

    expect(proposed(samples).proposal.schema).toEqual({
      mode: { type: 'string' },
      level: { type: 'number' },
    })
  })

  test.each([
    ['nine', 9, false, {}],
    ['ten', 10, true, {}],
    ['ten, of which one has something more', 10, false, { more: 1 }],
    ['ten, of which one has a null', 10, false, { other: null }],
  ])('requires an identifier that was in all of %s: %#', (_, count, isRequired, more) => {
    const samples = Array.from({ length: count }, () => ({ level: 1, deviceId: 'a', other: 'b' }))
    const [first, ...others] = samples

    const { schema } = proposed([{ ...first, ...more }, ...others]).proposal

    expect(schema['deviceId']).toEqual({ type: 'string', ...(isRequired && { required: true }) })
    expect(schema['level']).toEqual({ type: 'number' })
  })

  test.each([
    [{ ts: 1_767_225_600 }, { timestampField: 'ts', timestampFormat: 'epoch_s' }],
    [{ time: 1_767_225_600_123 }, { timestampField: 'time', timestampFormat: 'epoch_ms' }],
    [{ measured_at: '2026-01-01T00:00:00+01:00' }, { timestampField: 'measured_at' }],
    [{ timestamp: 1_767_225_600_123_456 }, { timestampFormat: 'epoch_us' }],
    [{ timestamp: '2026-01-01T00:00:00Z', ts: 1_767_225_600 }, {}],
    [{ time: '12:30' }, {}],
    [{ time: '2031-01-01T00:00:00Z' }, {}],
    [{ level: 1_767_225_600 }, {}],
  ])('finds the time of %j', (sample, source) => {
    const { proposal, misfits } = proposed([{ ...sample, temperature: 1 }])

    expect(proposal.source).toEqual({ ...source, missing: [null] })
    expect(misfits).toEqual([])
  })

  test('sets the time itself no limits', () => {
    const { schema } = proposed([{ ts: 1_767_225_600 }]).proposal

    expect(schema).toEqual({ ts: { type: 'number' } })
  })

  test('leaves out what no type fits, and says so', () => {
    const { proposal, notes, misfits } = proposed([
      { level: 1, code: 1, old: null, place: [1], password: 'x' },
      { level: 2, code: { a: 1 }, place: 'x' },
    ])

    expect(Object.keys(proposal.schema)).toEqual(['level'])
    expect(notes.map(({ path }) => path)).toEqual(['code', 'old', 'place', 'password'])
    expect(misfits).toEqual([])
  })

  test('names the samples that no stream takes', () => {
    const { misfits } = proposed([{ level: 1 }, 7, { level: 2, timestamp: 'yesterday' }])

    expect(misfits.map(({ index, error }) => [index, error])).toEqual([
      [1, 'malformed'],
      [2, 'timestamp_invalid'],
    ])
  })

  test('of samples without any field is none', () => {
    expect(() => proposed([{}, { timestamp: '2026-01-01T00:00:00Z' }])).toThrow(DomainError)
  })

  const name = fc.oneof(
    fc.constantFrom('level', 'Level', 'ts', 'time', 'count', 'a-b', 'constructor', 'x'),
    fc.stringMatching(/^[a-z]{1,4}$/),
  )
  const instant = fc
    .date({ min: new Date(0), max: new Date('2026-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString())
  const scalar = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.string({ unit: 'grapheme-ascii' }),
    instant,
  )
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 10, depthSize: 'medium' },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 5 }),
    ),
  }))
  const reading = fc.dictionary(name, value, { maxKeys: 6 })

  test('is a definition, and takes every sample', () => {
    fc.assert(
      fc.property(fc.array(reading, { minLength: 1, maxLength: 8 }), scalar, (some, level) => {
        const samples = some.map((one) => ({ ...one, always: level === null ? 1 : level }))

        const answer = proposed(samples)

        expect(answer.misfits).toEqual([])
        expect(refusedBy(answer, samples)).toEqual([])
      }),
    )
  })

  test('names exactly the samples that it does not take', () => {
    const any = fc.oneof(
      reading,
      fc.jsonValue(),
      fc.record({ timestamp: fc.oneof(instant, scalar), level: fc.integer() }),
    )
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 8 }), (some) => {
        const samples = [...some, { level: 1 }]

        const answer = proposed([...samples, { always: true }])

        expect(answer.misfits.map(({ index }) => index)).toEqual(refusedBy(answer, samples))
      }),
    )
  })

  const entry = fc.record(
    { name: fc.constantFrom('a', 'b', 'c'), value: scalar, ts: instant, n: fc.integer() },
    { requiredKeys: ['name'] },
  )
  const lists = fc.oneof(
    fc.array(entry, { maxLength: 5 }),
    fc.array(fc.array(scalar, { maxLength: 3 }), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('C8:25:2D:8E:9C:2C', 'C8:25:2D:8E:9C:2D', 'x'), entry),
    fc.record({ time: fc.array(instant, { maxLength: 3 }), level: fc.array(scalar) }),
  )
  const enclosing = fc.record(
    { readings: lists, data: fc.record({ values: lists }), id: scalar, timestamp_ms: scalar },
    { requiredKeys: [] },
  )

  test('of messages with lists is a definition, and takes all that a stream can take', () => {
    const message = fc.oneof(enclosing, fc.array(entry, { maxLength: 4 }), lists, reading)
    fc.assert(
      fc.property(alike(message, enclosing, lists), (some) => {
        const sent = some.map((one) => {
          return { topic: 'a/b', payload: Buffer.from(JSON.stringify(one)) }
        })
        const samples = samplesOfMessages(sent, nowUs)

        const { proposal, misfits } = proposeStream(samples, { judgeOf, nowUs })
        const again = proposeStream(samples, { judgeOf, nowUs })
        parseDefinition({ name: 'boiler', vaultId, ...proposal })

        expect(again.proposal).toEqual(proposal)
        // What no stream takes: elements that are no objects, and a time of the usual name that is none.
        const known = ['malformed', 'timestamp_invalid']
        expect(misfits.filter(({ error }) => !known.includes(error))).toEqual([])
      }),
    )
  })
})
