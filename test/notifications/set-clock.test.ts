import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { minuteUs, NotifiedUsers } from '../support/notified-users.ts'

const secondUs = 1_000_000
const dayUs = 24 * 60 * minuteUs

/** Times that pass, each followed by a step of the wall clock. */
const moves = fc.array(
  fc.record({
    passUs: fc.integer({ min: 1, max: 4 * minuteUs }),
    stepUs: fc.oneof(
      fc.integer({ min: -dayUs, max: dayUs }),
      fc.integer({ min: -secondUs, max: secondUs }),
    ),
  }),
  { minLength: 1, maxLength: 12 },
)

test('however the wall clock is set, an event is a repetition of one of the last five minutes', async () => {
  await using users = await NotifiedUsers.open()
  let runs = 0
  await fc.assert(
    fc.asyncProperty(moves, async (some) => {
      const resourceId = `vault ${runs++}`
      // The inbox takes so many a minute.
      users.nowUs += minuteUs
      let toldUs = Number.NEGATIVE_INFINITY
      for (const { passUs, stepUs } of some) {
        users.nowUs += passUs
        users.clock.step(stepUs)
        const nowUs = users.clock.steadyUs()
        const isNew = nowUs - toldUs >= 5 * minuteUs
        expect(await users.happen({ resourceId })).toBe(isNew)
        if (isNew) toldUs = nowUs
      }
    }),
    { numRuns: 15 },
  )
})
