import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SourceState } from '../../src/streams/sources/source-state.ts'
import { movesOf, secondUs } from '../support/clock-moves.ts'

const passing = { isRefused: false, remedy: 'Check the host.' }

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** What a source looks at: the monotonic clock of the thread, and a wall clock that is set. */
class Clocks {
  passedMs = 0
  wallUs = 1_700_000_000_000_000

  move({ passUs, stepUs }: { readonly passUs: number; readonly stepUs: number }): void {
    const passMs = Math.floor(passUs / 1_000)
    vi.advanceTimersByTime(passMs)
    this.passedMs += passMs
    this.wallUs += passMs * 1_000 + stepUs
  }
}

test('however the wall clock is set, a failure is a lasting one after a minute', () => {
  fc.assert(
    fc.property(movesOf(25 * secondUs), (moves) => {
      const clocks = new Clocks()
      const state = new SourceState(() => clocks.wallUs)
      state.started()
      state.failed('nobody listens', passing)
      for (const move of moves) {
        clocks.move(move)
        state.failed('nobody listens', passing)
        expect(state.status.isLasting).toBe(clocks.passedMs >= 60_000)
      }
    }),
  )
})

test('however the wall clock is set, who ran for ten seconds has not failed in a row', () => {
  fc.assert(
    fc.property(movesOf(20 * secondUs), (moves) => {
      const clocks = new Clocks()
      const state = new SourceState(() => clocks.wallUs)
      state.started()
      let failures = 0
      for (const move of moves) {
        state.reached()
        const reachedMs = clocks.passedMs
        clocks.move(move)
        failures = clocks.passedMs - reachedMs >= 10_000 ? 1 : failures + 1
        state.failed('the connection is lost', passing)
        expect(state.retries).toBe(failures)
      }
    }),
  )
})
