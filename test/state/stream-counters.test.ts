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

test('the counters of streams grow, whether or not something of theirs was refused', async () => {
  await using decided = await DecidedState.open()
  // Statements for both kinds, whose numbers of parameters meet: 256, 128, ..., 1 of each.
  const streams = Array.from({ length: 1_022 }, () => newId<StreamId>())
  const refused = streams.filter((_, index) => index % 2 === 0)
  const accepted = streams.map((streamId) => journalled({ streamId }))
  await decided.decide(accepted)
  await decided.decide([
    ...accepted,
    ...refused.map((streamId) => journalled({ streamId, accepted: false })),
  ])

  const rows = await decided.state.selectFrom('stream_counters').selectAll().execute()
  const isRefused = new Set<string>(refused)
  expect(rows).toHaveLength(streams.length)
  for (const row of rows) {
    const quarantined = isRefused.has(row.stream_id) ? 1 : 0
    const received = 2 + quarantined
    expect(row).toMatchObject({ received, accepted: 2, quarantined, received_on_day: received })
  }
})
