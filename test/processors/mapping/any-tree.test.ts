import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders } from '../../../processors/decode.ts'
import { judgeOf } from '../../../processors/index.ts'
import { mapperOf, textMappingOf } from '../../../processors/mapping/mapper.ts'
import { enclosingProblem } from '../../../processors/mapping/reserved.ts'
import type { ItemsForm, ItemsLevel } from '../../../src/contracts/mapping.ts'
import { parsePath } from '../../../src/contracts/path.ts'
import type { DecodedMessage } from '../../../src/contracts/reading.ts'
import type { FieldMap, StreamSchema } from '../../../src/contracts/stream-schema.ts'

const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1_000

const name = fc.constantFrom(
  'a',
  'b',
  'list',
  'name',
  'value',
  'time',
  'length',
  '__proto__',
  'x.y',
)

/** Stands for a text that is too long to be kept with each reading of a message. */
const longMark = '#long'

const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, 0, 1.5, -3, 1e300, true, '', 'a', 'b', '2026-01-31T09:00:00Z'),
  fc.integer({ min: 0, max: 2_000_000_000 }),
  fc.constant(longMark),
)

/** Trees in which paths of few names often lead somewhere. */
const { tree } = fc.letrec<{ tree: unknown; branch: unknown }>((tie) => ({
  tree: fc.oneof({ maxDepth: 4, depthSize: 'medium' }, scalar, tie('branch')),
  branch: fc.oneof(
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(name, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
    fc
      .uniqueArray(fc.integer({ min: 0, max: 9 }), { maxLength: 3 })
      .map((times) =>
        times.map((time) => ({ name: `a`, value: time, time: 1_769_853_000 + time })),
      ),
  ),
}))

const quoted = name.map((one) => (one.includes('.') ? `['${one}']` : one))

const path = fc
  .array(
    fc.oneof({ weight: 4, arbitrary: quoted }, fc.constantFrom('[0]', '[-1]', '[999999999]')),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((steps) => joined(steps))

function joined(steps: readonly string[]): string {
  return steps
    .map((step, index) => (index > 0 && !step.startsWith('[') ? `.${step}` : step))
    .join('')
}

const itemsPath = fc.oneof(fc.constant('$'), path)

function levelOf(as: ItemsForm): fc.Arbitrary<ItemsLevel> {
  const base = { path: itemsPath, as: fc.constant(as) }
  switch (as) {
    case 'list':
      return fc.record({ ...base, value: name })
    case 'map':
      return fc.record({ ...base, key: name, value: name })
    case 'columns':
      return fc.record(base)
    case 'rows':
      return fc.record({
        ...base,
        columns: fc.oneof(path, fc.array(fc.oneof(name, fc.constant(null)), { maxLength: 3 })),
      })
    case 'samples':
      return fc.record({ ...base, start: path, interval: fc.oneof(path, fc.double()), value: name })
    case 'pivot':
      return fc.record({ ...base, name: quoted, value: quoted, time: quoted })
    default:
      return as satisfies never
  }
}

const enclosingLevel = fc.constantFrom<ItemsForm>('list', 'map').chain(levelOf)
const last = fc
  .constantFrom<ItemsForm>('list', 'map', 'columns', 'rows', 'samples', 'pivot')
  .chain(levelOf)
const items = fc
  .tuple(fc.array(enclosingLevel, { maxLength: 2 }), last)
  .map(([before, one]) => [...before, one])

const from = fc.oneof(
  path,
  path.map((text) => (text.startsWith('[') ? `$parent${text}` : `$parent.${text}`)),
  path.map((text) => (text.startsWith('[') ? `$message${text}` : `$message.${text}`)),
  fc.constantFrom('$', '$topic[1]', '$topic[-9]'),
)

const fields: fc.Arbitrary<FieldMap> = fc.dictionary(
  fc.constantFrom('f', 'g', 'h'),
  fc.record({
    type: fc.constantFrom(
      'number' as const,
      'string' as const,
      'boolean' as const,
      'array' as const,
    ),
    from: fc.oneof(from, fc.array(from, { minLength: 1, maxLength: 3 })),
    required: fc.boolean(),
    texts: fc.constantFrom('typed' as const, 'as-sent' as const),
  }),
  { minKeys: 1, noNullPrototype: true },
)

const schema: fc.Arbitrary<StreamSchema> = fc.record({
  fields,
  validation: fc.constantFrom('lenient' as const, 'strict' as const),
  timestampField: path,
  timestampFormat: fc.constantFrom('rfc3339', 'epoch_s'),
  time: fc.record({ isRequired: fc.boolean() }),
  items,
})

/** Whether the definition of a stream could say so. */
function isSound({ fields: all, timestampField, items: levels = [] }: StreamSchema): boolean {
  const beside = levels.flatMap(({ columns, start, interval }, depth) =>
    [columns, start, interval].map((text) => ({ text, enclosing: levels.slice(0, depth + 1) })),
  )
  const paths = [timestampField, ...Object.values(all).flatMap(({ from: own = [] }) => own)]
  return [...beside, ...paths.map((text) => ({ text, enclosing: levels }))].every(
    ({ text, enclosing }) => {
      const parsed = typeof text === 'string' ? parsePath(text) : undefined
      if (parsed === undefined || 'problem' in parsed) return true
      const isBeside =
        parsed.root === 'item' &&
        enclosing.length < levels.length + 1 &&
        beside.some((one) => one.text === text)
      const begun = isBeside ? ({ ...parsed, root: 'parent', up: 1 } as const) : parsed
      return enclosingProblem(begun, enclosing) === undefined
    },
  )
}

const sound = schema.filter(isSound)

const context = { topic: 'a/b/c' }

function payloadOf(message: unknown): Buffer {
  return Buffer.from(JSON.stringify(message).replaceAll(longMark, 'x'.repeat(20_000)))
}

function decodedOf(bytes: Uint8Array): DecodedMessage {
  const decoded = decoders.json(bytes)
  if (!decoded.ok) throw new Error(decoded.problem)
  return decoded
}

/** What would be written down of each reading. */
function verdictsOf(stream: StreamSchema, message: DecodedMessage): readonly unknown[] {
  const judge = judgeOf(stream)
  return message.readings.map((reading, index) => {
    const refusal = message.refused?.get(index)
    return refusal ?? judge(reading, { receivedAtUs, futureToleranceUs: 1e15 })
  })
}

describe('any tree under any mapping', () => {
  test('gives readings, or refusals that say which path failed', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(tree), fc.dictionary(name, tree, { noNullPrototype: true })),
        schema,
        (message, stream) => {
          const payload = payloadOf(message)
          const decoded = decoders.json(payload)
          if (!decoded.ok) return
          const found = mapperOf(stream)?.(decoded, context)
          if (found === undefined) throw new Error('there is no mapping')
          // A list may be empty, or have nothing in it but what another path reads.
          const isEmpty =
            /\[\]|\{\}/.test(JSON.stringify(message)) ||
            /\$(parent|message)/.test(JSON.stringify(stream))
          if (!isEmpty) expect(found.readings.length).toBeGreaterThan(0)
          for (const { reason, details } of found.refused?.values() ?? []) {
            expect(reason).toBe('mapping_failed')
            expect(details[0]?.path).toMatch(/^source\.items/)
          }
          const asText = textMappingOf(stream)?.map(decoded, context) as DecodedMessage
          expect(verdictsOf(stream, asText)).toEqual(verdictsOf(stream, found))
        },
      ),
      { numRuns: 1_500 },
    )
  })

  test('keeps of each reading what the same mapping finds it in again', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(tree), fc.dictionary(name, tree, { noNullPrototype: true })),
        sound,
        (message, stream) => {
          const payload = payloadOf(message)
          const decoded = decoders.json(payload)
          if (!decoded.ok) return
          const found = mapperOf(stream)?.(decoded, context) as DecodedMessage
          const verdicts = verdictsOf(stream, found)
          for (const index of found.readings.keys()) {
            const { payload: bytes, place, isElement } = found.kept?.(index, payload) ?? {}
            if (bytes === undefined || isElement === true) continue
            const again = mapperOf(stream)?.(decodedOf(bytes), {
              ...context,
              place,
            }) as DecodedMessage
            expect(verdictsOf(stream, again)).toEqual([verdicts[index]])
          }
        },
      ),
      { numRuns: 1_500 },
    )
  })
})
