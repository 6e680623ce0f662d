import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FilterTree } from '../../src/core/filter-tree.ts'
import { TopicTree } from '../../src/ingest/mqtt-sessions/topic-tree.ts'

const level = fc.constantFrom('', 'a', 'b', '$c')
const topics = fc.array(level, { minLength: 1, maxLength: 4 }).map((levels) => levels.join('/'))
const filters = fc
  .tuple(
    fc.array(fc.oneof(level, fc.constant('+')), { minLength: 0, maxLength: 4 }),
    fc.constantFrom('#', '+', 'a', ''),
  )
  .map(([levels, last]) => [...levels, last].join('/'))

/** Section 4.7, level by level. */
function matches(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && /^[+#]/.test(filter)) return false
  const wanted = filter.split('/')
  const given = topic.split('/')
  for (const [depth, one] of wanted.entries()) {
    if (one === '#') return true
    if (depth >= given.length) return false
    if (one !== '+' && one !== given[depth]) return false
  }
  // "a/#" is met by "a", too: then all of the topic was looked at before the wildcard.
  return wanted.length === given.length
}

function fits(filter: string, topic: string): boolean {
  return matches(filter, topic) || (filter.endsWith('/#') && matches(filter.slice(0, -2), topic))
}

interface Step {
  readonly filter: string
  readonly holder: string
  /** Undefined: the filter is given up. */
  readonly qos: number | undefined
}

const steps = fc.array(
  fc.record<Step>({
    filter: filters,
    holder: fc.constantFrom('ada', 'bob'),
    qos: fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined }),
  }),
)

describe('a tree of filters', () => {
  test('finds who has a filter that matches, with the highest QoS', () => {
    fc.assert(
      fc.property(steps, topics, (changes, topic) => {
        const tree = new FilterTree<string>()
        const kept = new Map<string, Step>()
        for (const step of changes) {
          const { filter, holder, qos } = step
          if (qos === undefined) {
            tree.delete(filter, holder)
            kept.delete(`${holder} ${filter}`)
          } else {
            tree.set(filter, holder, qos)
            kept.set(`${holder} ${filter}`, step)
          }
        }
        const expected = new Map<string, number>()
        for (const { filter, holder, qos = 0 } of kept.values()) {
          if (fits(filter, topic)) expected.set(holder, Math.max(expected.get(holder) ?? 0, qos))
        }
        expect(tree.match(topic)).toEqual(expected)
        expect(tree.matchesAny(topic)).toBe(expected.size > 0)
        for (const holder of ['ada', 'bob']) {
          expect(tree.qosOf(holder, topic)).toBe(expected.get(holder))
        }
        expect(tree.isEmpty).toBe(kept.size === 0)
      }),
    )
  })
})

describe('a tree of topics', () => {
  test('finds the topics that match a filter', () => {
    const changes = fc.array(fc.tuple(topics, fc.boolean()))
    fc.assert(
      fc.property(changes, filters, (puts, filter) => {
        const tree = new TopicTree<string>()
        const kept = new Set<string>()
        for (const [topic, isKept] of puts) {
          if (isKept) {
            tree.set(topic, topic)
            kept.add(topic)
          } else {
            tree.delete(topic)
            kept.delete(topic)
          }
        }
        const expected = [...kept].filter((topic) => fits(filter, topic))
        expect([...tree.matching(filter)].sort()).toEqual(expected.sort())
        for (const topic of kept) expect(tree.get(topic)).toBe(topic)
      }),
    )
  })
})
