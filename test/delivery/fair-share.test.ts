import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairShare } from '../../src/telling/delivery/fair-share.ts'

/** Users who take all that they get, one at a time, until none of them gets any more. */
function hungry(share: FairShare, users: number): readonly number[] {
  const got = Array.from({ length: users }, () => 0)
  for (let isGiven = true; isGiven; ) {
    isGiven = false
    for (let user = 0; user < users; user++) {
      if (share.roomFor(`user ${user}`) === 0) continue
      share.add(`user ${user}`, 1)
      got[user] = (got[user] ?? 0) + 1
      isGiven = true
    }
  }
  return got
}

describe('a fair share', () => {
  test('is the same for all who want everything, with as much left for who comes next', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), (users) => {
        const share = new FairShare(1_000)
        const got = hungry(share, users)
        const fair = 1_000 / (users + 1)
        for (const one of got) expect(Math.abs(one - fair)).toBeLessThanOrEqual(1)
        const left = share.roomFor('who comes next')
        expect(left).toBeGreaterThanOrEqual(Math.floor((fair - 1) / 2))
        expect(share.total + left).toBeLessThanOrEqual(1_000)
      }),
    )
  })

  test('is never more than there is, nor more than one user may have', () => {
    const share = new FairShare(100, 30)
    expect(share.roomFor('ada')).toBe(30)
    expect(hungry(share, 1)).toEqual([30])
    expect(new FairShare(100).roomFor('ada')).toBe(50)
  })

  test('is all there again once everything was given back', () => {
    const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.nat({ max: 40 })))
    fc.assert(
      fc.property(changes, (wishes) => {
        const share = new FairShare(100, 60)
        const given = wishes.map(([user, wish]) => {
          const count = Math.min(wish, share.roomFor(`user ${user}`))
          share.add(`user ${user}`, count)
          expect(share.total).toBeLessThanOrEqual(100)
          return [`user ${user}`, count] as const
        })
        for (const [user, count] of given) share.remove(user, count)
        expect([share.total, share.roomFor('user 0')]).toEqual([0, 50])
      }),
    )
  })
})
