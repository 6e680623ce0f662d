import { expect, test } from 'vitest'
import {
  appendedProgress,
  failureBody,
  progressBody,
  startedProgress,
} from '../../src/twins/progress/progress.ts'
import { TestState } from '../support/test-state.ts'

async function withStream(state: TestState, progress: string): Promise<void> {
  await state.commit(
    state.state.insertInto('asset_streams').values({
      id: 'a stream',
      owner_id: await state.newUser(),
      created_at: 0,
      asset_code: 'GOLD',
      ledger: 'XRPL',
      status: 'SERVICE_RECEIVED',
      progress,
    }),
  )
}

async function stepsAfter(state: TestState, status: string, atUs: number) {
  await state.commit(
    state.state.updateTable('asset_streams').set({ progress: appendedProgress(status, atUs) }),
  )
  const { progress } = await state.state
    .selectFrom('asset_streams')
    .select('progress')
    .executeTakeFirstOrThrow()
  return progressBody(progress)
}

test('each step is appended with its number, its status and the time at which it was reached', async () => {
  await using state = await TestState.open()
  await withStream(state, startedProgress(1_769_853_600_000_000, 'SERVICE_RECEIVED'))

  expect(await stepsAfter(state, 'it\'s "METADATA"', 1_769_853_600_000_001)).toEqual([
    { step: 1, status: 'SERVICE_RECEIVED', completed_at: '2026-01-31T10:00:00.000000Z' },
    { step: 2, status: 'it\'s "METADATA"', completed_at: '2026-01-31T10:00:00.000001Z' },
  ])
})

test('a thousand steps are kept, and the newest is one of them', async () => {
  await using state = await TestState.open()
  const full = Array.from({ length: 1_000 }, (_, index) => [`step ${index}`, index])
  await withStream(state, JSON.stringify(full))

  const steps = await stepsAfter(state, 'the newest', 5_000)

  expect(steps).toHaveLength(1_000)
  expect(steps.at(-2)?.status).toBe('step 998')
  expect(steps.at(-1)).toMatchObject({ step: 1_000, status: 'the newest' })
})

test('a failure is shown as it was stored, and none is null', () => {
  const failure = { error: 'upload_expired', message: 'nothing came' }
  expect(failureBody(JSON.stringify(failure))).toEqual(failure)
  expect(failureBody(null)).toBeNull()
})
