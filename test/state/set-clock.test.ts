import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { RateLimiter } from '../../src/core/rate-limiter.ts'
import { TokenBucket } from '../../src/core/token-bucket.ts'
import { AnswerStore } from '../../src/requests/idempotency/answer-store.ts'
import {
  keepSteadyTime,
  latestWallUs,
  resumedSteadyUs,
} from '../../src/storage/state/steady-time.ts'
import { ReceiptStore } from '../../src/streams/data-streams/receipt-store.ts'
import { dayUs, movesOf, secondUs, steps } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

const moves = movesOf(dayUs / 8)

test('however the wall clock is set, limits last as long as they are to', () => {
  fc.assert(
    fc.property(moves, (some) => {
      const clock = new HandClock()
      const limiter = new RateLimiter({ burst: 1, perSecond: 1 / 3_600 }, clock.monotonicMs)
      const bucket = new TokenBucket({ perSecond: 1 / 3_600, burst: 1 }, clock.monotonicMs)
      limiter.count('key')
      bucket.spend(1)
      const freeUs = clock.steadyUs() + 3_600 * secondUs
      for (const { passUs, stepUs } of some) {
        clock.atUs += passUs
        clock.step(stepUs)
        const leftUs = Math.max(0, freeUs - clock.steadyUs())
        expect(Math.abs(limiter.waitS('key') - leftUs / secondUs)).toBeLessThan(1.001)
        expect(Math.abs(bucket.waitMs(1) - leftUs / 1_000)).toBeLessThan(2)
        expect(limiter.waitS('another key')).toBe(0)
      }
    }),
  )
})

test('however the wall clock is set, an Idempotency-Key is remembered for a day', async () => {
  await using tests = await TestState.open()
  const { state } = tests
  const cipher = new MasterKey(MasterKey.generate())
  const receipts = new ReceiptStore({ state, writer: tests, digests: cipher })
  const answers = new AnswerStore({ state, writer: tests, cipher })
  await fc.assert(
    fc.asyncProperty(moves, steps, async (some, startStepUs) => {
      const clock = new HandClock()
      const userId = newId<UserId>()
      const asked = { userId, key: 'key', bodyDigest: 'digest' }
      const push = { ...asked, streamId: newId<StreamId>() }
      const post = { ...asked, path: '/vaults' }
      // It may have been set before as well.
      clock.step(startStepUs)
      const receive = () => receipts.receiptOf(push, clock.nowUs(), clock.steadyUs())
      const first = await receive()
      const answer = { statusCode: 201, body: {} }
      await tests.commit(...answers.remember(post, answer, clock.steadyUs()))
      const endUs = clock.steadyUs() + dayUs
      for (const { passUs, stepUs } of some) {
        clock.atUs += passUs
        clock.step(stepUs)
        await receipts.purge(clock.steadyUs())
        await answers.purge(clock.steadyUs())
        const isRemembered = clock.steadyUs() < endUs
        expect((await answers.find(post, clock.steadyUs())) !== undefined).toBe(isRemembered)
        const receipt = await receive()
        expect(receipt.isRepeated).toBe(isRemembered)
        if (!isRemembered) return
        expect(receipt.receivedAtUs).toBe(first.receivedAtUs)
      }
    }),
    { numRuns: 30 },
  )
})

test('over restarts of one machine steady time is the time that passed, whatever the wall clock did', () => {
  fc.assert(
    fc.property(moves, (some) => {
      const clock = new HandClock()
      const now = () => ({ machineUs: clock.steadyUs() - dayUs, wallUs: clock.nowUs() })
      const beganUs = clock.steadyUs()
      let kept = { bootId: 'boot', ...now(), steadyUs: beganUs }
      for (const { passUs, stepUs } of some) {
        clock.atUs += passUs
        clock.step(stepUs)
        const here = { bootId: 'boot', ...now() }
        kept = { ...here, steadyUs: resumedSteadyUs(kept, here) }
        expect(kept.steadyUs).toBe(clock.steadyUs())
      }
    }),
  )
})

test('after a start of the machine steady time never goes back', () => {
  const instant = fc.integer({ min: 0, max: 100 * dayUs })
  fc.assert(
    fc.property(instant, instant, instant, (steadyUs, wallUs, nowUs) => {
      const kept = { bootId: 'one', machineUs: 5, steadyUs, wallUs }
      const resumed = resumedSteadyUs(kept, { bootId: 'other', machineUs: 1, wallUs: nowUs })
      expect(resumed).toBe(steadyUs + Math.max(0, nowUs - wallUs))
    }),
  )
})

test('the latest time that the wall clock has shown is remembered, however it is set', async () => {
  await using tests = await TestState.open()
  await fc.assert(
    fc.asyncProperty(moves, async (some) => {
      await tests.state.deleteFrom('steady_time').execute()
      const clock = new HandClock()
      let latestUs = 0
      for (const { passUs, stepUs } of some) {
        clock.atUs += passUs
        latestUs = Math.max(latestUs, clock.nowUs())
        await keepSteadyTime(tests.state, clock)
        expect(await latestWallUs(tests.state)).toBe(latestUs)
        clock.step(stepUs)
      }
    }),
    { numRuns: 30 },
  )
})
