import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bidFor, higherBid, marketOfAnswers } from '../../src/ledgers/evm/fees.ts'

const amount = fc.bigInt(1n, 10n ** 13n)
const market = fc.record({ baseFee: amount, tip: amount })

/** Where there is but one price. */
const onePrice = fc.record({ baseFee: amount })

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
        expect(bid.maxFee).toBeGreaterThanOrEqual(now.baseFee + now.tip)
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
        const { tip = 0n } = higher
        expect(tip * 8n).toBeGreaterThanOrEqual(bid.tip * 9n)
        expect(higher.maxFee).toBeLessThanOrEqual(feeMax)
        expect(tip).toBeLessThanOrEqual(higher.maxFee)
      }),
    )
  })

  test('goes up to what blocks ask for, where that is more', () => {
    const now = { baseFee: 50n * gwei, tip: 3n * gwei }
    const bid = { maxFee: 20n * gwei, tip: gwei }
    expect(higherBid(bid, now, 300n * gwei)).toEqual({ maxFee: 103n * gwei, tip: 3n * gwei })
  })

  test('is the one price where there is no other, and no more', () => {
    fc.assert(
      fc.property(onePrice, amount, (now, feeMax) => {
        const bid = bidFor(now, feeMax)
        expect(bid).toEqual(now.baseFee > feeMax ? undefined : { maxFee: now.baseFee })
      }),
    )
  })

  test('of one price that is raised is 12.5 % higher, or what is asked for, and never above the cap', () => {
    fc.assert(
      fc.property(amount, fc.oneof(onePrice, market), amount, (maxFee, now, feeMax) => {
        const higher = higherBid({ maxFee }, now, feeMax)
        if (!higher) {
          expect(maxFee * 9n).toBeGreaterThan(feeMax * 8n)
          return
        }
        expect(Object.keys(higher)).toEqual(['maxFee'])
        expect(higher.maxFee * 8n).toBeGreaterThanOrEqual(maxFee * 9n)
        expect(higher.maxFee).toBeLessThanOrEqual(feeMax)
        if (now.baseFee <= feeMax) expect(higher.maxFee).toBeGreaterThanOrEqual(now.baseFee)
      }),
    )
  })
})

/** What a node says to `marketCalls`. */
function answersOf(history: object, price = hex(9n), latest: object = { baseFeePerGas: '0x1' }) {
  return [{ result: history }, { result: price }, { result: latest }]
}

describe('what blocks of late were paid', () => {
  test('is what the middle one was', () => {
    const reward = [5n, 1n, 900n].map((paid) => [hex(paid * gwei)])
    const answers = answersOf({ baseFeePerGas: [hex(7n), hex(8n)], reward })
    expect(marketOfAnswers(answers, 'ETHEREUM')).toEqual({ baseFee: 8n, tip: 5n * gwei })
  })

  test('is 30 gwei on Polygon at least', () => {
    const answers = answersOf({ baseFeePerGas: [hex(7n)], reward: [[hex(gwei)]] })
    expect(marketOfAnswers(answers, 'POLYGON_POS').tip).toBe(30n * gwei)
  })

  test('is the floor where nobody has paid anything', () => {
    const answers = answersOf({ baseFeePerGas: [hex(7n)], reward: null })
    expect(marketOfAnswers(answers, 'ETHEREUM').tip).toBe(gwei / 100n)
  })

  test.each([
    ['leaves out the base fee', {}],
    ['says that the base fee is null', { baseFeePerGas: null }],
  ])('is one price where a block %s, whether or not there is a history', (_, latest) => {
    const error = { error: { code: -32601, data: undefined } }
    const [, price, block] = answersOf({}, hex(9n), latest)
    const answers = [error, price ?? error, block ?? error]
    expect(marketOfAnswers(answers, 'ETHEREUM')).toEqual({ baseFee: 9n })
  })

  test('is one price on Polygon zkEVM, whatever its nodes say', () => {
    const answers = answersOf({ baseFeePerGas: [hex(7n)], reward: [[hex(gwei)]] })
    expect(marketOfAnswers(answers, 'POLYGON_ZKEVM')).toEqual({ baseFee: 9n })
  })

  test('is not known where the node does not say it', () => {
    const error = { error: { code: -32005, data: undefined } }
    const [, price, block] = answersOf({})
    expect(() => marketOfAnswers([error, price ?? error, block ?? error], 'ETHEREUM')).toThrow(
      'the node answers with the error -32005',
    )
  })
})
