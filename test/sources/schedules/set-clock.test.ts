import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { FakeTime } from '../../support/fake-time.ts'
import { ScheduledRun } from '../../support/scheduled-run.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

/** The clock is looked at so often by those who wait. */
const lookMs = 30_000

const periods = [
  ['*/5 * * * * *', 5_000],
  ['* * * * *', minuteMs],
  ['*/10 * * * *', 10 * minuteMs],
  ['0 * * * *', 60 * minuteMs],
] as const

const steps = fc.array(
  fc.record({
    /** The time before the step, in periods. */
    afterPart: fc.double({ min: 0.1, max: 3, noNaN: true }),
    stepMs: fc.oneof(
      fc.integer({ min: -dayMs, max: dayMs }),
      fc.integer({ min: -minuteMs, max: minuteMs }),
    ),
  }),
  { minLength: 1, maxLength: 5 },
)

test('however the clock is set, rounds are neither skipped nor doubled', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...periods), steps, async ([schedule, periodMs], some) => {
      const time = new FakeTime('2026-06-01T12:00:01Z')
      const source = new ScheduledRun({ time, schedule })
      source.start()
      const beganMs = time.steadyUs() / 1_000
      const forwardMs: number[] = []
      for (const { afterPart, stepMs } of some) {
        await time.pass(Math.round(afterPart * periodMs))
        time.step(stepMs)
        if (stepMs > 0) forwardMs.push(time.steadyUs() / 1_000)
      }
      await time.pass(2 * periodMs + lookMs)
      const endMs = time.steadyUs() / 1_000
      await source.stop()

      // From round to round: a period by the clock, and half of one more where that is set in between.
      const roundsMs = [beganMs, ...source.steadyMs, endMs]
      for (const [index, atMs] of roundsMs.entries()) {
        const nextMs = roundsMs[index + 1] ?? endMs
        const set = some.length
        expect(nextMs - atMs).toBeLessThanOrEqual((1 + set / 2) * periodMs + set * lookMs)
        if (index === 0 || nextMs === endMs) continue
        // What was jumped over is made up for at once, and the next time is what the clock says; else nothing
        // comes sooner than half a period after the one before was due. Times of a schedule are whole
        // milliseconds: each step may round once more.
        const beforeMs = roundsMs[index - 1] ?? beganMs
        const isJump = forwardMs.some((ms) => ms >= beforeMs && ms <= nextMs)
        const { startedAtUs = 0, dueAtUs = 0 } = source.rounds[index - 1] ?? {}
        const dueMs = atMs - (startedAtUs - dueAtUs) / 1_000
        const soonestMs = periodMs / 2 - 1 - set
        if (!isJump) expect(nextMs - dueMs).toBeGreaterThanOrEqual(soonestMs)
      }
    }),
    { numRuns: 200 },
  )
})

test.each([-10 * minuteMs, -20 * minuteMs, -dayMs / 2])(
  'what runs once a day does not run twice when the clock is set by %s ms right after it',
  async (stepMs) => {
    const time = new FakeTime('2026-06-01T11:59:00Z')
    const source = new ScheduledRun({ time, schedule: '0 12 * * *' })
    source.start()
    await time.pass(2 * minuteMs)
    expect(source.asked).toHaveLength(1)

    time.step(stepMs)
    await time.pass(-stepMs + minuteMs)
    expect(source.asked).toHaveLength(1)
    await time.pass(dayMs)
    expect(source.asked).toHaveLength(2)
    await source.stop()
  },
)

test('what was jumped over is made up for as soon as the clock is looked at', async () => {
  const time = new FakeTime('2026-06-01T06:00:00Z')
  const source = new ScheduledRun({ time, schedule: '0 12 * * *' })
  source.start()
  await time.pass(minuteMs)

  time.step(8 * 60 * minuteMs)
  await time.pass(lookMs)

  expect(source.asked).toHaveLength(1)
  await source.stop()
})
