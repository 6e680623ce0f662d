import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LruMap } from '../../src/core/lru-map.ts'

function filled(entriesMax: number, keys: readonly number[]): LruMap<number, string> {
  const map = new LruMap<number, string>(entriesMax)
  for (const key of keys) map.set(key, `value ${key}`)
  return map
}

function present(map: LruMap<number, string>, keys: readonly number[]): number[] {
  return keys.filter((key) => map.get(key) !== undefined)
}

describe('LruMap', () => {
  test('holds the keys that were set last, and no more than its limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(fc.nat(15)), (entriesMax, keys) => {
        const youngest = [...new Set(keys.toReversed())].slice(0, entriesMax)
        const map = filled(entriesMax, keys)

        expect(map.size).toBe(youngest.length)
        expect(present(map, youngest)).toEqual(youngest)
      }),
    )
  })

  test('answers with the newest value of a key or not at all', () => {
    const action = fc.record({
      kind: fc.constantFrom('set', 'get', 'delete'),
      key: fc.nat(8),
      value: fc.nat(),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(action), (entriesMax, actions) => {
        const map = new LruMap<number, number>(entriesMax)
        const newest = new Map<number, number>()
        for (const { kind, key, value } of actions) {
          if (kind === 'get') expect([undefined, newest.get(key)]).toContain(map.get(key))
          if (kind === 'delete') map.delete(key)
          if (kind === 'delete') newest.delete(key)
          if (kind === 'set') map.set(key, value)
          if (kind === 'set') newest.set(key, value)
          expect(map.size).toBeLessThanOrEqual(entriesMax)
        }
      }),
    )
  })

  test('tells of every value that is in it no more, once, and of no other', () => {
    const action = fc.record({
      kind: fc.constantFrom('set', 'get', 'delete', 'clear'),
      key: fc.nat(8),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(action), (entriesMax, actions) => {
        const left = new Set<number>()
        const map = new LruMap<number, number>(entriesMax, undefined, (value) => {
          expect(left.delete(value)).toBe(true)
        })
        for (const [value, { kind, key }] of actions.entries()) {
          if (kind === 'get') map.get(key)
          if (kind === 'delete') map.delete(key)
          if (kind === 'clear') map.clear()
          if (kind === 'set') left.add(value)
          if (kind === 'set') map.set(key, value)
          expect(left.size).toBe(map.size)
        }
      }),
    )
  })

  test('forgets what was used least recently, and not what was set first', () => {
    const map = filled(3, [1, 2, 3])
    map.get(1)
    map.set(4, 'value 4')

    expect(present(map, [1, 2, 3, 4])).toEqual([1, 3, 4])
  })

  test('setting a key again makes it young', () => {
    const map = filled(3, [1, 2, 3])
    map.set(1, 'again')
    map.set(4, 'value 4')

    expect(present(map, [1, 2, 3, 4])).toEqual([1, 3, 4])
    expect(map.get(1)).toBe('again')
  })

  test('a deleted key is gone and makes room', () => {
    const map = filled(3, [1, 2, 3])
    map.delete(2)
    map.set(4, 'value 4')

    expect(present(map, [1, 2, 3, 4])).toEqual([1, 3, 4])
  })

  test('is no heavier than it may be, but for a single value, and forgets the oldest', () => {
    const entry = fc.tuple(fc.nat(8), fc.integer({ min: 1, max: 6 }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(entry), (max, entries) => {
        const map = new LruMap<number, number>(1_000, { of: (weight) => weight, max })
        let kept: (readonly [key: number, weight: number])[] = []
        const weightOf = () => kept.reduce((sum, [, weight]) => sum + weight, 0)
        for (const [key, weight] of entries) {
          map.set(key, weight)
          kept = [...kept.filter(([other]) => other !== key), [key, weight]]
          while (kept.length > 1 && weightOf() > max) kept.shift()
        }

        expect(map.weight).toBe(weightOf())
        expect(map.size).toBe(kept.length)
        expect(kept.filter(([key, weight]) => map.get(key) !== weight)).toEqual([])
      }),
    )
  })
})
