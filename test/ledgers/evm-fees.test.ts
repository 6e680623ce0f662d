import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bidFor, feeRules, higherBid, marketOfAnswer } from '../../src/ledgers/evm/fees.ts'

const amount = fc.bigInt(1n, 10n ** 13n)
const market = fc.record({ baseFee: amount, tip: amount })

/** Bids that can be: a tip is a part of all that is paid. */
const anyBid = fc.tuple(amount, amount).map(([one, other]) => ({
  maxFee: one > other ? one : other,
  tip: one > other ? other : one,
}))

const gwei = 10n ** 9n

function hex(value: bigint): string {
  return `0x${value.toString(16)}`
}

describe('a bid', () => {
  test('gets in now, and stays below the cap', () => {
    fc.assert(
      fc.property(market, amount, (now, feeMax) => {
        const bid = bidFor(now, feeMax)
        if (!bid) {
          expect(now.baseFee + now.tip).toBeGreaterThan(feeMax)
          return
        }
        expect(bid.maxFee).toBeGreaterThanOrEqual(now.baseFee + bid.tip)
        expect(bid.maxFee).toBeLessThanOrEqual(feeMax)
        expect(bid.tip).toBe(now.tip)
      }),
    )
  })

  test('that is raised is 12.5 % higher in both, and never above the cap', () => {
    fc.assert(
      fc.property(anyBid, market, amount, (bid, now, feeMax) => {
        const higher = higherBid(bid, now, feeMax)
        if (!higher) {
          expect(bid.maxFee * 9n).toBeGreaterThan(feeMax * 8n)
          return
        }
        expect(higher.maxFee * 8n).toBeGreaterThanOrEqual(bid.maxFee * 9n)
        expect(higher.tip * 8n).toBeGreaterThanOrEqual(bid.tip * 9n)
        expect(higher.maxFee).toBeLessThanOrEqual(feeMax)
        expect(higher.tip).toBeLessThanOrEqual(higher.maxFee)
      }),
    )
  })

  test('goes up to what blocks ask for, where that is more', () => {
    const now = { baseFee: 50n * gwei, tip: 3n * gwei }
    const bid = { maxFee: 20n * gwei, tip: gwei }
    expect(higherBid(bid, now, 300n * gwei)).toEqual({ maxFee: 103n * gwei, tip: 3n * gwei })
  })
})

describe('what blocks of late were paid', () => {
  test('is what the middle one was', () => {
    const reward = [5n, 1n, 900n].map((paid) => [hex(paid * gwei)])
    const answer = { result: { baseFeePerGas: [hex(7n), hex(8n)], reward } }
    expect(marketOfAnswer(answer, gwei)).toEqual({ baseFee: 8n, tip: 5n * gwei })
  })

  test('is 30 gwei on Polygon at least', () => {
    const answer = { result: { baseFeePerGas: [hex(7n)], reward: [[hex(gwei)]] } }
    expect(marketOfAnswer(answer, feeRules.POLYGON_POS.tipMin).tip).toBe(30n * gwei)
  })

  test('is the floor where nobody has paid anything', () => {
    expect(marketOfAnswer({ result: { baseFeePerGas: [hex(7n)], reward: null } }, 4n).tip).toBe(4n)
  })
})
