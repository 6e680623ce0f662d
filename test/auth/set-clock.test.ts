import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { AttemptLimits, tokenRates } from '../../src/access/auth/attempt-limits.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { SigningKeys } from '../../src/access/auth/signing-keys.ts'
import { movesOf, secondUs, steps } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

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
      await tests.state.deleteFrom('signing_keys').execute()
      const clock = new HandClock()
      clock.step(startStepUs)
      const kept = { days: 400, entries: 100, failedLogins: 10, aboutUser: 10 }
      const needs = {
        state: tests.state,
        writer: tests,
        masterKey: new MasterKey(Buffer.alloc(32, 7)),
        clock,
        audit: new AuditLog(tests.state, clock, kept),
      }
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
