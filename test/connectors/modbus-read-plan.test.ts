import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { modbusOptions } from '../../connectors/modbus/options.ts'
import { planReads } from '../../connectors/modbus/read-plan.ts'

const registers = fc.oneof(
  fc.record({
    kind: fc.constantFrom('holding', 'input'),
    type: fc.constantFrom('uint16', 'float32', 'int64'),
  }),
  fc.record({
    kind: fc.constantFrom('holding', 'input'),
    type: fc.constant('string'),
    length: fc.integer({ min: 1, max: 250 }),
  }),
  fc.record({ kind: fc.constantFrom('coil', 'discrete') }),
)

/** Near each other, so that some can be read together. */
const placed = fc.record({
  register: registers,
  address: fc.oneof(fc.nat(400), fc.nat(5_000)),
  unitId: fc.constantFrom(1, 2),
})

const items = fc.array(placed, { minLength: 1, maxLength: 40 }).map(
  (list) =>
    modbusOptions({
      endpoint: 'modbus://device',
      registers: list.map(({ register: kind, address, unitId }, index) => ({
        field: `f${index}`,
        address,
        unitId,
        ...kind,
      })),
    }).items,
)

const gaps = fc.integer({ min: 0, max: 125 })

/** Places that something covers. */
const placesOf = ({ address, count }: { readonly address: number; readonly count: number }) =>
  Array.from({ length: count }, (_, index) => address + index)

describe('the requests for some registers', () => {
  test('hold each value once, and whole, of its own unit and table', () => {
    fc.assert(
      fc.property(items, gaps, (wanted, gapMax) => {
        const planned = planReads(wanted, gapMax)
        const found = planned.flatMap((read) => read.items.map((item) => ({ read, item })))
        expect(found.map(({ item }) => item.field).toSorted()).toEqual(
          wanted.map(({ field }) => field).toSorted(),
        )
        for (const { read, item } of found) {
          expect(item).toMatchObject({ unitId: read.unitId, kind: read.kind })
          expect(placesOf(read)).toEqual(expect.arrayContaining(placesOf(item)))
        }
      }),
    )
  })

  test('are no longer than the protocol has them, and read no more than gaps that are allowed', () => {
    fc.assert(
      fc.property(items, gaps, (wanted, gapMax) => {
        for (const read of planReads(wanted, gapMax)) {
          const isBits = read.kind === 'coil' || read.kind === 'discrete'
          expect(read.count).toBeLessThanOrEqual(isBits ? 2_000 : 125)
          const needed = new Set(read.items.flatMap(placesOf))
          const places = placesOf(read)
          expect(needed).toContain(places[0])
          expect(needed).toContain(places.at(-1))
          const unneeded = places.map((place) => (needed.has(place) ? ' ' : 'x')).join('')
          for (const gap of unneeded.split(' ')) expect(gap.length).toBeLessThanOrEqual(gapMax)
        }
      }),
    )
  })

  test('are joined where they can be', () => {
    fc.assert(
      fc.property(items, gaps, (wanted, gapMax) => {
        const planned = planReads(wanted, gapMax)
        for (const [index, right] of planned.slice(1).entries()) {
          const left = planned[index] as typeof right
          if (left.unitId !== right.unitId || left.kind !== right.kind) continue
          const first = right.items[0] as (typeof right.items)[number]
          const gap = first.address - left.address - left.count
          const whole = first.address + first.count - left.address
          const isBits = left.kind === 'coil' || left.kind === 'discrete'
          expect(gap > gapMax || whole > (isBits ? 2_000 : 125)).toBe(true)
        }
      }),
    )
  })

  test.each([
    { kind: 'holding', max: 125 },
    { kind: 'coil', max: 2_000 },
  ])('for a $kind end at $max of them, and at a gap that is one too long', ({ kind, max }) => {
    const plan = (addresses: readonly number[], gapMax: number) => {
      const listed = addresses.map((address, index) => ({ field: `f${index}`, kind, address }))
      const { items: found } = modbusOptions({ endpoint: 'modbus://device', registers: listed })
      return planReads(found, gapMax).map(({ address, count }) => ({ address, count }))
    }
    const row = Array.from({ length: max }, (_, index) => index)
    expect(plan(row, 0)).toEqual([{ address: 0, count: max }])
    expect(plan([...row, max], 0)).toEqual([
      { address: 0, count: max },
      { address: max, count: 1 },
    ])
    expect(plan([0, 5], 4)).toEqual([{ address: 0, count: 6 }])
    expect(plan([0, 6], 4)).toHaveLength(2)
  })

  test('do not depend on the order of the fields', () => {
    const shuffled = items.chain((wanted) =>
      fc.tuple(
        fc.constant(wanted),
        fc.shuffledSubarray([...wanted], { minLength: wanted.length, maxLength: wanted.length }),
      ),
    )
    fc.assert(
      fc.property(shuffled, gaps, ([wanted, others], gapMax) => {
        expect(planReads(others, gapMax)).toEqual(planReads(wanted, gapMax))
      }),
    )
  })
})
