import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { isSignedBy, signed } from '../../src/ledgers/signatures/check-signature.ts'
import { ContentKeys } from '../../src/twins/signatures/content-keys.ts'
import { dayUs, movesOf } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

/** What keys for content need, on a state that has none. */
async function withoutKeys(tests: TestState, clock: HandClock) {
  await tests.state.deleteFrom('content_keys').execute()
  return {
    state: tests.state,
    writer: tests,
    masterKey: new MasterKey(Buffer.alloc(32, 7)),
    clock,
    audit: new AuditLog(tests.state, clock),
  }
}

async function keptPrivately(tests: TestState): Promise<readonly string[]> {
  const rows = await tests.state
    .selectFrom('content_keys')
    .select('kid')
    .where('private_key_encrypted', 'is not', null)
    .execute()
  return rows.map(({ kid }) => kid)
}

test('another key signs after 90 days, and the one before goes on to be published', async () => {
  await using tests = await TestState.open()
  const clock = new HandClock()
  const keys = await ContentKeys.open(await withoutKeys(tests, clock))
  const { key: first, privateKey } = keys.current
  const signature = signed('text', privateKey)
  clock.atUs += 90 * dayUs
  await keys.rotateWhenDue()
  expect(keys.current.key.id).toBe(first.id)

  clock.atUs += 1
  await keys.rotateWhenDue()

  const second = keys.current.key
  expect(second.id).not.toBe(first.id)
  const published = keys.publicKeys().keys
  expect(published.map(({ kid }) => kid)).toEqual([second.id, first.id])
  expect(published.map((key) => key.retired_at)).toEqual([null, published[0]?.created_at])
  expect(isSignedBy(first, 'text', signature)).toBe(true)
  expect(await keptPrivately(tests)).toEqual([second.id])
  expect([first, second].every(({ id }) => keys.isOwn(id))).toBe(true)
})

test('however the wall clock is set, another key signs after 90 days, and is the first that is shown', async () => {
  await using tests = await TestState.open()
  const runs = fc.record({
    moves: movesOf(30 * dayUs),
    stepUs: fc.integer({ min: -4_000 * dayUs, max: 4_000 * dayUs }),
    restarts: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ moves, stepUs: startUs, restarts }) => {
      const clock = new HandClock()
      const needs = await withoutKeys(tests, clock)
      let keys = await ContentKeys.open(needs)
      let sinceUs = clock.steadyUs()
      let made = 1
      clock.step(startUs)
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        const { id } = keys.current.key
        clock.atUs += passUs
        clock.step(stepUs)
        if (restarts[place] === true) keys = await ContentKeys.open(needs)
        await keys.rotateWhenDue()
        const isDue = clock.steadyUs() - sinceUs > 90 * dayUs
        expect(keys.current.key.id !== id).toBe(isDue)
        if (isDue) {
          sinceUs = clock.steadyUs()
          made++
        }
        const published = keys.publicKeys().keys
        expect(published).toHaveLength(made)
        expect(published[0]?.kid).toBe(keys.current.key.id)
        expect(await keptPrivately(tests)).toEqual([keys.current.key.id])
      }
    }),
    { numRuns: 20 },
  )
})

test('when there are as many as there can be, the last one goes on to sign', async () => {
  await using tests = await TestState.open()
  const clock = new HandClock()
  const needs = await withoutKeys(tests, clock)
  await ContentKeys.open(needs)
  const retired = { x: 'x', private_key_encrypted: null, created_at: 0, signing_since: 0 }
  const older = Array.from({ length: 999 }, (_, at) => ({
    ...retired,
    kid: `key ${at}`,
    retired_at: 1,
  }))
  await tests.commit(tests.state.insertInto('content_keys').values(older))
  const keys = await ContentKeys.open(needs)
  const { id } = keys.current.key
  clock.atUs += 91 * dayUs

  await keys.rotateWhenDue()

  expect(keys.current.key.id).toBe(id)
  const { changes, refusal } = keys.planRotation(undefined)
  expect(await tests.attempt(...changes)).toBe(false)
  expect((await refusal()).code).toBe('conflict')
  expect(await keptPrivately(tests)).toEqual([id])
})
