import { gzipSync } from 'node:zlib'
import { HttpError, InfluxDB as InfluxDB2, Point, setLogger } from '@influxdata/influxdb-client'
import { InfluxDB } from 'influx'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  createFleet,
  type ProtocolFleet,
  readingsByDevice,
  streamsByDevice,
} from '../support/protocol-fleet.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Clients of InfluxDB write into a fleet, as they would into a database. */

const service = runningService()

// What it would print is looked at by the tests.
setLogger({ error: () => undefined, warn: () => undefined })

const schema = {
  measurement: { type: 'string' },
  usage: { type: 'number', range: [0, 100] },
  number: { type: 'integer' },
  state: { type: 'string' },
}

const token = `${adminKey}:${adminSecret}`
const timeMs = Date.UTC(2026, 0, 1)

let made = 0

async function fleetOfHosts(): Promise<ProtocolFleet> {
  return await createFleet(service.api, { name: `hosts ${++made}`, deviceField: 'host', schema })
}

function write(path: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  return fetch(service.process.http + path, {
    method: 'POST',
    headers: { authorization: `Token ${token}`, ...headers },
    body,
  })
}

function writerTo(bucket: string, precision: 'ns' | 'us' | 'ms' | 's' = 'ns') {
  return new InfluxDB2({ url: service.process.http, token }).getWriteApi('org', bucket, precision, {
    maxRetries: 0,
  })
}

describe('the client library of InfluxDB 2', () => {
  test('writes each point into the stream of its host', async () => {
    const fleet = await fleetOfHosts()
    const writer = writerTo(fleet.name)
    for (const host of ['web-1', 'web 2']) {
      for (let index = 0; index < 3; index++) {
        writer.writePoint(
          new Point('cpu')
            .tag('host', host)
            .floatField('usage', 12.5 + index)
            .intField('number', index)
            .stringField('state', 'a "quoted" text')
            .timestamp(new Date(timeMs + index)),
        )
      }
    }
    await writer.close()

    const readings = await readingsByDevice(service.api, fleet)
    expect([...readings.keys()].toSorted()).toEqual(['web 2', 'web-1'])
    for (const rows of readings.values()) {
      expect(rows).toHaveLength(3)
      expect(rows[0]).toMatchObject({
        timestamp: '2026-01-01T00:00:00.000000Z',
        measurement: 'cpu',
        usage: 12.5,
        number: 0,
        state: 'a "quoted" text',
      })
    }
  })

  test.each(['ns', 'us', 'ms', 's'] as const)('has its times in %s', async (precision) => {
    const fleet = await fleetOfHosts()
    const writer = writerTo(fleet.name, precision)
    writer.writePoint(
      new Point('cpu').tag('host', 'a').floatField('usage', 1).timestamp(new Date(timeMs)),
    )
    await writer.close()

    const readings = await readingsByDevice(service.api, fleet)
    expect(readings.get('a')?.map(({ timestamp }) => timestamp)).toEqual([
      '2026-01-01T00:00:00.000000Z',
    ])
  })

  test('compresses large bodies', async () => {
    const fleet = await fleetOfHosts()
    const writer = new InfluxDB2({ url: service.process.http, token }).getWriteApi(
      'org',
      fleet.name,
      'ms',
      { maxRetries: 0, gzipThreshold: 10, batchSize: 5_000 },
    )
    for (let index = 0; index < 5_000; index++)
      writer.writePoint(
        new Point('cpu')
          .tag('host', 'a')
          .intField('number', index)
          .timestamp(timeMs + index),
      )
    await writer.close()

    // It does not wait itself for batches that are full.
    const streamOf = async () => (await streamsByDevice(service.api, fleet)).get('a')
    await expect.poll(streamOf).toBeDefined()
    expect(await service.api.settled((await streamOf()) ?? '', 5_000)).toMatchObject({
      stored: 5_000,
    })
  })

  test('shows which lines were refused, and the others are stored', async () => {
    const fleet = await fleetOfHosts()
    const writer = writerTo(fleet.name)
    writer.writeRecord(`cpu,host=a usage=1 ${timeMs}000000`)
    writer.writeRecord(`cpu,host=a usage="much" ${timeMs}000001`)
    writer.writeRecord('cpu,host=a usage')
    const error = await writer.close().then(
      () => undefined,
      (problem: unknown) => problem,
    )

    expect(error).toBeInstanceOf(HttpError)
    const { statusCode, code, message } = error as HttpError
    expect({ statusCode, code }).toEqual({ statusCode: 400, code: 'invalid' })
    expect(message).toMatch(/^partial write: line 2: .*usage.*; line 3: .*dropped=2 of 3$/)
    expect((await readingsByDevice(service.api, fleet)).get('a')).toHaveLength(1)
  })

  test('hears that there is no such bucket, and that its token is wrong', async () => {
    const point = new Point('cpu').tag('host', 'a').intField('number', 1)
    const refusals = []
    for (const [bucket, wrong] of [
      ['no such bucket', token],
      ['no such bucket', 'wrong:token'],
    ] as const) {
      const writer = new InfluxDB2({ url: service.process.http, token: wrong }).getWriteApi(
        'org',
        bucket,
        'ns',
        { maxRetries: 0 },
      )
      writer.writePoint(point)
      refusals.push(await writer.close().then(undefined, (error: unknown) => error))
    }

    expect(refusals).toMatchObject([
      { statusCode: 404, code: 'not found' },
      { statusCode: 401, code: 'unauthorized' },
    ])
    const [unknown, unauthorized] = refusals as HttpError[]
    expect(unknown?.message).toContain('no such bucket')
    expect(unauthorized?.message).toContain('which is the key')
  })
})

