import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FilterRoom } from '../../src/core/filter-room.ts'

/** Takes filters as long as there is room, and says how many found some. */
function taken(room: FilterRoom, filters: Iterable<string>): number {
  let count = 0
  for (const filter of filters) {
    if (!room.hasRoomFor(filter)) return count
    room.take(filter)
    count++
  }
  return count
}

function* numbered(count: number, filterOf: (index: number) => string): Generator<string> {
  for (let index = 0; index < count; index++) yield filterOf(index)
}

/** As many ways to set wildcards as there are numbers. */
const wildcards = (index: number) =>
  Array.from(index.toString(2).padStart(8, '0'), (digit) => (digit === '1' ? '+' : 'a')).join('/')

test('a user has room for 50,000 filters', () => {
  const filters = numbered(60_000, (index) => `users/ada/devices/${index}/#`)

  expect(taken(new FilterRoom(), filters)).toBe(50_000)
})

test('a user has room for 400,000 levels', () => {
  const deep = '/a'.repeat(30)

  expect(
    taken(
      new FilterRoom(),
      numbered(20_000, (index) => `${index}${deep}`),
    ),
  ).toBe(12_903)
})

test('a user can set wildcards in 100 ways', () => {
  expect(taken(new FilterRoom(), numbered(200, wildcards))).toBe(100)
})

test('who has no room for another way to set wildcards has room for the known ones', () => {
  const room = new FilterRoom()
  taken(room, numbered(200, wildcards))

  expect(room.hasRoomFor(wildcards(150))).toBe(false)
  expect(room.hasRoomFor(wildcards(50).replaceAll('a', 'b'))).toBe(true)
})

test('what is given back is room for others', () => {
  const levels = fc.array(fc.constantFrom('a', 'b', '+'), { minLength: 1, maxLength: 12 })
  const filters = fc.array(
    levels.map((names) => names.join('/')),
    { minLength: 150, maxLength: 300 },
  )
  fc.assert(
    fc.property(filters, filters, (first, second) => {
      const room = new FilterRoom()
      const held = first.slice(0, taken(room, first))
      for (const filter of held) room.release(filter)

      expect(taken(room, second)).toBe(taken(new FilterRoom(), second))
    }),
    { numRuns: 50 },
  )
})
