import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FilterTree } from '../../src/core/filter-tree.ts'
import { covers } from '../../src/core/topic-filter.ts'

const level = fc.constantFrom('a', 'b', '')
const topics = fc.array(level, { minLength: 1, maxLength: 4 }).map((levels) => levels.join('/'))
const filters = fc
  .tuple(fc.array(fc.oneof(level, fc.constant('+')), { maxLength: 4 }), fc.boolean())
  .filter(([levels, isOpen]) => isOpen || levels.length > 0)
  .map(([levels, isOpen]) => [...levels, ...(isOpen ? ['#'] : [])].join('/'))

function matches(filter: string, topic: string): boolean {
  const tree = new FilterTree<string>()
  tree.set(filter, 'somebody', 1)
  return tree.matchesAny(topic)
}

test('a filter that covers another matches all that the other does', () => {
  fc.assert(
    fc.property(filters, filters, topics, (wide, narrow, topic) => {
      fc.pre(covers(wide, narrow) && matches(narrow, topic))
      expect(matches(wide, topic)).toBe(true)
    }),
  )
})

test.each([
  ['plant/+/node/#', 'plant/NCMD/node/#', true],
  ['plant/+/node/#', 'plant/NCMD/node', true],
  ['plant/+/node/#', 'plant/+/node/+', true],
  ['plant/+/node/#', 'plant/+/+', false],
  ['plant/+', 'plant/#', false],
  ['plant/#', 'plant', true],
])('%s covers %s: %s', (wide, narrow, expected) => {
  expect(covers(wide, narrow)).toBe(expected)
})
