import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTree } from '../../../console/src/formats/json-tree.ts'
import { markedParts, placed } from '../../../console/src/quarantine/marks.ts'

const text = '{"a":{"b":"hot"},"c":[1,2]}'

function partsOf(paths: readonly string[], shown = text) {
  const details = paths.map((path) => ({ path, message: `${path} is wrong` }))
  return markedParts(shown, placed(readTree(text), details))
}

describe('the marks of a text', () => {
  test('are at the values that are wrong, and say why', () => {
    expect(partsOf(['a.b', 'c.1'])).toEqual([
      { text: '{"a":{"b":' },
      { text: '"hot"', problem: 'a.b is wrong' },
      { text: '},"c":[1,' },
      { text: '2', problem: 'c.1 is wrong' },
      { text: ']}' },
    ])
  })

  test('never change the text, whatever is marked, and however much of it is shown', () => {
    const paths = fc.array(fc.constantFrom('', 'a', 'a.b', 'c', 'c.0', 'c.1', 'c.9', 'x', 'a.b.c'))
    fc.assert(
      fc.property(paths, fc.nat(text.length), (some, length) => {
        const shown = text.slice(0, length)
        const parts = partsOf(some, shown)
        expect(parts.map((part) => part.text).join('')).toBe(shown)
      }),
    )
  })

  test('are none for what the definition is at fault for', () => {
    const [detail] = placed(readTree('{"processing":{"transform":1}}'), [
      { path: 'processing.transform', message: 'failed' },
    ])

    expect(detail?.found).toBeUndefined()
  })
})
