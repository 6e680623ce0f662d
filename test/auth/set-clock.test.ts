import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { AttemptLimits, tokenRates } from '../../src/access/auth/attempt-limits.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { SigningKeys } from '../../src/access/auth/signing-keys.ts'
import { dayUs, mistaken, mistakes, movesOf, secondUs, steps } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

/** What signing keys need, on a state that has none. */
async function withoutKeys(tests: TestState, clock: HandClock) {
  await tests.state.deleteFrom('signing_keys').execute()
  const kept = { days: 400, entries: 100, failedLogins: 10, aboutUser: 10 }
  return {
    state: tests.state,
    writer: tests,
    masterKey: new MasterKey(Buffer.alloc(32, 7)),
    clock,
    audit: new AuditLog(tests.state, clock, kept),
  }
}

test('however the wall clock is set, a signing key is accepted for as long as its overlap', async () => {
  await using tests = await TestState.open()
  const overlapS = 7_200
  const runs = fc.record({
    moves: movesOf((overlapS * secondUs) / 3),
    startStepUs: steps,
    restarts: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ moves, startStepUs, restarts }) => {
      const clock = new HandClock()
      clock.step(startStepUs)
      const needs = await withoutKeys(tests, clock)
      let keys = await SigningKeys.open(needs)
      const { kid } = keys.current
      const rotation = keys.planRotation(undefined, overlapS)
      await tests.commit(...rotation.changes)
      await rotation.afterwards()
      const endUs = clock.steadyUs() + overlapS * secondUs
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        clock.atUs += passUs
        clock.step(stepUs)
        if (restarts[place] === true) keys = await SigningKeys.open(needs)
        expect(keys.find(kid) !== undefined).toBe(clock.steadyUs() < endUs)
        expect(keys.find(keys.current.kid)).toBeDefined()
      }
    }),
    { numRuns: 20 },
  )
})

test('however the wall clock is set, another key signs after 90 days', async () => {
  await using tests = await TestState.open()
  const yearsUs = fc.integer({ min: -4_000 * dayUs, max: 4_000 * dayUs })
  const runs = fc.record({
    moves: movesOf(30 * dayUs),
    // A clock may be wrong by years before it is set right.
    stepsUs: fc.tuple(yearsUs, yearsUs),
    restarts: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ moves, stepsUs, restarts }) => {
      const clock = new HandClock()
      clock.step(stepsUs[0])
      const needs = await withoutKeys(tests, clock)
      let keys = await SigningKeys.open(needs)
      let sinceUs = clock.steadyUs()
      clock.step(stepsUs[1])
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        const { kid } = keys.current
        clock.atUs += passUs
        clock.step(stepUs)
        if (restarts[place] === true) keys = await SigningKeys.open(needs)
        await keys.rotateWhenDue()
        const isDue = clock.steadyUs() - sinceUs > 90 * dayUs
        expect(keys.current.kid !== kid).toBe(isDue)
        if (isDue) sinceUs = clock.steadyUs()
      }
    }),
    { numRuns: 20 },
  )
})

test('however far the wall clock is set forward by mistake, what is old enough leaves the audit log', async () => {
  await using tests = await TestState.open()
  await fc.assert(
    fc.asyncProperty(mistakes, async (some) => {
      await tests.state.deleteFrom('audit_log').execute()
      const clock = new HandClock()
      const kept = { days: 7, entries: 100, failedLogins: 10, aboutUser: 10 }
      const audit = new AuditLog(tests.state, clock, kept)
      const madeUs: number[] = []
      for (const mistake of some) {
        await tests.commit(audit.entry({ action: 'signing_key.rotated' }))
        madeUs.unshift(clock.nowUs())
        await mistaken(clock, mistake, () => audit.trim(tests))
        const entries = await audit.list({}, undefined, 100)
        const keptUs = madeUs.filter((atUs) => atUs > clock.nowUs() - 7 * dayUs)
        expect(entries.map(({ createdAtUs }) => createdAtUs)).toEqual(keptUs)
      }
    }),
    { numRuns: 25 },
  )
})

test('however the wall clock is set, failed logins keep out as long as they are to', () => {
  const { burst, perSecond } = tokenRates.failuresOfPair
  fc.assert(
    fc.property(movesOf(secondUs / perSecond), (moves) => {
      const clock = new HandClock()
      const limits = new AttemptLimits(clock.monotonicMs)
      const isLetIn = (): boolean => {
        try {
          limits.assertMayTry('192.0.2.1', 'key')
          return true
        } catch {
          return false
        }
      }
      for (let failure = 0; failure < burst; failure++) limits.countFailure('192.0.2.1', 'key')
      const freeUs = clock.steadyUs() + secondUs / perSecond
      for (const { passUs, stepUs } of moves) {
        clock.atUs += passUs
        clock.step(stepUs)
        const isNear = Math.abs(clock.steadyUs() - freeUs) < secondUs / 100
        if (!isNear) expect(isLetIn()).toBe(clock.steadyUs() > freeUs)
      }
    }),
  )
})
