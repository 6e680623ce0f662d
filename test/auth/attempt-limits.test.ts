import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AttemptLimits, tokenRates } from '../../src/access/auth/attempt-limits.ts'
import { DomainError } from '../../src/core/errors.ts'
import { RateLimiter } from '../../src/core/rate-limiter.ts'

/** Time that does not pass. */
const standing = () => 1_000

describe('a rate', () => {
  test('lets the burst through at once, and then one for each interval', () => {
    let passedMs = 0
    const limiter = new RateLimiter({ burst: 3, perSecond: 1 / 5 }, () => passedMs)
    for (let count = 0; count < 3; count++) {
      expect(limiter.waitS('one')).toBe(0)
      limiter.count('one')
    }

    expect(limiter.waitS('one')).toBe(5)
    expect(limiter.waitS('another')).toBe(0)
    passedMs = 4_999
    expect(limiter.waitS('one')).toBe(1)
    passedMs = 5_000
    expect(limiter.waitS('one')).toBe(0)
  })

  test('is never exceeded over any time, and has come back when it said', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 200 })
    fc.assert(
      fc.property(gaps, (waits) => {
        const rate = { burst: 5, perSecond: 2 }
        let nowMs = 0
        const limiter = new RateLimiter(rate, () => nowMs)
        const taken: number[] = []
        let atMs = 0
        for (const wait of waits) {
          atMs += wait
          nowMs = atMs
          const waitS = limiter.waitS('one')
          nowMs += waitS * 1_000
          expect(limiter.waitS('one')).toBe(0)
          nowMs = atMs
          if (waitS > 0) continue
          limiter.count('one')
          taken.push(atMs)
        }
        for (const [index, fromMs] of taken.entries()) {
          for (const [later, untilMs] of taken.slice(index).entries()) {
            const allowed = rate.burst + ((untilMs - fromMs) / 1_000) * rate.perSecond
            expect(later + 1).toBeLessThanOrEqual(allowed + 1e-6)
          }
        }
      }),
    )
  })
})

/** How a failed attempt ends: undefined within the rate. */
function failure(limits: AttemptLimits, address: string, keyId: string): number | undefined {
  try {
    limits.assertMayTry(address, keyId)
    limits.failed(address, keyId)
    return undefined
  } catch (error) {
    if (error instanceof DomainError && error.code === 'rate_limited') return error.retryAfter
    throw error
  }
}

function mayTry(limits: AttemptLimits, address: string, keyId: string): boolean {
  try {
    limits.assertMayTry(address, keyId)
    return true
  } catch {
    return false
  }
}

describe('the limits of logins', () => {
  test('close a key to an address after its failures, but to no other address', () => {
    const limits = new AttemptLimits(standing)
    const { burst } = tokenRates.failuresOfPair
    for (let count = 0; count < burst; count++) {
      expect(failure(limits, '192.0.2.1', 'key')).toBeUndefined()
    }

    expect(failure(limits, '192.0.2.1', 'key')).toBeGreaterThan(0)
    expect(mayTry(limits, '192.0.2.1', 'key')).toBe(false)
    expect(mayTry(limits, '192.0.2.1', 'another')).toBe(true)
    expect(mayTry(limits, '192.0.2.2', 'key')).toBe(true)
  })

  test('turn failures of an address away, whatever keys it names, and keep nobody else out', () => {
    const limits = new AttemptLimits(standing)
    const { burst } = tokenRates.failuresOfAddress
    for (let count = 0; count < burst; count++) {
      expect(failure(limits, '192.0.2.1', `key ${count}`)).toBeUndefined()
    }

    expect(failure(limits, '192.0.2.1', 'one more')).toBeGreaterThan(0)
    expect(mayTry(limits, '192.0.2.1', 'of a neighbour')).toBe(true)
    expect(failure(limits, '192.0.2.2', 'one more')).toBeUndefined()
  })

  test('turn failures of a key away, from wherever, and do not keep its owner out', () => {
    const limits = new AttemptLimits(standing)
    const { burst } = tokenRates.failuresOfKey
    for (let count = 0; count < burst; count++) {
      expect(failure(limits, `192.0.2.${count}`, 'key')).toBeUndefined()
    }

    expect(failure(limits, '198.51.100.1', 'key')).toBeGreaterThan(0)
    expect(mayTry(limits, '198.51.100.2', 'key')).toBe(true)
  })

  test('stop a key that asks for tokens without end', () => {
    const limits = new AttemptLimits(standing)
    for (let count = 0; count < tokenRates.tokensOfKey.burst; count++) {
      limits.assertMayTry('192.0.2.1', 'key')
      limits.succeeded('192.0.2.1', 'key')
    }

    expect(mayTry(limits, '192.0.2.9', 'key')).toBe(false)
    expect(mayTry(limits, '192.0.2.1', 'another')).toBe(true)
  })

  test.each([
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff:ffff:ffff:ffff', true],
    ['2001:db8:0:1::1', '2001:db8::1:0:0:0:2', true],
    ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2', false],
    ['::1', '::2', true],
  ])('take %s and %s for one sender: %s', (one, other, isSame) => {
    const limits = new AttemptLimits(standing)
    for (let count = 0; count < tokenRates.failuresOfPair.burst; count++) {
      failure(limits, one, 'key')
    }

    expect(mayTry(limits, other, 'key')).toBe(!isSame)
  })
})
