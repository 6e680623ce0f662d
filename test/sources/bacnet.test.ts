import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { rarely } from '../contracts/polled-state-contract.ts'
import { BacnetDevice, tags } from '../support/bacnet-device.ts'
import { runningService } from '../support/running-service.ts'

const device = await BacnetDevice.start()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${device.port}` })

device.set('0:1:85', tags.REAL, 21.3)
device.set('0:1:103', tags.ENUMERATED, 0)
device.set('1:4:85', tags.REAL, 0.35)
device.set('5:12:85', tags.ENUMERATED, 1)
device.set('19:1:85', tags.UNSIGNED_INTEGER, 2)

afterAll(async () => await device[Symbol.asyncDispose]())

interface Definition {
  readonly type: string
  readonly schema: object
  readonly source: Readonly<Record<string, unknown>>
}

const page = readFileSync('docs/bacnet.md', 'utf8')
const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
const { type, schema, source } = JSON.parse(example) as Definition
const [, told = ''] = /A reading of this stream is\s+`([^`]+)`/.exec(page) ?? []

const { endpoint } = device
const create = (changes: object = {}) =>
  service.api.createStream(schema, {
    type,
    source: { ...source, endpoint, schedule: rarely, ...changes },
  })

const run = (id: string) => service.api.withToken('POST', `/streams/${id}/source/run`)

describe('the example of docs/bacnet.md', () => {
  test('brings a reading in each round', async () => {
    const id = await create()
    await run(id)
    await service.api.settled(id, 1)
    await run(id)
    await service.api.settled(id, 2)
    const reading = JSON.parse(told) as object
    expect(await service.api.readAll(id)).toMatchObject([reading, reading])
    expect(await service.api.settled(id)).toMatchObject({ duplicates: 0, quarantined: 0 })
  })

  test('shows what it would bring when it is tried', async () => {
    const body = { type, schema, source: { ...source, endpoint } }
    const checked = await service.api.withToken('POST', '/sources/check', body)
    expect(checked.body).toMatchObject({
      reached: true,
      messages: 1,
      samples: [{ payload: told }],
      readings: [{ status: 'accepted' }],
    })
  })
})

test('an object that there is not puts the stream in error', async () => {
  const id = await create({ objects: [{ field: 'supply', object: 'analog-input:9' }] })
  await run(id)
  const lastError =
    'the device does not give present-value of analog-input:9 (supply): unknown object'
  await expect
    .poll(async () => (await service.api.status(id)).source)
    .toMatchObject({ state: 'failing', lastError })
  expect((await service.api.status(id)).status).toBe('error')
})

test('a device in a private network that is not allowed is not asked', async () => {
  const other = `bacnet://127.0.0.1:${await freePort()}`
  await expect(create({ endpoint: other })).rejects.toThrow('destination_not_allowed')
})
