import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Admission, type Place } from '../../connectors/mqtt-broker/guard/admission.ts'
import { type Holder, SharedBytes } from '../../connectors/mqtt-broker/guard/shared-bytes.ts'
import { BrokerTurns } from '../../connectors/mqtt-broker/guard/turns.ts'

describe('places for connections', () => {
  test('are never more than the limits say, and all are given back', () => {
    const limits = { ofAll: 6, ofAddress: 4, ofUser: 3 }
    const step = fc.record({
      address: fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1', '2001:db8::2'),
      user: fc.constantFrom('ada', 'bob', undefined),
      leaves: fc.nat(10),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const admission = new Admission(limits)
        const taken: { place: Place; network: string; user: string | undefined }[] = []
        for (const { address, user, leaves } of steps) {
          const network = address.split(':', 1).join()
          const same = taken.filter((one) => one.network === network).length
          const place = admission.enter(address)
          const isRoom = taken.length < limits.ofAll && same < limits.ofAddress
          expect(place !== undefined).toBe(isRoom)
          if (place !== undefined) {
            const ofUser = taken.filter((one) => one.user === user).length
            const isTaken = user !== undefined && place.takeFor(user)
            if (user !== undefined) expect(isTaken).toBe(ofUser < limits.ofUser)
            taken.push({ place, network, user: isTaken ? user : undefined })
          }
          taken.splice(leaves, 1)[0]?.place.leave()
          expect(admission.open).toBe(taken.length)
        }
        for (const { place } of taken) {
          place.leave()
          place.leave()
        }
        expect(admission.open).toBe(0)
        expect(admission.hasPlace('10.0.0.1')).toBe(true)
      }),
    )
  })

  test('that were refused are counted by the limit', () => {
    const admission = new Admission({ ofAll: 2, ofAddress: 1, ofUser: 1 })
    const place = admission.enter('10.0.0.1')
    admission.enter('10.0.0.1')
    const other = admission.enter('10.0.0.2')
    admission.enter('10.0.0.3')
    place?.takeFor('ada')
    other?.takeFor('ada')

    expect(admission.refused).toEqual({ all: 1, address: 1, user: 1 })
  })
})

function holder(gone: string[], name: string): Holder {
  return { giveBack: () => void gone.push(name) }
}

describe('memory that connections share', () => {
  test('is given back by the one that has held much for the longest time', () => {
    const gone: string[] = []
    const shared = new SharedBytes(100)
    shared.hold(holder(gone, 'small'), 1)
    const first = holder(gone, 'first')
    shared.hold(first, 30)
    shared.hold(holder(gone, 'second'), 50)
    shared.hold(first, 35)

    shared.hold(holder(gone, 'third'), 30)

    expect(gone).toEqual(['first'])
    expect(shared.total).toBe(81)
  })

  test('is never more than its limit', () => {
    const holding = fc.tuple(fc.nat(9), fc.nat(60))
    fc.assert(
      fc.property(fc.array(holding, { maxLength: 100 }), (steps) => {
        const shared = new SharedBytes(100)
        const held = Array.from({ length: 10 }, () => 0)
        const holders = held.map((_, index) => ({
          giveBack() {
            held[index] = 0
          },
        }))
        for (const [index, bytes] of steps) {
          held[index] = bytes
          shared.hold(holders[index] as (typeof holders)[number], bytes)
          expect(shared.total).toBeLessThanOrEqual(100)
          expect(shared.total).toBe(held.reduce((sum, one) => sum + one, 0))
        }
      }),
    )
  })
})

describe('the turns of the broker', () => {
  test('give everybody a turn, however much one of them wants', async () => {
    const turns = new BrokerTurns()
    const served: string[] = []
    const finished = Promise.withResolvers<void>()
    const want = (name: string, packets: number) => {
      let left = packets
      const go = () => {
        while (left > 0) {
          if (!turns.enter(1, go)) return
          left--
          served.push(name)
        }
        if (name === 'greedy') finished.resolve()
      }
      go()
    }
    want('greedy', 5_000)
    for (const name of ['a', 'b', 'c']) want(name, 1)
    await finished.promise

    // Each of them comes within a few turns of 200.
    expect(Math.max(...['a', 'b', 'c'].map((name) => served.indexOf(name)))).toBeLessThan(1_000)
    expect(served).toHaveLength(5_003)
    expect(turns.waiting).toBe(0)
  })

  test('make up for work that was more than expected', async () => {
    const turns = new BrokerTurns()
    turns.spend(1_000)
    let loops = 0
    const count = () => {
      loops++
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    await new Promise<void>((resolve) => {
      expect(turns.enter(1, resolve)).toBe(false)
    })
    clearImmediate(immediate)

    expect(loops).toBeGreaterThanOrEqual(4)
    expect(turns.enter(1, () => undefined)).toBe(true)
  })
})
