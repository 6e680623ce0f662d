import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SourceState } from '../../src/streams/sources/source-state.ts'

const passing = { isRefused: false, remedy: 'Check the host.' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

function connecting(): SourceState {
  const state = new SourceState(() => 0)
  state.started()
  return state
}

describe('a source that is not let in', () => {
  test('says so when it was neither reached nor refused for a minute', () => {
    const state = connecting()
    vi.advanceTimersByTime(59_000)
    expect(state.status.lastError).toBe(undefined)
    vi.advanceTimersByTime(2_000)
    expect(state.status).toMatchObject({
      state: 'connecting',
      lastError: expect.stringContaining('a minute'),
      remedy: expect.stringContaining('source.endpoint'),
    })
    state.reached()
    expect(state.status).toMatchObject({ state: 'running', lastError: undefined })
  })

  test('says what it was told to wait for, until it is let in or fails', () => {
    const state = connecting()
    state.heldUp('the others are first')
    expect(state.status).toMatchObject({
      state: 'connecting',
      lastError: 'the others are first',
      remedy: undefined,
    })
    state.reached()
    expect(state.status.lastError).toBe(undefined)
    state.heldUp('the others are first')
    state.failed('nobody listens', passing)
    expect(state.status).toMatchObject({
      state: 'failing',
      lastError: 'nobody listens',
      remedy: passing.remedy,
    })
  })
})
