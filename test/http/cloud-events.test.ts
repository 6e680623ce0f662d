import { CloudEvent, HTTP } from 'cloudevents'
import { expect, test } from 'vitest'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

/** Streams of CloudEvents over HTTP, with what the SDK of CNCF for JavaScript sends. */

const service = runningService()

const { push, post } = bodiesTo(service)

const schema = {
  temperature: { type: 'number' },
  boiler: { type: 'string', from: 'cloudevent.subject' },
}
const source = { format: 'cloudevents' }

function eventAt(second: number, given: object = {}) {
  return new CloudEvent({
    type: 'boiler.measured',
    source: '/plants/7',
    subject: 'boiler é',
    time: `2026-01-31T09:00:0${second}.000Z`,
    data: { temperature: second },
    ...given,
  })
}

interface Sent {
  readonly headers: object
  readonly body: unknown
}

async function send(streamId: string, { headers, body }: Sent) {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)])
  return await push(streamId, Object.fromEntries(texts) as Record<string, string>, String(body))
}

function reading(second: number) {
  const timestamp = `2026-01-31T09:00:0${second}.000000Z`
  return { timestamp, temperature: second, boiler: 'boiler é' }
}

test('an event is the same reading in structured and in binary mode, and in a batch', async () => {
  const streamId = await service.api.createStream(schema, { source })

  const structured = await send(streamId, HTTP.structured(eventAt(1)))
  const binary = HTTP.binary(eventAt(1, { subject: encodeURIComponent('boiler é') }))
  const again = await send(streamId, binary)
  const batch = await push(
    streamId,
    { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' },
    JSON.stringify([eventAt(1), eventAt(2), { ...eventAt(3).toJSON(), id: '' }]),
  )

  expect([structured.status, again.status]).toEqual([202, 202])
  expect(batch.body).toMatchObject({
    accepted: 2,
    rejected: [{ index: 2, error: 'malformed', message: expect.stringMatching('has no id') }],
  })
  expect(await service.api.settled(streamId, 5)).toMatchObject({ stored: 2, duplicates: 2 })
  expect(await service.api.readAll(streamId)).toEqual([reading(1), reading(2)])
})

test('an event in binary mode that does not fit is judged again by its headers', async () => {
  const streamId = await service.api.createStream(schema, { source })
  const hot = eventAt(4, { data: { temperature: '4' }, subject: encodeURIComponent('boiler é') })
  expect(await send(streamId, HTTP.binary(hot))).toMatchObject({ status: 422 })

  await service.api.settled(streamId, 1)
  await service.api.withToken('PUT', `/streams/${streamId}`, {
    source: { ...source, texts: 'typed' },
  })
  await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

  expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 1, quarantined: 0 })
  expect(await service.api.readAll(streamId)).toEqual([reading(4)])
})

test('what is no event is refused, with what it has not', async () => {
  const streamId = await service.api.createStream(schema, { source })
  const json = { 'content-type': 'application/json' }

  expect(await push(streamId, json, '{"temperature": 1}')).toMatchObject({
    status: 422,
    body: { message: expect.stringMatching('has no specversion, id, source, type') },
  })
})

test('a stream of JSON reads an event as the object that it is', async () => {
  const fields = { temperature: { type: 'number', from: 'data.temperature' } }
  const streamId = await service.api.createStream(fields, { source: { timestampField: 'time' } })

  await send(streamId, HTTP.structured(eventAt(5)))

  await service.api.settled(streamId, 1)
  expect(await service.api.readAll(streamId)).toMatchObject([
    {
      temperature: 5,
      timestamp: '2026-01-31T09:00:05.000000Z',
      extra: { type: 'boiler.measured' },
    },
  ])
})

test('events for several streams go to their streams', async () => {
  const ofEvents = await service.api.createStream(schema, { source })
  const ofJson = await service.api.createStream({ temperature: { type: 'number' } })
  const body = [
    { ...eventAt(6).toJSON(), streamId: ofEvents },
    { streamId: ofJson, temperature: 6 },
    {
      ...eventAt(7).toJSON(),
      streamId: ofEvents,
      data: [{ temperature: 7 }, { temperature: 7.5 }],
    },
  ]

  const headers = { 'content-type': 'application/cloudevents-batch+json' }
  const answer = await post('/data', headers, JSON.stringify(body))

  expect(answer.body).toMatchObject({ accepted: 4, rejected: [] })
  await service.api.settled(ofEvents, 3)
  expect(await service.api.readAll(ofEvents)).toMatchObject([
    reading(6),
    reading(7),
    { temperature: 7.5 },
  ])
})
