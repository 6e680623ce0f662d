import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  kindAccepted,
  kindAlertAction,
  kindAlertTimer,
  kindDowntime,
  kindFleetRules,
  kindQuarantined,
  kindRedriven,
} from '../../../src/ingest/pipeline/entry.ts'
import { type Pick, type Step, step } from './history-steps.ts'
import { type Rules, rulesFirst } from './stream-history.ts'
import { Life, World } from './stream-life.ts'

const world = new World()

afterAll(() => world.end())

/** Not cut off by anything. */
const killAfterTurns = undefined

/** Readings that follow each other by a second. */
function push(...values: readonly number[]): Step {
  const picks = values.map(
    (value): Pick => ({ value, hasPlace: false, ahead: 1, again: undefined }),
  )
  return { kind: 'push', picks, killAfterTurns }
}

/** The one that was sent as the `n`th, once more. */
function pushAgain(n: number): Step {
  const picks = [{ value: 0, hasPlace: false, ahead: 0, again: n }]
  return { kind: 'push', picks, killAfterTurns }
}

function put(rules: Partial<Rules>): Step {
  return { kind: 'put', rules: { ...rulesFirst, ...rules }, killAfterTurns }
}

test('a history of readings that repeat others drops some, and adds up', async () => {
  await world.up()
  const life = new Life(world, await world.api.createVault())
  await life.create()
  const after = async (...steps: readonly Step[]) => {
    for (const taken of steps) await life.live(taken)
    return await life.check()
  }

  const deduplicated = { deduplicate: true, filtersBelow: 5 }
  const pushed = await after(put(deduplicated), push(12, 12, 12, 40, 40, 2, 40, 90))
  const redriven = await after(
    put({ ...deduplicated, valueMax: 100 }),
    { kind: 'redrive', killAfterTurns },
    push(90),
  )
  // Dropped ones: one of them may be the next of the stream, the other one is late by now.
  const sentAgain = await after(pushAgain(8), pushAgain(1))
  const nextWindow = await after(push(...Array.from({ length: 12 }, () => 90)))
  const keepsAll = await after(put({ valueMax: 100 }), push(90, 90))
  const again = await after(put({ ...deduplicated, valueMax: 100 }), push(90, 90))
  const removed = await after({ kind: 'clearRange', from: 24, to: 60, killAfterTurns }, push(90))
  const killed = await after({ ...push(90, 90), killAfterTurns: 40 })

  expect(pushed).toMatchObject({ stored: 2, unchanged: 4, filtered: 1, quarantined: 1 })
  expect(redriven).toMatchObject({ stored: 3, unchanged: 5, quarantined: 0 })
  expect(sentAgain).toMatchObject({ stored: 4, unchanged: 6, duplicates: 0 })
  expect(nextWindow).toMatchObject({ stored: 5, unchanged: 17 })
  expect(keepsAll).toMatchObject({ stored: 7, unchanged: 17 })
  expect(again).toMatchObject({ stored: 8, unchanged: 18 })
  // What was removed stands for nothing.
  expect(removed).toMatchObject({ stored: 9, unchanged: 18 })
  expect([20, 22]).toContain(killed.unchanged)
})

test('any sequence of readings, versions, redrives, removals, pauses, deletions and kills adds up', async () => {
  await world.up()
  const vaultId = await world.api.createVault()

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 30 }), async (steps) => {
      const life = new Life(world, vaultId)
      await life.create()
      for (const [index, taken] of steps.entries()) {
        await life.live(taken)
        if (index % 4 === 3) await life.check()
      }
      await life.check()
    }),
    { numRuns: 8, seed: 20_261_121, endOnFailure: true },
  )

  expect(world.kills).toBeGreaterThan(10)
  // What alerts have put into the journal is no reading, and was counted as none.
  const ofReadings = [kindAccepted, kindQuarantined, kindRedriven]
  const ofPeople = [kindAlertAction, kindFleetRules]
  const all = [...ofReadings, ...ofPeople, kindAlertTimer, kindDowntime]
  expect([...world.kinds()]).toEqual(expect.arrayContaining(all))
})
