import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import type { DataPage } from '../support/api-client.ts'
import { metricOf } from '../support/metrics.ts'
import { newPerson } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { at } from '../support/seconds.ts'

const service = runningService()

let streamId: string
let bigStreamId: string

const readings = [
  { temperature: 1.5e300, mode: 'a,b "c"\r\nd', position: { x: [1, 2] }, isOn: true },
  { temperature: -0.1, mode: '=1+1', note: 'unknown, "quoted"' },
  { temperature: 1000, mode: '', servicedAt: '2026-01-01T00:00:00+01:00' },
  { starts: 9_007_199_254_740_991 },
  { mode: '\u{1f525} é ;\t' },
]

/** Readings of the large stream: more than all buffers on the way hold. */
const bigReadings = 1_000
const bigText = 'x'.repeat(60_000)

beforeAll(async () => {
  streamId = await service.api.createStream({
    temperature: { type: 'number', range: [-5, 2e300], required: false },
    starts: { type: 'integer' },
    mode: { type: 'string' },
    isOn: { type: 'boolean' },
    servicedAt: { type: 'datetime' },
    position: { type: 'object', fields: { x: { type: 'array', items: { type: 'number' } } } },
    level: { type: 'number', range: [0, 1] },
  })
  const body = [...readings, { level: 7, temperature: -50 }].map((reading, index) => ({
    timestamp: at(index),
    ...reading,
  }))
  await service.api.withToken('POST', `/streams/${streamId}/data`, body)
  bigStreamId = await service.api.createStream({ text: { type: 'string' } })
  for (let from = 0; from < bigReadings; from += 50) {
    const batch = Array.from({ length: 50 }, (_, index) => ({
      timestamp: at(from + index),
      text: bigText,
    }))
    await service.api.withToken('POST', `/streams/${bigStreamId}/data`, batch)
  }
  await service.api.settled(streamId, body.length)
  await service.api.settled(bigStreamId, bigReadings)
})

interface Ask {
  readonly method?: string
  readonly accept?: string
  readonly stream?: string
  readonly query?: string
}

/** Asks for readings, and gives the answer as it comes: nothing is read yet. */
async function ask({ method = 'GET', accept, stream = streamId, query = '' }: Ask) {
  const outgoing = request(`${service.process.http}/streams/${stream}/data${query}`, {
    method,
    agent: false,
    headers: {
      authorization: `Bearer ${await service.api.token()}`,
      ...(accept !== undefined && { accept }),
    },
  })
  outgoing.end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return incoming
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  incoming.setEncoding('utf8')
  let text = ''
  for await (const chunk of incoming) text += chunk as string
  return text
}

async function textAs(accept: string, rest: Omit<Ask, 'accept'> = {}): Promise<string> {
  return await textOf(await ask({ accept, ...rest }))
}

/** Waits until a figure of the service is what it should be. */
async function metricBecomes(name: string, value: number): Promise<void> {
  while ((await metricOf(service.process, name)) !== value) await sleep(20)
}

