import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type Clock, ReceiptClock, systemClock } from '../../src/core/clock.ts'

class FakeClock implements Clock {
  now = 1_700_000_000_000_000

  nowUs(): number {
    return this.now
  }
}

describe('ReceiptClock', () => {
  test('gives the time of the clock', () => {
    const clock = new FakeClock()

    expect(new ReceiptClock(clock).reserve(1)).toBe(clock.now)
  })

  test('gives each microsecond once while the clock stands still', () => {
    const clock = new FakeClock()
    const receipts = new ReceiptClock(clock)

    expect([receipts.reserve(1), receipts.reserve(3), receipts.reserve(1)]).toEqual([
      clock.now,
      clock.now + 1,
      clock.now + 4,
    ])
  })

  test('comes back to the clock once that has caught up', () => {
    const clock = new FakeClock()
    const receipts = new ReceiptClock(clock)
    receipts.reserve(100)
    clock.now += 100

    expect(receipts.reserve(1)).toBe(clock.now)
  })

  test('never gives a microsecond twice, however the clock wobbles within a second', () => {
    const step = fc.record({
      forwardUs: fc.oneof(fc.nat(3), fc.nat(5_000_000)),
      wobbleUs: fc.nat(900_000),
      count: fc.integer({ min: 1, max: 1_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const clock = new FakeClock()
        const receipts = new ReceiptClock(clock)
        let steadyUs = clock.now
        let lastUs = 0
        for (const { forwardUs, wobbleUs, count } of steps) {
          steadyUs += forwardUs
          clock.now = steadyUs + wobbleUs
          const firstUs = receipts.reserve(count)
          expect(firstUs).toBeGreaterThan(lastUs)
          lastUs = firstUs + count - 1
        }
      }),
    )
  })

  test('spares time behind a message, and never so much that it comes to be used again', () => {
    const clock = new FakeClock()
    const receipts = new ReceiptClock(clock)
    const firstUs = receipts.reserve(1, 10_000)
    expect(receipts.reserve(1)).toBe(firstUs + 10_001)

    const reserved = Array.from({ length: 1_000 }, () => receipts.reserve(1, 10_000))
    expect(new Set(reserved).size).toBe(1_000)
  })

  test('bridges a clock that was set back by less than a second', () => {
    const clock = new FakeClock()
    const receipts = new ReceiptClock(clock)
    const beforeUs = receipts.reserve(1)
    clock.now -= 999_999

    expect(receipts.reserve(1)).toBe(beforeUs + 1)
  })

  test('believes a clock that was set back by an hour', () => {
    const clock = new FakeClock()
    const receipts = new ReceiptClock(clock)
    receipts.reserve(1)
    clock.now -= 3_600_000_000

    expect(receipts.reserve(1)).toBe(clock.now)
  })
})

describe('systemClock', () => {
  test('counts whole microseconds since the epoch', () => {
    const beforeMs = Date.now()
    const nowUs = systemClock.nowUs()

    expect(Number.isSafeInteger(nowUs)).toBe(true)
    expect(Math.abs(nowUs / 1000 - beforeMs)).toBeLessThan(1_000)
  })

  test('shows the same steady time in a thread that has lost its turn while it began', async () => {
    const { hrtime } = process
    const turn = vi.spyOn(process, 'hrtime').mockImplementationOnce(() => {
      const now = hrtime()
      const untilMs = performance.now() + 50
      while (performance.now() < untilMs);
      return now
    })
    vi.resetModules()
    const thread = await import('../../src/core/clock.ts')
    expect(turn).toHaveBeenCalled()
    turn.mockRestore()

    thread.goOnFrom({ steadyUs: 0, machineUs: thread.machineUs() })

    expect(Math.abs(thread.systemClock.steadyUs())).toBeLessThan(25_000)
  })
})
