import { expect, test } from 'vitest'
import { RecentMessages } from '../../connectors/webhook/recent-messages.ts'
import { DomainError } from '../../src/core/errors.ts'
import { LocalPipeline } from '../support/local-pipeline.ts'

const positions = {
  load: async () => undefined,
  textOf: (newest: string) => JSON.stringify(newest),
  note: () => undefined,
}

test('a message that could not be kept is not known, by whoever waited for it either', async () => {
  await using pipeline = await LocalPipeline.open({ fields: { level: { type: 'number' } } })
  const stream = pipeline.stream()
  let isPaused = true
  const recent = new RecentMessages({
    intake: pipeline.parts.intake,
    openStream: async () => {
      if (isPaused) throw new DomainError('stream_paused', 'the stream is paused')
      return stream
    },
    positions,
  })
  const message = {
    streamId: stream.streamId,
    messageId: 'one',
    payload: Buffer.from('{"level":1}'),
    source: 'webhook',
  }

  const refused = await Promise.allSettled([recent.keep(message), recent.keep(message)])
  isPaused = false
  const kept = await Promise.all([recent.keep(message), recent.keep(message)])

  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(kept.map((outcome) => outcome?.verdicts.length)).toEqual([1, undefined])
  expect(await recent.keep(message)).toBeUndefined()
  await pipeline.decide()
  await pipeline.ship()
  expect(await pipeline.counters()).toMatchObject({ received: 1, stored: 1 })
})

test('what was not answered yet is in the journal, however many senders there are', async () => {
  await using pipeline = await LocalPipeline.open({ fields: { level: { type: 'number' } } })
  const stream = pipeline.stream()
  const snapshots: ReadonlySet<string>[] = []
  const recent = new RecentMessages({
    intake: pipeline.parts.intake,
    openStream: async () => stream,
    positions: {
      ...positions,
      textOf: (newest) => {
        snapshots.push(new Set(newest.match(/.{11}/g)))
        return JSON.stringify(newest)
      },
    },
  })
  const numbers = Array.from({ length: 1_000 }, (_, number) => number)

  await Promise.all(
    numbers.map(async (number) => {
      const payload = Buffer.from(JSON.stringify({ level: number }))
      const messageId = `message-${number}`
      await recent.keep({ streamId: stream.streamId, messageId, payload, source: 'webhook' })
    }),
  )

  const known = new Set<string>()
  let before: ReadonlySet<string> = new Set()
  for (const snapshot of snapshots) {
    const fresh = snapshot.difference(known)
    // The answers to the batch before may still be on their way.
    expect(before.difference(snapshot).size).toBe(0)
    for (const id of fresh) known.add(id)
    before = fresh
  }
  expect(known.size).toBe(1_000)
})
