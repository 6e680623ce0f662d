import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { metricOf } from '../support/metrics.ts'
import { runningService } from '../support/running-service.ts'
import { at } from '../support/seconds.ts'
import { keyHeaders, kinds, numbers, series, tailsOf, temperatures } from '../support/tails.ts'

const service = runningService()
const { open: openTail, push } = tailsOf(service)

describe.each(kinds)('a tail over %s', (kind) => {
  test('shows what arrives from now on, in its order', async () => {
    const { api } = service
    const streamId = await api.createStream()
    await push(streamId, series(0, 3))
    const opened = await openTail(kind, `/streams/${streamId}/tail`)

    await push(streamId, series(10, 2))
    await push(streamId, series(5, 2))
    await opened.received(4)

    expect(temperatures(opened)).toEqual([10, 11, 5, 6])
  })

  test('shows a reading in the form in which it is read back, before it is stored and after', async () => {
    const { api } = service
    const streamId = await api.createStream({
      temperature: { type: 'number', range: [0, 100] },
      starts: { type: 'integer' },
      note: { type: 'string' },
      since: { type: 'datetime' },
      place: { type: 'object', fields: { floor: { type: 'integer' } } },
      parts: { type: 'array', items: { type: 'boolean' } },
    })
    const opened = await openTail(kind, `/streams/${streamId}/tail`)

    await push(streamId, [
      { timestamp: at(0), temperature: 200.5, colour: 'red', note: 'a "b"\n\u2028 é' },
      { timestamp: at(1), since: '2026-01-31T10:00:00+02:00', place: { floor: -2 }, parts: [true] },
      { timestamp: at(2) },
      { timestamp: at(3), starts: 9_007_199_254_740_991, nested: { a: [1, null] } },
    ])
    await opened.received(4)
    await api.settled(streamId, 4)
    const later = await openTail(kind, `/streams/${streamId}/tail?last=4`)
    await later.received(4)

    const stored = await api.readAll(streamId)
    expect(opened.events.map(({ data }) => data)).toEqual(stored)
    expect(later.events.map(({ data }) => data)).toEqual(stored)
    expect(stored[0]).toMatchObject({ 'temperature:flag': 'out_of_range' })
  })

  test('begins with the newest stored readings, or from a time, and goes on with what arrives', async () => {
    const { api } = service
    const streamId = await api.createStream()
    await push(streamId, series(0, 20))
    await api.settled(streamId, 20)

    const last = await openTail(kind, `/streams/${streamId}/tail?last=5`)
    const start = await openTail(kind, `/streams/${streamId}/tail?start=${at(17)}`)
    const all = await openTail(kind, `/streams/${streamId}/tail?last=10000`)
    await push(streamId, series(20, 2))
    await Promise.all([last.received(7), start.received(5), all.received(22)])

    expect(temperatures(last)).toEqual(numbers(15, 7))
    expect(temperatures(start)).toEqual(numbers(17, 5))
    expect(temperatures(all)).toEqual(numbers(0, 22))
  })

  test('goes on from a position, whether it was met in the store or in the journal', async () => {
    const { api } = service
    const streamId = await api.createStream()
    await push(streamId, series(0, 10))
    await api.settled(streamId, 10)
    const first = await openTail(kind, `/streams/${streamId}/tail?last=10`)
    await push(streamId, series(10, 5))
    await first.received(15)

    const [inStore, inJournal] = [first.events[3]?.position, first.events[11]?.position]
    const fromStore = await openTail(kind, `/streams/${streamId}/tail?from=${inStore}`)
    const fromJournal = await openTail(kind, `/streams/${streamId}/tail?last=10`, {
      headers: { ...keyHeaders, 'last-event-id': inJournal ?? '' },
    })
    await Promise.all([fromStore.received(11), fromJournal.received(3)])

    expect(temperatures(fromStore)).toEqual(numbers(4, 11))
    expect(temperatures(fromJournal)).toEqual([12, 13, 14])
  })

  test('shows refused readings to who asks for them', async () => {
    const { api } = service
    const streamId = await api.createStream()
    const plain = await openTail(kind, `/streams/${streamId}/tail`)
    const curious = await openTail(kind, `/streams/${streamId}/tail?include=quarantined`)

    await push(streamId, [{ temperature: 'hot' }, { timestamp: at(0), temperature: 1 }])
    await Promise.all([plain.received(1), curious.received(2)])
    await api.settled(streamId, 2)

    const list = await api.withToken<{ entries: [{ id: number }] }>(
      'GET',
      `/streams/${streamId}/quarantine`,
    )
    const [{ id: _, ...entry }] = list.body.entries
    expect(temperatures(plain)).toEqual([1])
    expect(curious.events.map(({ type }) => type)).toEqual(['quarantined', 'reading'])
    expect(curious.events[0]?.data).toEqual(entry)
  })

  test('shows nothing of other streams', async () => {
    const { api } = service
    const [streamId, other] = [await api.createStream(), await api.createStream()]
    const opened = await openTail(kind, `/streams/${streamId}/tail`)

    await push(other, series(0, 3))
    await push(streamId, series(7, 1))
    await opened.received(1)

    expect(temperatures(opened)).toEqual([7])
  })

  test('gives a reader who pauses everything later', async () => {
    const { api } = service
    const streamId = await api.createStream({ text: { type: 'string' } })
    const opened = await openTail(kind, `/streams/${streamId}/tail`)
    const text = 'x'.repeat(20_000)

    opened.pause()
    for (let batch = 0; batch < 10; batch++) {
      await push(
        streamId,
        numbers(batch * 50, 50).map((second) => ({ timestamp: at(second), text })),
      )
    }
    opened.resume()
    await opened.received(500)

    expect(opened.events.map(({ data }) => data['timestamp'])).toEqual(
      numbers(0, 500).map((second) => at(second).replace('Z', '000Z')),
    )
  })
})

test('HEAD answers what GET would answer, without its end', async () => {
  const streamId = await service.api.createStream()

  const answer = await service.api.withKey('HEAD', `/streams/${streamId}/tail`)

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
})

test('how many follow is a metric', async () => {
  const streamId = await service.api.createStream()
  const opened = await openTail('events', `/streams/${streamId}/tail`)
  const open = () => metricOf(service.process, 'tails_open')
  const before = await open()
  opened.close()
  while ((await open()) >= before) await sleep(20)

  expect(before).toBeGreaterThan(0)
})