describe('readings as CSV', () => {
  test('have the values of the JSON answer, in columns by name', async () => {
    const json = (await service.api.withToken<DataPage>('GET', `/streams/${streamId}/data`)).body
    const incoming = await ask({ accept: 'text/csv' })
    const csv = await textOf(incoming)

    expect(incoming.statusCode).toBe(200)
    expect(incoming.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const [head] = csv.split('\r\n')
    expect(head).toBe(
      'timestamp,isOn,level,mode,position,servicedAt,starts,temperature,extra,:flag',
    )
    const records = parse<Record<string, string>>(csv, {
      columns: true,
      record_delimiter: '\r\n',
    })
    expect(records).toHaveLength(readings.length + 1)
    for (const [index, point] of json.data.entries()) {
      const { ':flag': flag, ...cells } = records[index] ?? {}
      const flagged = Object.keys(point).filter((key) => key.endsWith(':flag'))
      expect(flag).toBe(flagged.map((key) => key.replace(':flag', '')).join(' '))
      for (const [name, cell] of Object.entries(cells)) {
        const value = point[name] ?? ''
        expect(cell).toBe(typeof value === 'string' ? value : JSON.stringify(value))
      }
    }
  })

  test('of a stream without readings are the head alone', async () => {
    const empty = await service.api.createStream({ level: { type: 'number' } })
    expect(await textAs('text/csv', { stream: empty })).toBe('timestamp,level,extra,:flag\r\n')
  })

  test('of some fields come in the order in which they were asked for', async () => {
    const csv = await textAs('text/csv', { query: `?fields=temperature,isOn&end=${at(1)}` })
    expect(csv).toBe(
      'timestamp,temperature,isOn,:flag\r\n2026-01-31T00:00:00.000000Z,1.5e+300,true,\r\n',
    )
  })
})

async function countOf(query: string): Promise<number> {
  return (await textAs('application/x-ndjson', { query })).split('\n').length - 1
}

describe('readings as NDJSON', () => {
  test('are line by line those of the JSON answer', async () => {
    const json = (await service.api.withToken<DataPage>('GET', `/streams/${streamId}/data`)).body
    const lines = (await textAs('application/x-ndjson')).split('\n')

    expect(lines.pop()).toBe('')
    expect(lines).toEqual(json.data.map((point) => JSON.stringify(point)))
  })

  test('keep to the range, and to a limit where there is one', async () => {
    const range = `start=${at(1)}&end=${at(5)}`
    expect(await countOf(`?${range}`)).toBe(4)
    expect(await countOf(`?${range}&limit=3`)).toBe(3)
  })

  test('go far beyond a page', async () => {
    const text = await textAs('application/x-ndjson', { stream: bigStreamId })
    expect(text.split('\n')).toHaveLength(bigReadings + 1)
    expect(new Set(text.split('\n')).size).toBe(bigReadings + 1)
  })
})

describe('aggregated readings', () => {
  const query = '?aggregation=2s&fields=temperature:max,temperature:count'

  test('are line by line those of the JSON answer', async () => {
    const path = `/streams/${streamId}/data${query}`
    const json = (await service.api.withToken<DataPage>('GET', path)).body
    const ndjson = await textAs('application/x-ndjson', { query })
    const csv = (await textAs('text/csv', { query })).split('\r\n')

    expect(json.data).toHaveLength(3)
    expect(ndjson).toBe(json.data.map((point) => `${JSON.stringify(point)}\n`).join(''))
    expect(csv).toEqual([
      'timestamp,temperature:max,temperature:count,count',
      ...json.data.map((point) =>
        ['timestamp', 'temperature:max', 'temperature:count', 'count']
          .map((key) => point[key] as string | number | undefined)
          .join(','),
      ),
      '',
    ])
  })

  test('go on beyond a chunk, and fill what is empty', async () => {
    const filled = `?aggregation=1s&fields=temperature&fill=null&start=${at(0)}&end=${at(2_500)}`
    const csv = await textAs('text/csv', { query: filled })
    expect(csv.split('\r\n')).toHaveLength(2_502)
  })
})

test('a page of JSON ends by its bytes, and its cursor leads on', async () => {
  const path = `/streams/${bigStreamId}/data?limit=10000`
  const first = (await service.api.withToken<DataPage>('GET', path)).body

  expect(JSON.stringify(first).length).toBeLessThan(5 * 1024 * 1024)
  expect(first.data.length).toBeGreaterThan(10)
  expect(await service.api.readAll(bigStreamId)).toHaveLength(bigReadings)
})

describe('what cannot be answered', () => {
  test.each(['text/html', 'text/csv;q=0', 'application/xml'])('%s is 406', async (accept) => {
    const incoming = await ask({ accept })
    expect(incoming.statusCode).toBe(406)
    expect(JSON.parse(await textOf(incoming))).toMatchObject({ error: 'not_acceptable' })
  })

  test('is refused with JSON, whatever was asked for', async () => {
    const incoming = await ask({ accept: 'text/csv', query: '?start=yesterday' })
    expect(incoming.statusCode).toBe(400)
    expect(JSON.parse(await textOf(incoming))).toMatchObject({ error: 'invalid_request' })
  })

  test('is unknown to others', async () => {
    const other = await newPerson(service.api)
    const path = `/streams/${streamId}/data`
    const { status } = await other.withToken('GET', path, undefined, { accept: 'text/csv' })
    expect(status).toBe(404)
  })
})

test('HEAD reads nothing', async () => {
  const before = await metricOf(service.process, 'export_chunks_total')
  const incoming = await ask({ method: 'HEAD', accept: 'text/csv' })

  expect(incoming.statusCode).toBe(200)
  expect(incoming.headers['content-type']).toContain('text/csv')
  expect(await textOf(incoming)).toBe('')
  expect(await metricOf(service.process, 'export_chunks_total')).toBe(before)
})

/** Resolves once no chunk was read for a while. */
async function standstill(): Promise<number> {
  let chunks = -1
  for (;;) {
    const now = await metricOf(service.process, 'export_chunks_total')
    if (now === chunks) return now
    chunks = now
    await sleep(300)
  }
}

describe('a reader who does not read', () => {
  test('holds back the reading, and gets all of it later', async () => {
    const before = await metricOf(service.process, 'export_chunks_total')
    const incoming = await ask({ accept: 'application/x-ndjson', stream: bigStreamId })
    incoming.pause()
    const held = (await standstill()) - before

    const lines = (await textOf(incoming)).split('\n')
    const all = (await metricOf(service.process, 'export_chunks_total')) - before

    // What the kernel takes for both sides, and two chunks of ours.
    expect(held).toBeLessThan(all / 3)
    expect(lines).toHaveLength(bigReadings + 1)
    await metricBecomes('exports_running', 0)
  })

  test('has four places, and leaves each by going away', async () => {
    const paused: IncomingMessage[] = []
    for (let index = 0; index < 4; index++) {
      const incoming = await ask({ accept: 'text/csv', stream: bigStreamId })
      incoming.on('error', () => undefined).pause()
      paused.push(incoming)
    }
    const refused = await ask({ accept: 'text/csv' })
    expect(refused.statusCode).toBe(429)
    expect(JSON.parse(await textOf(refused))).toMatchObject({ error: 'rate_limited' })

    // Others have places of their own, and pages of JSON need none.
    const page = await ask({ accept: 'application/json' })
    expect(page.statusCode).toBe(200)
    await textOf(page)

    for (const incoming of paused) incoming.destroy()
    await metricBecomes('exports_running', 0)
    expect((await ask({ accept: 'text/csv' })).statusCode).toBe(200)
  })
})
