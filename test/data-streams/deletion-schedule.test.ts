import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { DeletionSchedule } from '../../src/streams/data-streams/deletion-schedule.ts'
import { TestState } from '../support/test-state.ts'

test('a stream that was just deleted is found by nobody before its end is looked for', async () => {
  await using real = await TestState.open()
  const streamId = newId<StreamId>()
  await real.commit(
    real.state.insertInto('data_stream_deletions').values({
      stream_id: streamId,
      owner_id: newId(),
      name: 'boiler',
      deleted_at: systemClock.nowUs(),
      journal_offset: null,
      removed_at: null,
      removed_readings: 0,
      removed_quarantine: 0,
    }),
  )
  const steps: string[] = []
  const removed = Promise.withResolvers<void>()
  const schedule = new DeletionSchedule({
    state: real.state,
    writer: real,
    forget: (id) => steps.push(`forget ${id}`),
    drain: async () => void steps.push('drain'),
    head: async () => 7,
    forgetMessages: async () => undefined,
    remove: async (streams) => {
      for (const { streamId: id, offset } of streams) steps.push(`remove ${id} from ${offset}`)
      removed.resolve()
      return streams.length
    },
    onRemoved: () => undefined,
  })

  schedule.wake()
  await removed.promise
  await schedule.stop()

  expect(steps).toEqual([`forget ${streamId}`, 'drain', `remove ${streamId} from 7`])
})
