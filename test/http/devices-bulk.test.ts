import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { asDevice, type MadeDevice, newStreams } from '../support/devices.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let ada: Person
let streams: readonly string[] = []

beforeAll(async () => {
  ada = await newPerson(service.api)
  streams = (await newStreams(ada, 3)).streamIds
})

interface Refused {
  readonly error: string
  readonly message: string
  readonly details?: readonly { readonly path: string; readonly message: string }[]
}

/** The answer to a table, as it came. */
async function sendTable(person: Person, lines: readonly string[], headers = {}) {
  const { apiKey, apiSecret } = person.key
  const response = await fetch(`${service.process.http}/devices/bulk`, {
    method: 'POST',
    headers: {
      'x-api-key': apiKey,
      'x-api-secret': apiSecret,
      'content-type': 'text/csv',
      accept: 'text/csv',
      ...headers,
    },
    body: lines.join('\n'),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

function line(index: number): string {
  return `boiler ${index},${streams[0]}`
}

/** The places that a refusal names. */
function pathsOf({ text }: { readonly text: string }) {
  return (JSON.parse(text) as Refused).details?.map(({ path }) => path)
}

function rowsOf(text: string): Record<string, string>[] {
  return parse(text, { columns: true })
}

describe('POST /devices/bulk', () => {
  test('takes what each does on topics that are not its own, as JSON and as a table', async () => {
    const one = { name: 'plug 1', streamIds: [streams[0]], foreignTopics: 'ignore' }
    const made = await ada.withKey<{ devices: MadeDevice[] }>('POST', '/devices/bulk', [one])
    expect(made.body.devices).toMatchObject([{ foreignTopics: 'ignore' }])

    const table = [
      'name,streamId,foreignTopics',
      `plug 2,${streams[0]},ignore`,
      `plug 3,${streams[0]},`,
    ]
    const ids = rowsOf((await sendTable(ada, table)).text).map(({ apiKey = '' }) => apiKey)
    const read = ids.map((id) => ada.withKey<MadeDevice>('GET', `/devices/${id}`))
    const found = (await Promise.all(read)).map(({ body }) => body['foreignTopics'])
    expect(found).toEqual(['ignore', 'refuse'])

    const wrong = await sendTable(ada, ['name,streamId,foreignTopics', `plug 4,${streams[0]},yes`])
    expect(pathsOf(wrong)).toEqual(['line 2.foreignTopics'])
  })

  test('takes a table, and answers one with a key and a secret in each line', async () => {
    const answer = await sendTable(ada, [
      'name,streamId,clientId,readingsPerSecond,burst',
      `boiler 1,${streams[0]},b-1,10,100`,
      `"boiler ""2"", left",${streams[1]} ${streams[2]},,,`,
    ])

    expect(answer.status).toBe(201)
    expect(answer.headers.get('content-type')).toContain('text/csv')
    const rows = rowsOf(answer.text)
    expect(rows).toMatchObject([
      { name: 'boiler 1', streamIds: streams[0], clientId: 'b-1' },
      { name: 'boiler "2", left', streamIds: streams.slice(1).toSorted().join(' '), clientId: '' },
    ])
    for (const [index, row] of rows.entries()) {
      const path = `/streams/${streams[index]}/data`
      const { apiKey = '', apiSecret = '' } = row
      const device = { apiKey, apiSecret }
      const sent = await asDevice(service.api, device, ['POST', path, { temperature: 1 }])
      expect(sent.status).toBe(202)
    }
    const { body } = await ada.withKey<MadeDevice>('GET', `/devices/${rows[0]?.['apiKey']}`)
    expect(body['rateLimit']).toEqual({ readingsPerSecond: 10, burst: 100 })
  })

  test('takes JSON, and finds streams by their names', async () => {
    const answer = await ada.withKey<{ devices: MadeDevice[] }>('POST', '/devices/bulk', [
      { name: 'by id', streamIds: [streams[0]] },
      { name: 'by name', streamName: 'heat 1' },
    ])

    expect(answer.status).toBe(201)
    expect(answer.body.devices.map(({ streamIds }) => streamIds)).toEqual([
      [streams[0]],
      [streams[1]],
    ])
  })

  test('makes 1,000 at once, and not one more', async () => {
    const lines = ['name,streamId', ...Array.from({ length: 1_000 }, (_, index) => line(index))]
    const bob = await newPerson(service.api)

    const answer = await sendTable(ada, lines)

    expect(answer.status).toBe(201)
    const keys = new Set(rowsOf(answer.text).map(({ apiKey }) => apiKey))
    expect(keys.size).toBe(1_000)
    expect((await sendTable(bob, [...lines, line(1_000)])).status).toBe(400)
    // What comes after them is not even looked at.
    const far = await sendTable(bob, [...lines, line(1_000), 'one cell only'])
    expect((JSON.parse(far.text) as Refused).error).toBe('invalid_request')
  })

  test('names every line that is wrong, and makes none', async () => {
    const bob = await newPerson(service.api)
    const { streamIds } = await newStreams(bob)
    const nobody = '00000000-0000-4000-8000-000000000000'

    const badly = await sendTable(bob, [
      'name,streamId,streamName,expiresAt,readingsPerSecond,burst',
      `good,${streamIds[0]},,,,`,
      `,${streamIds[0]},,,,`,
      `no stream,,,,,`,
      `two streams,${streamIds[0]},heat 0,,,`,
      `a time that is over,${streamIds[0]},,2020-01-01T00:00:00Z,,`,
      `a rate of text,${streamIds[0]},,,fast,1`,
    ])
    const foreign = await sendTable(bob, [
      'name,streamId,streamName',
      `good,${streamIds[0]},`,
      `foreign,${streams[0]},`,
      `nobody's,${nobody},`,
      'unknown name,,boiler room',
    ])

    expect([badly.status, foreign.status]).toEqual([400, 400])
    expect(pathsOf(badly)).toEqual([
      'line 3.name',
      'line 4.streamIds',
      'line 5.streamIds',
      'line 6.expiresAt',
      'line 7.rateLimit.readingsPerSecond',
    ])
    expect(pathsOf(foreign)).toEqual(['line 3.streamIds', 'line 4.streamIds', 'line 5.streamName'])
    expect((await bob.withKey('GET', '/devices')).body).toEqual([])
  })

  test('does not tell which names of certificates others have', async () => {
    const bob = await newPerson(service.api)
    const { streamIds } = await newStreams(bob)
    const certificateName = `${bob.userId}:boiler-7`
    await bob.withKey('POST', '/devices', { name: 'boiler 7', streamIds, certificateName })

    const answers = [certificateName, `${bob.userId}:boiler-8`].map((name) =>
      ada.withKey<Refused>('POST', '/devices/bulk', [
        { name: 'mine', streamIds: [streams[0]], certificateName: name },
      ]),
    )

    for (const { status, body } of await Promise.all(answers)) {
      expect([status, body.error]).toEqual([403, 'insufficient_permissions'])
    }
  })

  test.each([
    ['an unknown column', ['name,colour', 'a,red']],
    ['a column twice', ['name,name', 'a,b']],
    ['a line that is too short', ['name,streamId', 'a']],
    ['an open quote', ['name,streamId', '"a,b']],
    ['nothing', ['']],
  ])('refuses a table with %s', async (_, lines) => {
    const answer = await sendTable(ada, lines)

    expect(answer.status).toBe(400)
    expect((JSON.parse(answer.text) as Refused).error).toBe('malformed_body')
  })

  test('lets no cell be a formula', async () => {
    const names = ['=1+1', '+1', '-1', '@SUM(A1)', '  =1+1']
    const lines = names.map((name) => `"${name}",${streams[0]}`)

    const { text } = await sendTable(ada, ['name,streamId', ...lines])

    expect(rowsOf(text).map(({ name }) => name)).toEqual(names.map((name) => `'${name.trim()}`))
    for (const cell of parse(text).flat()) expect(cell).not.toMatch(/^\s*[=+\-@]/)
  })

  test('under one Idempotency-Key makes them once, and gives the secrets again', async () => {
    const headers = { 'idempotency-key': 'fleet-1' }
    const lines = ['name,streamId', `once in bulk,${streams[0]}`]

    const first = await sendTable(ada, lines, headers)
    const again = await sendTable(ada, lines, headers)
    const other = await sendTable(ada, ['name,streamId', `another,${streams[0]}`], headers)

    expect(again.text).toBe(first.text)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(other.status).toBe(422)
    const query = `name=${encodeURIComponent('once in bulk')}`
    expect((await ada.withKey<unknown[]>('GET', `/devices?${query}`)).body).toHaveLength(1)
  })
})