function clientOf(database: string, password = adminSecret): InfluxDB {
  const { hostname, port } = new URL(service.process.http)
  return new InfluxDB({
    host: hostname,
    port: Number(port),
    database,
    username: adminKey,
    password,
  })
}

describe('the client library of InfluxDB 1', () => {
  const points = ['a', 'b'].map((host) => ({
    measurement: 'cpu',
    tags: { host },
    fields: { usage: 5 },
    timestamp: new Date(timeMs),
  }))

  test('writes each point into the stream of its host', async () => {
    const fleet = await fleetOfHosts()
    await clientOf(fleet.name).writePoints(points, { precision: 'ms' })

    const readings = await readingsByDevice(service.api, fleet)
    expect([...readings.keys()].toSorted()).toEqual(['a', 'b'])
    expect(readings.get('b')).toMatchObject([
      { timestamp: '2026-01-01T00:00:00.000000Z', usage: 5, measurement: 'cpu' },
    ])
  })

  test('finds the service with a ping', async () => {
    const [host] = await clientOf('any').ping(5_000)

    expect(host).toMatchObject({ online: true, version: '1.8' })
  })

  test('hears in its own form what is wrong', async () => {
    const fleet = await fleetOfHosts()
    const bad = points.map((point) => ({
      ...point,
      fields: { usage: 'much' as unknown as number },
    }))
    const problemOf = (client: InfluxDB, sent: typeof points) =>
      client.writePoints(sent).then(
        () => 'none',
        ({ message }: Error) => message,
      )

    expect(await problemOf(clientOf(fleet.name), bad)).toContain('partial write: line 1: ')
    expect(await problemOf(clientOf('no such database'), points)).toContain('no such database')
    expect(await problemOf(clientOf(fleet.name, 'wrong'), points)).toContain('not valid')
  })
})

describe('POST /write', () => {
  test('answers 204 without a body', async () => {
    const { name } = await fleetOfHosts()
    const answer = await write(`/write?db=${encodeURIComponent(name)}`, 'cpu,host=a usage=1')

    expect([answer.status, await answer.text()]).toEqual([204, ''])
  })

  test.each(['Basic', 'Token'])('takes a key by the scheme %s', async (scheme) => {
    const { fleetId } = await fleetOfHosts()
    const credentials = scheme === 'Basic' ? Buffer.from(token).toString('base64') : token
    const headers = { authorization: `${scheme} ${credentials}` }
    const answer = await write(`/write?fleet=${fleetId}`, 'cpu,host=a usage=1', headers)

    expect(answer.status).toBe(204)
  })

  test('takes bodies in gzip, of any content type', async () => {
    const fleet = await fleetOfHosts()
    const body = gzipSync('cpu,host=a usage=1 1767225600000\n')
    for (const type of ['text/plain; charset=utf-8', 'application/octet-stream', '']) {
      const headers = { 'content-encoding': 'gzip', ...(type !== '' && { 'content-type': type }) }
      const answer = await write(`/write?db=${fleet.fleetId}&precision=ms`, body, headers)
      expect(answer.status, type).toBe(204)
    }
    expect((await readingsByDevice(service.api, fleet)).get('a')).toHaveLength(1)
  })

  test.each([
    ['no database', '/write', 404, 'the request names no fleet'],
    ['an unknown database', '/write?db=telegraf', 404, 'no fleet telegraf'],
    ['an unknown precision', '/write?db=FLEET&precision=days', 400, 'precision'],
    ['an empty body', '/write?db=FLEET', 204, ''],
  ])('answers about %s as InfluxDB does', async (_, path, status, message) => {
    const { fleetId } = await fleetOfHosts()
    const body = status === 204 ? '' : 'cpu,host=a usage=1'
    const answer = await write(path.replace('FLEET', fleetId), body)

    expect(answer.status).toBe(status)
    if (message === '') return
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(await answer.json()).toEqual({ error: expect.stringContaining(message) })
  })

  test('accepts no key in the address, and says where it belongs', async () => {
    const { fleetId } = await fleetOfHosts()
    const url = `${service.process.http}/write?db=${fleetId}&u=${adminKey}&p=${adminSecret}`
    const answer = await fetch(url, { method: 'POST', body: 'cpu,host=a usage=1' })

    expect(answer.status).toBe(401)
    expect(await answer.json()).toEqual({ error: expect.stringContaining('Basic') })
    expect(service.process.output()).not.toContain(adminSecret)
  })
})

describe('a line whose host cannot be a device', () => {
  let fleet: ProtocolFleet

  beforeAll(async () => {
    fleet = await fleetOfHosts()
  })

  test.each([
    ['no host', 'cpu usage=1'],
    ['a host that is too long', `cpu,host=${'h'.repeat(200)} usage=1`],
  ])('is refused for %s, and others are stored', async (_, line) => {
    const answer = await write(
      `/api/v2/write?bucket=${fleet.fleetId}`,
      `${line}\ncpu,host=a usage=1\n`,
    )

    expect(answer.status).toBe(400)
    expect(await answer.json()).toEqual({
      code: 'invalid',
      message: expect.stringMatching(/^partial write: line 1: .*host.*dropped=1 of 2$/),
    })
  })
})
