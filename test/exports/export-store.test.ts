import { expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import type { ExportRequest } from '../../src/reading/exports/export-job.ts'
import { ExportStore } from '../../src/reading/exports/export-store.ts'
import { keptOfUserMax, openOfUserMax } from '../../src/reading/jobs/job-store.ts'
import { TestState } from '../support/test-state.ts'

const request: ExportRequest = {
  streamIds: [],
  start: '2026-01-01T00:00:00.000000Z',
  end: '2026-02-01T00:00:00.000000Z',
  format: 'csv',
  aggregation: 'raw',
  tz: 'UTC',
}

function madeBy(ownerId: UserId) {
  return { ownerId, apiKeyId: 'sv_test_a' }
}

async function made(subject: TestState, owner: UserId, atUs = 0): Promise<boolean> {
  const store = new ExportStore(subject.state, subject)
  return await subject.attempt(...store.plan(madeBy(owner), request, atUs).changes)
}

test('a user can have so many exports that wait or run, and no more', async () => {
  await using subject = await TestState.open()
  const [ada, bob] = [await subject.newUser(), await subject.newUser()]
  const ofAda: boolean[] = []
  for (let count = 0; count <= openOfUserMax; count++) ofAda.push(await made(subject, ada))

  expect(ofAda).toEqual([...Array<boolean>(openOfUserMax).fill(true), false])
  expect(await made(subject, bob)).toBe(true)
})

test('a user can keep so many exports, and no more', async () => {
  await using subject = await TestState.open()
  const ada = await subject.newUser()
  const store = new ExportStore(subject.state, subject)
  for (let count = 0; count < keptOfUserMax; count++) {
    const { job, changes } = store.plan(madeBy(ada), request, count)
    await subject.commit(...changes)
    await store.begin(job.id, 0)
    await store.complete(job.id, 0)
  }

  expect(await made(subject, ada)).toBe(false)
})

test('a file is not added to an export that was cancelled', async () => {
  await using subject = await TestState.open()
  const ada = await subject.newUser()
  const store = new ExportStore(subject.state, subject)
  const { job, changes } = store.plan(madeBy(ada), request, 0)
  await subject.commit(...changes)
  await store.begin(job.id, 0)
  await store.cancel(ada, job.id, 1)
  const file = { number: 1, name: 'a', streamId: 'b' as never, rows: 1, bytes: 1, sha256: '' }
  const done = { file, nextStream: 1, nextCursor: undefined, progress: 1 }

  expect(await store.addFile(job.id, done)).toBe(false)
  expect(await store.files(job.id)).toEqual([])
})

test('jobs of one owner run one after the other, the oldest first', async () => {
  await using subject = await TestState.open()
  const [ada, bob] = [await subject.newUser(), await subject.newUser()]
  const store = new ExportStore(subject.state, subject)
  for (const [owner, atUs] of [
    [ada, 3],
    [ada, 1],
    [bob, 2],
  ] as const) {
    await made(subject, owner, atUs)
  }

  expect((await store.next([]))?.createdAtUs).toBe(1)
  expect((await store.next([ada]))?.createdAtUs).toBe(2)
  expect(await store.next([ada, bob])).toBe(undefined)
})

test('what ended seven days ago, or was of a user who is gone, has expired', async () => {
  await using subject = await TestState.open()
  const [ada, bob] = [await subject.newUser(), await subject.newUser()]
  const store = new ExportStore(subject.state, subject)
  const dayUs = 24 * 3_600 * 1_000_000
  for (const [owner, endUs] of [
    [ada, 0],
    [ada, 2 * dayUs],
    [bob, 2 * dayUs],
  ] as const) {
    const { job, changes } = store.plan(madeBy(owner), request, endUs)
    await subject.commit(...changes)
    await store.begin(job.id, endUs)
    await store.complete(job.id, endUs)
  }
  const { state } = subject
  await subject.commit(state.updateTable('users').set({ deleted_at: 1 }).where('id', '=', bob))
  const expired = await store.expired(8 * dayUs, 10)

  expect(expired.map(({ ownerId, createdAtUs }) => [ownerId, createdAtUs])).toEqual([
    [ada, 0],
    [bob, 2 * dayUs],
  ])
})
