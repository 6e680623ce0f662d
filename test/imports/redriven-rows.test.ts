import { expect, test } from 'vitest'
import { download, exported } from '../support/exports.ts'
import { imported, importTypes } from '../support/imports.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Rows of files that a stream refuses first, and takes when they are judged again. */

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const narrow = { temperature: { type: 'number', range: [0, 1] } }
const wide = { temperature: { type: 'number' } }
const processing = { validation: 'strict' }

async function redriven(streamId: string): Promise<void> {
  const changed = await service.api.withToken('PUT', `/streams/${streamId}`, { schema: wide })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
}

test.each(Object.keys(importTypes) as (keyof typeof importTypes)[])(
  'readings of two devices out of %s are known by what they were known by',
  async (format) => {
    const root = `hall-${format}`
    const from = await service.api.createStream(wide, { source: { topic: `${root}/+` } })
    const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
    for (const device of ['one', 'two']) {
      for (const second of [0, 1]) {
        const timestamp = `2026-01-01T00:00:0${second}Z`
        const payload = JSON.stringify({ timestamp, temperature: 21.5 })
        await mqtt.publishAsync(`${root}/${device}`, payload, { qos: 1 })
      }
    }
    await service.api.settled(from, 4)
    const before = await service.api.readAll(from)
    const job = await exported(service.api, { streamIds: [from], format })
    const answer = await download(service, job, job.files[0])
    const file = { format, content: new Uint8Array(await answer.arrayBuffer()) }
    const atOnce = await service.api.createStream(wide)
    await imported(service, atOnce, file)

    const later = await service.api.createStream(narrow, { processing })
    expect(await imported(service, later, file)).toMatchObject({ accepted: 0, refused: 4 })
    await redriven(later)

    expect(await service.api.settled(later)).toMatchObject({
      stored: 4,
      duplicates: 0,
      quarantined: 0,
    })
    expect(await service.api.readAll(later)).toEqual(before)
    expect(await service.api.readAll(later)).toEqual(await service.api.readAll(atOnce))
    // What has the same identity is a duplicate, whichever way it comes.
    expect(await imported(service, later, file)).toMatchObject({ accepted: 4, duplicates: 4 })
    expect(await imported(service, from, file)).toMatchObject({ accepted: 4, duplicates: 4 })
  },
)

test('a row whose digest is none stays refused for that, and its neighbours do not', async () => {
  const streamId = await service.api.createStream(narrow, { processing })
  const content = [
    'timestamp,temperature,:digest',
    '2026-01-01T00:00:00Z,21.5,0123456789abcdef',
    '2026-01-01T00:00:00Z,21.5,fedcba9876543210',
    '2026-01-01T00:00:00Z,21.5,',
    '2026-01-01T00:00:00Z,21.5,nothing',
  ].join('\n')
  const file = { format: 'csv', content } as const
  expect(await imported(service, streamId, file)).toMatchObject({ accepted: 0, refused: 4 })
  await redriven(streamId)

  expect(await service.api.settled(streamId)).toMatchObject({ stored: 3, quarantined: 1 })
  expect(await service.api.readAll(streamId)).toEqual(
    Array.from({ length: 3 }, () => ({
      timestamp: '2026-01-01T00:00:00.000000Z',
      temperature: 21.5,
    })),
  )
  type Held = { readonly entries: readonly { readonly message: string }[] }
  const { body } = await service.api.withToken<Held>('GET', `/streams/${streamId}/quarantine`)
  expect(body.entries).toMatchObject([{ message: ':digest must be 16 digits in hex' }])
  expect(await imported(service, streamId, file)).toMatchObject({ accepted: 3, duplicates: 3 })
})

test.each([
  ['epoch_s', '1767225600.1234569999'],
  ['epoch_ms', '1767225600123.4569999'],
])(
  'a time of the format %s is the same time when its row is judged again',
  async (format, time) => {
    const source = { timestampFormat: format }
    const streamId = await service.api.createStream(narrow, { source, processing })
    const content = `{"timestamp":${time},"temperature":21.5,"temperature:flag":"out_of_range"}\n`
    const file = { format: 'ndjson', content } as const
    expect(await imported(service, streamId, file)).toMatchObject({ refused: 1 })
    await redriven(streamId)

    expect(await service.api.settled(streamId)).toMatchObject({ stored: 1, quarantined: 0 })
    expect(await imported(service, streamId, file)).toMatchObject({ accepted: 1, duplicates: 1 })
    expect(await service.api.readAll(streamId)).toMatchObject([
      { timestamp: '2026-01-01T00:00:00.123456Z' },
    ])
  },
)
