import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { unusedUsMax } from '../../src/ingest/mqtt-sessions/limits.ts'
import { movesOf } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { SessionBroker } from '../support/session-broker.ts'
import { SessionSubscriber } from '../support/session-subscriber.ts'

test('however the wall clock is set, an unused session ends when it was unused for long enough', async () => {
  const runs = fc.record({
    moves: movesOf(unusedUsMax / 4),
    crashes: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  })
  await fc.assert(
    fc.asyncProperty(runs, async ({ moves, crashes }) => {
      const clock = new HandClock()
      await using broker = await SessionBroker.start(clock)
      await new SessionSubscriber('unused').subscribe(broker.port, 'commands', 1)
      await expect.poll(() => broker.sessions.stats().connected).toBe(0)
      const endUs = clock.steadyUs() + unusedUsMax
      for (const [place, { passUs, stepUs }] of moves.entries()) {
        clock.atUs += passUs
        clock.step(stepUs)
        if (crashes[place] === true) await broker.crash()
        await broker.sessions.purge()
        expect(broker.sessions.stats().sessions).toBe(clock.steadyUs() > endUs ? 0 : 1)
      }
    }),
    { numRuns: 15 },
  )
})
