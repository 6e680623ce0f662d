import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  placeInMessage,
  readingsMax,
  readSample,
  stepWords,
} from '../../../console/src/pages/stream/definition/samples.ts'

const reading = fc.dictionary(fc.constantFrom('a', 'b'), fc.integer(), { noNullPrototype: true })
const readings = fc.array(reading, { minLength: 1, maxLength: 20 })

describe('a sample', () => {
  test('is the same readings as a list, as lines, and as one where it is one', () => {
    fc.assert(
      fc.property(readings, (some) => {
        const list = readSample(JSON.stringify(some), {})
        const lines = readSample(some.map((one) => JSON.stringify(one)).join('\n'), {})
        expect(list).toMatchObject({ ok: true, readings: some })
        expect(lines).toMatchObject({ ok: true, readings: some })
      }),
    )
  })

  test('is one message where the stream takes a message apart', () => {
    expect(readSample('[{"a":1},{"a":2}]', { items: '$' })).toEqual({
      ok: true,
      readings: [[{ a: 1 }, { a: 2 }]],
      places: [''],
    })
  })

  test('has as many readings as can be tried', () => {
    const many = JSON.stringify(Array.from({ length: readingsMax + 1 }, () => ({ a: 1 })))

    expect(readSample(many, {})).toMatchObject({ ok: true, readings: { length: readingsMax } })
  })

  test('that is no JSON says why', () => {
    expect(readSample('{"a":', {})).toMatchObject({ ok: false })
    expect(readSample('{"a":1}\nx', {})).toMatchObject({ ok: false })
  })
})

describe('the place of a field in a message', () => {
  const schema = {
    temperature: { type: 'number', from: 'data[0].t' },
    topic: { type: 'string', from: '$topic[1]' },
  }

  test.each([
    ['temperature', 'data.0.t'],
    ['topic', 'topic'],
    ['pressure', 'pressure'],
  ])('%s is %s', (path, place) => {
    expect(placeInMessage(path, schema)).toBe(place)
  })
})

test.each([
  [{ rename: { from: 'a', to: 'b' } }, 'rename a to b'],
  [{ scale: { field: 'a', factor: 2 } }, 'scale a by 2, plus 0'],
  [{ filter: { expression: 'a > 1' } }, 'keep only where a > 1'],
  [{ derive: { field: 'b', expression: 'a + 1' } }, 'derive b = a + 1'],
  [7, '7'],
])('the step %o is told as %s', (step, words) => {
  expect(stepWords(step)).toBe(words)
})
