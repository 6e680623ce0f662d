import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import { DomainError } from '../../src/core/errors.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { parseDefinition, schemaOf } from '../../src/streams/data-streams/definition.ts'
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

/** The samples that a stream of the proposal would refuse, judged anew. */
function refusedBy({ proposal }: Proposed, samples: readonly unknown[]): number[] {
  const definition = parseDefinition({ name: 'boiler', vaultId, ...proposal })
  const judge = judgeOf(schemaOf(definition))
  const receipt = { receivedAtUs: nowUs, futureToleranceUs: 0 }
  return [...samples.keys()].filter((index) => !judge(samples[index], receipt).accepted)
}

describe('a proposal', () => {
  test('has types, limits, what is always there, and what is inside', () => {
    const samples = [
      { level: 1, temperature: 20, isOn: true, servicedAt: '2026-01-01T00:00:00Z' },
      { level: 3, temperature: 21.5, isOn: false, position: { x: 1.5, tags: ['a'] } },
    ]

    expect(proposed(samples).proposal).toEqual({
      type: 'iot_sensor',
      source: {},
      schema: {
        level: { type: 'integer', min: 1, max: 3, required: true },
        temperature: { type: 'number', min: 20, max: 21.5, required: true },
        isOn: { type: 'boolean', required: true },
        servicedAt: { type: 'datetime' },
        position: {
          type: 'object',
          fields: {
            x: { type: 'number', min: 1.5, max: 1.5, required: true },
            tags: { type: 'array', items: { type: 'string' }, required: true },
          },
        },
      },
    })
  })

  test('lists the values of a text that has few of them', () => {
    const samples = Array.from({ length: 20 }, (_, index) => ({
      mode: ['eco', 'boost'][index % 2],
      serial: `b-${index}`,
    }))

    expect(proposed(samples).proposal.schema).toEqual({
      mode: { type: 'string', enum: ['boost', 'eco'], required: true },
      serial: { type: 'string', required: true },
    })
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

    expect(proposal.source).toEqual(source)
    expect(misfits).toEqual([])
  })

  test('sets the time itself no limits', () => {
    const { schema } = proposed([{ ts: 1_767_225_600 }]).proposal

    expect(schema).toEqual({ ts: { type: 'integer', required: true } })
  })

  test('leaves out what no type fits, and says so', () => {
    const { proposal, notes, misfits } = proposed([
      { level: 1, code: 1, old: null, 'a-b': 1, count: 1 },
      { level: 2, code: 'x' },
    ])

    expect(Object.keys(proposal.schema)).toEqual(['level'])
    expect(notes.map(({ path }) => path)).toEqual(['code', 'old', 'a-b', 'count'])
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

  test('lists no texts of a field that has a long one, too', () => {
    const notes = ['x'.repeat(250), 'y'.repeat(101), 'z'.repeat(100)].map((note) => [note, 'ok'])
    for (const texts of notes) {
      const samples = Array.from({ length: 40 }, (_, index) => ({ note: texts[index % 2] }))
      const answer = proposed(samples)
      const isShort = texts[0]?.length === 100
      const values = isShort ? { enum: ['ok', texts[0]] } : {}
      expect(answer.proposal.schema).toEqual({
        note: { type: 'string', required: true, ...values },
      })
      expect(answer.misfits).toEqual([])
    }
    const always = Array.from({ length: 40 }, () => ({ note: 'x'.repeat(250) }))
    expect(proposed(always).misfits).toEqual([])
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
})
