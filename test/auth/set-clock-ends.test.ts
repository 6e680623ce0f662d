import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { KeyDirectory } from '../../src/access/auth/key-directory.ts'
import { LimitedKeys } from '../../src/access/auth/limited-keys.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { SigningKeys } from '../../src/access/auth/signing-keys.ts'
import { Tokens, tokenLifetimeS } from '../../src/access/auth/tokens.ts'
import { newId, type UserId } from '../../src/core/ids.ts'
import { dayUs, movesOf, secondUs, steps } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

/*
 * The end of a credential was told to somebody: it is an instant of the wall clock. What is remembered of a credential
 * must not make it good for longer, or for less long, than it is where nothing is remembered.
 */

const masterKey = new MasterKey(Buffer.alloc(32, 7))

test('however the wall clock is set, a token is good until it shows its end', async () => {
  await using tests = await TestState.open()
  await fc.assert(
    fc.asyncProperty(
      movesOf((tokenLifetimeS * secondUs) / 3),
      steps,
      async (moves, startStepUs) => {
        await tests.state.deleteFrom('signing_keys').execute()
        const clock = new HandClock()
        clock.step(startStepUs)
        const { state } = tests
        const audit = new AuditLog(state, clock)
        const signingKeys = await SigningKeys.open({
          state,
          writer: tests,
          masterKey,
          clock,
          audit,
        })
        const tokens = new Tokens({ signingKeys, clock })
        const caller = { userId: newId<UserId>(), apiKeyId: 'sv_test_1', scope: 'data:read' }
        const issuedS = Math.floor(clock.nowUs() / secondUs)
        const text = tokens.issue(caller)
        const remembered = tokens.verify(text)
        let latestUs = clock.nowUs()
        for (const { passUs, stepUs } of moves) {
          clock.atUs += passUs
          clock.step(stepUs)
          latestUs = Math.max(latestUs, clock.nowUs())
          const isGood = clock.nowUs() < (issuedS + tokenLifetimeS) * secondUs
          const afterRestart = new Tokens({ signingKeys, clock, latestUs })
          expect(tokens.isGood(remembered)).toBe(isGood)
          for (const some of [tokens, afterRestart]) {
            const verify = () => some.verify(text).apiKeyId
            if (isGood) expect(verify()).toBe('sv_test_1')
            else expect(verify).toThrow('the token has expired')
          }
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('however the wall clock is set, keys and secrets are good until it shows their ends', async () => {
  await using tests = await TestState.open()
  const { state } = tests
  const ends = fc.record({
    previousUs: fc.integer({ min: 1, max: dayUs }),
    expiresUs: fc.integer({ min: 1, max: 2 * dayUs }),
  })
  await fc.assert(
    fc.asyncProperty(movesOf(dayUs / 4), ends, async (moves, { previousUs, expiresUs }) => {
      const clock = new HandClock()
      const userId = await tests.newUser()
      const previousUntilUs = clock.nowUs() + previousUs
      const expiresAtUs = clock.nowUs() + expiresUs
      const rotated = {
        secret_digest: masterKey.digest('new'),
        previous_digest: masterKey.digest('old'),
        previous_until: previousUntilUs,
        rotated_at: clock.nowUs(),
        created_at: clock.nowUs(),
        expires_at: expiresAtUs,
      }
      const id = `sv_test_${userId}`
      const key = { id, user_id: userId, scopes: 'data:read', name: '', permission: 'custom' }
      const deviceId = `sv_dev_${userId}`
      const device = { id: deviceId, owner_id: userId, name: 'pump', name_folded: 'pump' }
      await tests.commit(
        state.insertInto('api_keys').values({ ...key, ...rotated, origin: 'api' }),
        state.insertInto('devices').values({ ...device, ...rotated, created_by: id }),
      )
      const needs = { state, writer: tests, masterKey, clock }
      const opened = async () => {
        const limited = new LimitedKeys(needs)
        await limited.lookUpId(deviceId)
        return { limited, directory: await KeyDirectory.open(needs) }
      }
      const remembered = await opened()
      for (const { passUs, stepUs } of moves) {
        clock.atUs += passUs
        clock.step(stepUs)
        const isGood = clock.nowUs() < expiresAtUs
        const isOldGood = isGood && clock.nowUs() < previousUntilUs
        for (const { limited, directory } of [remembered, await opened()]) {
          expect(directory.verify(id, 'new') !== undefined).toBe(isGood)
          expect(directory.verify(id, 'old') !== undefined).toBe(isOldGood)
          expect(limited.verify(deviceId, 'new') !== undefined).toBe(isGood)
          expect(limited.verify(deviceId, 'old') !== undefined).toBe(isOldGood)
          expect(limited.find(deviceId) !== undefined).toBe(isGood)
        }
      }
    }),
    { numRuns: 25 },
  )
})
