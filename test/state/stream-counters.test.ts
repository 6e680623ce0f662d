import { expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { DecidedState } from '../support/decided-state.ts'
import { journalled } from '../support/journalled-readings.ts'

test('the counters of every stream of a decision grow, however many there are', async () => {
  await using decided = await DecidedState.open()
  // Statements of every size are needed: 256 twice, 128, 64, ..., 1.
  const streams = Array.from({ length: 767 }, () => newId<StreamId>())
  const once = streams.map((streamId) => journalled({ streamId }))
  await decided.decide([...once, ...once.slice(1)])
  await decided.decide(once)

  const rows = await decided.state.selectFrom('stream_counters').selectAll().execute()
  expect(rows).toHaveLength(streams.length)
  for (const row of rows) {
    const received = row.stream_id === streams[0] ? 2 : 3
    expect(row).toMatchObject({ received, accepted: received, received_on_day: received })
  }
})
