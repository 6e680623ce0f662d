import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { rarely } from '../contracts/polled-state-contract.ts'
import { runningService } from '../support/running-service.ts'

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
let device: ChildProcess

/** That of `npm run servers -- up modbus`. */
beforeAll(async () => {
  const script = 'scripts/servers/modbus-device.ts'
  device = spawn(process.execPath, [script, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
  // It says that it listens.
  if (device.stdout) await once(device.stdout, 'data')
})

afterAll(() => void device.kill())

interface Definition {
  readonly type: string
  readonly schema: object
  readonly source: Readonly<Record<string, unknown>>
}

const page = readFileSync('docs/modbus.md', 'utf8')
const [, example = ''] = /```json\n(.*?)```/s.exec(page) ?? []
const { type, schema, source } = JSON.parse(example) as Definition
const [, told = ''] = /the first reading is\s+`([^`]+)`/.exec(page) ?? []

const endpoint = `modbus://127.0.0.1:${port}`
const create = (changes: object = {}) =>
  service.api.createStream(schema, {
    type,
    source: { ...source, endpoint, schedule: rarely, ...changes },
  })

const run = (id: string) => service.api.withToken('POST', `/streams/${id}/source/run`)

async function reached(id: string, status: object): Promise<void> {
  await expect.poll(async () => (await service.api.status(id)).source).toMatchObject(status)
}

describe('the example of docs/modbus.md', () => {
  test('brings a reading in each round', async () => {
    const id = await create()
    await reached(id, { state: 'waiting', rounds: 0 })
    await run(id)
    await service.api.settled(id, 1)
    await run(id)
    await service.api.settled(id, 2)
    const reading = JSON.parse(told) as object
    expect(await service.api.readAll(id)).toMatchObject([reading, reading])
    expect(await service.api.settled(id)).toMatchObject({ duplicates: 0, quarantined: 0 })
  })

  test('is asked by its schedule', async () => {
    const id = await create({ schedule: '* * * * * *' })
    await service.api.settled(id, 2)
    await service.api.withToken('DELETE', `/streams/${id}`)
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

test('a register that there is not puts the stream in error, until it is mended', async () => {
  const id = await create({ registers: [{ field: 'supply', kind: 'input', address: 1 }] })
  await run(id)
  const lastError = 'the device does not give input 1 of unit 1 (supply): illegal data address'
  await reached(id, { state: 'failing', lastError })
  expect((await service.api.status(id)).status).toBe('error')
  const { body } = await service.api.withToken<Definition>('GET', `/streams/${id}`)
  const registers = [{ field: 'supply', kind: 'input', address: 0 }]
  const mended = { ...body, source: { ...body.source, registers } }
  const put = await service.api.withToken('PUT', `/streams/${id}`, {
    name: 'supply',
    type,
    schema,
    source: mended.source,
  })
  expect(put.status).toBe(200)
  await run(id)
  await service.api.settled(id, 1)
  expect(await service.api.readAll(id)).toMatchObject([{ supply: 215 }])
})

test('a register can be the clock of the device', async () => {
  const clock = { field: 'timestamp', kind: 'input', address: 0, offset: 1_700_000_000 }
  const registers = [clock, { field: 'supply', kind: 'input', address: 0, scale: 0.1 }]
  const id = await create({ registers, timestampFormat: 'epoch_s' })
  await run(id)
  await service.api.settled(id, 1)
  expect(await service.api.readAll(id)).toMatchObject([
    { timestamp: '2023-11-14T22:16:55.000000Z', supply: 21.5 },
  ])
})

test('an integer that would be rounded goes to the quarantine', async () => {
  const registers = [{ field: 'supply', address: 100, type: 'uint64', wordOrder: 'big' }]
  const id = await create({ registers })
  await run(id)
  expect(await service.api.settled(id, 1)).toMatchObject({ quarantined: 1, stored: 0 })
})

test('a device in a private network that is not allowed is not connected to', async () => {
  const other = `modbus://127.0.0.1:${await freePort()}`
  await expect(create({ endpoint: other })).rejects.toThrow('destination_not_allowed')
})
