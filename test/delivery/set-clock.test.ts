import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { movesOf, secondUs } from '../support/clock-moves.ts'
import { LocalDeliveries } from '../support/local-deliveries.ts'
import { answering } from '../support/receiver.ts'
import { testReceiver } from '../support/test-receiver.ts'

/** A webhook that nobody says anything of is taken to be as it was for so long. */
const freshUs = secondUs / 4

const receiver = await testReceiver()

test('however the wall clock is set, a webhook is looked at anew in time', async () => {
  await using local = await LocalDeliveries.open(receiver)
  const { clock } = local
  const webhook = await local.webhook({ url: receiver.url })
  let changes = 0
  await fc.assert(
    fc.asyncProperty(movesOf(freshUs), async (moves) => {
      let known = ''
      let readUs = Number.NEGATIVE_INFINITY
      // Nothing is at hand of the run before.
      clock.atUs += freshUs
      for (const { passUs, stepUs } of moves) {
        clock.atUs += passUs
        clock.step(stepUs)
        const path = `/${++changes}`
        const before = await local.read(webhook)
        const after = { ...before, url: `http://${receiver.destination}${path}` }
        // Another process would change it so: the engine is not told.
        await local.tests.commit(...local.webhooks.change(before, after))
        await local.happens()
        await local.settled()
        if (clock.steadyUs() - readUs >= freshUs) {
          known = path
          readUs = clock.steadyUs()
        }
        expect(receiver.received.at(-1)?.path).toBe(known)
      }
    }),
    { numRuns: 15 },
  )
  expect(local.failures).toEqual([])
})

test('however the wall clock is set, a delivery is tried again when the time has passed', async () => {
  await using local = await LocalDeliveries.open(receiver)
  const { clock } = local
  // There are more attempts than any run has.
  await local.webhook({ url: receiver.url, retryCount: 20, retryDelayMs: 5_000 })
  await fc.assert(
    fc.asyncProperty(movesOf(30 * secondUs), async (moves) => {
      receiver.behaviour = answering(503)
      const before = (await local.attempts()).length
      await local.happens()
      await local.settled()
      let attempts = 1
      let dueUs = clock.steadyUs() + 5 * secondUs
      for (const { passUs, stepUs } of moves) {
        clock.step(stepUs)
        await local.pass(passUs)
        if (clock.steadyUs() >= dueUs) dueUs = clock.steadyUs() + 5 * secondUs * 2 ** attempts++
        expect(await local.attempts()).toHaveLength(before + attempts)
      }
      // It is taken now, so that nothing is left of this run.
      receiver.behaviour = answering(200)
      await local.pass(dueUs - clock.steadyUs())
    }),
    { numRuns: 15 },
  )
  expect(local.failures).toEqual([])
})
