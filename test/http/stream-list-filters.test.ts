import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { sourceStates } from '../../src/streams/data-streams/stream-sources.ts'
import { RuledStream, tooHot } from '../support/alerting.ts'
import type { Answer } from '../support/api-client.ts'
import { ApiServer } from '../support/api-server.ts'
import { newPerson, type Person, streamOf, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const server = await ApiServer.start((_, answer) => answer.writeHead(401).end('who are you?'))
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: server.origin.replace('http://', '') })

/** Streams by what is the matter with them. */
const made = { quiet: '', receiving: '', refused: '', hot: '', failing: '', paused: '' }

type Name = keyof typeof made

const waiting = { timeout: 60_000 }

let stranger: Person

interface Listed {
  readonly streamId: string
  readonly name: string
  readonly [member: string]: unknown
}

beforeAll(async () => {
  stranger = await newPerson(service.api)
  made.quiet = await service.api.createStream()
  made.receiving = await service.api.createStream()
  await push(made.receiving, { temperature: 1 })
  made.refused = await service.api.createStream(undefined, { processing: { validation: 'strict' } })
  await push(made.refused, { temperature: 'hot' })
  const hot = await RuledStream.make(service.api, tooHot, {
    ...tooHot,
    id: 'b',
    severity: 'critical',
  })
  made.hot = hot.id
  await hot.push(90)
  made.failing = await service.api.createStream(undefined, {
    type: 'api_pull',
    source: { endpoint: `${server.origin}/v1`, schedule: '0 0 1 1 *' },
  })
  await vi.waitUntil(async () => (await sourceStateOf(made.failing)) === 'waiting', waiting)
  await service.api.withToken('POST', `/streams/${made.failing}/source/run`)
  await vi.waitUntil(async () => (await sourceStateOf(made.failing)) === 'failing', waiting)
  made.paused = await service.api.createStream()
  await service.api.withToken('POST', `/streams/${made.paused}/pause`)
  for (const [name, id] of Object.entries(made)) {
    await service.api.withToken('PUT', `/streams/${id}`, { name })
    await service.api.settled(id)
  }
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

async function push(streamId: string, reading: object): Promise<void> {
  await service.api.withToken('POST', `/streams/${streamId}/data`, reading)
  await service.api.settled(streamId, 1)
}

const ofEach = { connecting: 0, running: 0, waiting: 1, failing: 1, paused: 1, any: 3 } as const

/** A stream of this person that is fetched once a year. */
async function fetchedBy(owner: Person): Promise<string> {
  const { body } = await owner.withToken<{ readonly streamId: string }>('POST', '/streams', {
    name: 'fetched',
    vaultId: await vaultOf(owner),
    type: 'api_pull',
    source: { endpoint: `${server.origin}/v1`, schedule: '0 0 1 1 *' },
    schema: { temperature: { type: 'number' } },
  })
  return body.streamId
}

async function sourceStateOf(streamId: string): Promise<unknown> {
  return (await service.api.status(streamId)).source?.['state']
}

function list(query: string): Promise<Answer<readonly Listed[]>> {
  return service.api.withToken('GET', `/streams?${query}`)
}

async function namesOf(query: string): Promise<readonly string[]> {
  const { status, headers, body } = await list(query)
  expect(status).toBe(200)
  expect(headers.get('x-total-count')).toBe(String(body.length))
  return body.map(({ name }) => name)
}

describe('GET /streams', () => {
  test.each<readonly [query: string, names: readonly Name[]]>([
    ['state=created', ['quiet']],
    ['state=active', ['receiving', 'refused', 'hot']],
    ['state=error', ['failing']],
    ['state=paused,created', ['quiet', 'paused']],
    ['problem=quarantined', ['refused']],
    ['problem=firing', ['hot']],
    ['problem=failing', ['failing']],
    ['problem=silent', []],
    ['problem=any', ['refused', 'hot', 'failing']],
    ['problem=failing,firing', ['hot', 'failing']],
    ['problem=any&state=active', ['refused', 'hot']],
    ['source=failing', ['failing']],
    ['source=running,failing', ['failing']],
    ['source=any', ['failing']],
    ['source=waiting,paused', []],
    ['source=any&state=active', []],
    ['contains=IN', ['receiving', 'failing']],
    ['contains=%25', []],
    ['contains=in&state=active&sort=-name', ['receiving']],
    ['sort=name', ['failing', 'hot', 'paused', 'quiet', 'receiving', 'refused']],
    ['sort=-created', ['paused', 'failing', 'hot', 'refused', 'receiving', 'quiet']],
    ['sort=-quarantined&state=active', ['refused', 'receiving', 'hot']],
    ['sort=lastReading&state=active', ['receiving', 'refused', 'hot']],
    ['sort=-lastReading&state=active', ['hot', 'refused', 'receiving']],
  ])('%s finds %j', async (query, names) => {
    expect(await namesOf(query)).toEqual(names)
  })

  test('those that receive most come first, and those that receive nothing last', async () => {
    const names = await namesOf('sort=-rate')
    expect(names.slice(0, 3).toSorted()).toEqual(['hot', 'receiving', 'refused'])
    expect(names.slice(3).toSorted()).toEqual(['failing', 'paused', 'quiet'])
  })

  test('a stream is silent once it has received nothing for as long as is said', async () => {
    await expect
      .poll(() => namesOf('problem=silent&silentAfter=1s'))
      .toEqual(['receiving', 'refused', 'hot'])
    expect(await namesOf('problem=silent&silentAfter=1d')).toEqual([])
  })

  test('finds a stream by the beginning of its id', async () => {
    expect(await namesOf(`contains=${made.hot.slice(0, 13)}`)).toEqual(['hot'])
  })

  test('an acknowledged alert is no problem any more', async () => {
    const other = await RuledStream.make(service.api, tooHot)
    await other.push(90)
    await expect.poll(async () => (await namesOf('problem=firing')).length).toBe(2)

    await other.act('acknowledge')

    await expect.poll(() => namesOf('problem=firing')).toEqual(['hot'])
    await service.api.withToken('DELETE', `/streams/${other.id}`)
  })

  test.each(['created', '-created', 'name', '-name', 'rate', '-lastReading', 'quarantined'])(
    'sorted by %s, pages lead through all of them, and each tells how many there are',
    async (sort) => {
      const all = await namesOf(`sort=${sort}`)
      const found: string[] = []
      for (let path: string | undefined = `/streams?sort=${sort}&limit=2`; path !== undefined; ) {
        const answer: Answer<readonly Listed[]> = await service.api.withToken('GET', path)
        found.push(...answer.body.map(({ name }) => name))
        expect(answer.headers.get('x-total-count')).toBe('6')
        path = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1]
      }

      expect(found).toEqual(all)
    },
  )

  test('of sources in each state there are as many as the overview counts', async () => {
    const owner = await newPerson(service.api)
    const ids = [await fetchedBy(owner), await fetchedBy(owner), await fetchedBy(owner)]
    await streamOf(owner)
    await owner.withToken('POST', `/streams/${ids[2]}/pause`)
    await owner.withToken('POST', `/streams/${ids[1]}/source/run`)
    const counted = async () => {
      const { body } = await owner.withToken<{
        readonly sources: Readonly<Record<string, unknown>>
      }>('GET', '/overview')
      return sourceStates.map((state) => body.sources[state])
    }
    await expect.poll(counted, waiting).toEqual(sourceStates.map((state) => ofEach[state]))

    for (const state of [...sourceStates, 'any'] as const) {
      const { headers, body } = await owner.withToken<readonly Listed[]>(
        'GET',
        `/streams?include=health&source=${state}`,
      )

      expect(headers.get('x-total-count'), state).toBe(String(ofEach[state]))
      expect(body.length, state).toBe(ofEach[state])
      for (const { source } of body) {
        expect(source).toMatchObject(state === 'any' ? {} : { state })
      }
    }
  })

  test('HEAD tells how many there are', async () => {
    const { status, headers } = await service.api.withToken('HEAD', '/streams?state=active')

    expect(status).toBe(200)
    expect(headers.get('x-total-count')).toBe('3')
  })

  test('a cursor of another order is 400', async () => {
    const { headers } = await list('sort=name&limit=1')
    const [, cursor = ''] = /[?&]cursor=([^>&]+)/.exec(headers.get('link') ?? '') ?? []

    for (const sort of ['created', '-name', 'rate', '-created']) {
      const { status, body } = await list(`sort=${sort}&cursor=${cursor}`)

      expect(status).toBe(400)
      expect(body).toMatchObject({ details: [{ path: 'cursor' }] })
    }
  })

  test.each([
    'state=ready',
    'state=',
    'problem=none',
    'problem=silent,',
    'silentAfter=soon',
    'source=error',
    'source=',
    'sort=vault',
    'contains=',
    'include=all',
    'limit=101&include=health',
  ])('refuses %s with 400, naming it', async (query) => {
    const { status, body } = await service.api.withToken<ErrorBody>('GET', `/streams?${query}`)

    expect(status).toBe(400)
    expect(body.details?.map(({ path }) => path)).toEqual([query.split('=')[0]])
  })

  test('shows nobody else anything of them', async () => {
    for (const query of [
      '',
      'problem=any',
      'source=any',
      'state=active,error',
      `contains=${made.hot}`,
      'sort=-rate',
    ]) {
      const { headers, body } = await stranger.withToken('GET', `/streams?include=health&${query}`)

      expect(body).toEqual([])
      expect(headers.get('x-total-count')).toBe('0')
    }
  })
})

async function healthOf(name: Name): Promise<Listed> {
  const { body } = await list(`include=health&name=${name}`)
  return body[0] as Listed
}

describe('GET /streams?include=health', () => {
  const fields = [{ name: 'temperature', type: 'number' }]
  const nothing = { receivedPerSecond: 0, quarantined: 0, firing: { alerts: 0, severity: null } }

  test('tells that nothing has come to a stream', async () => {
    const health = await healthOf('quiet')

    expect(health).toMatchObject({ ...nothing, lastReadingAt: null, fields })
    expect(health['spark']).toHaveLength(24)
    expect(health).not.toHaveProperty('source')
  })

  test('tells when something has come last, as the status does', async () => {
    const { lastDataReceived } = await service.api.status(made.receiving)

    expect((await healthOf('receiving'))['lastReadingAt']).toBe(lastDataReceived)
  })

  test('counts what is in the quarantine', async () => {
    expect(await healthOf('refused')).toMatchObject({ quarantined: 1 })
  })

  test('counts the alerts that fire, and names the worst severity', async () => {
    expect(await healthOf('hot')).toMatchObject({ firing: { alerts: 2, severity: 'critical' } })
  })

  test('tells why a source fails', async () => {
    const lastError = expect.stringContaining('401') as string
    expect(await healthOf('failing')).toMatchObject({ source: { state: 'failing', lastError } })
  })

  test('names the fields as they are stored', async () => {
    const convert = { field: 'temperature', from: 'degC', to: 'K' }
    const streamId = await service.api.createStream(
      { temperature: { type: 'number', unit: 'degC' }, open: { type: 'boolean' } },
      { processing: { transform: [{ convert }, { rename: { from: 'open', to: 'isOpen' } }] } },
    )

    const { body } = await list(`include=health&contains=${streamId}`)

    const stored = [
      { name: 'temperature', type: 'number', unit: 'K' },
      { name: 'isOpen', type: 'boolean' },
    ]
    expect(body).toMatchObject([{ fields: stored }])
    await service.api.withToken('DELETE', `/streams/${streamId}`)
  })

  test('without it a list tells nothing of that', async () => {
    const { body } = await list('name=hot')

    expect(Object.keys(body[0] ?? {})).not.toContain('firing')
  })
})

/** A vault of the stranger. */
async function makeVault(name: string): Promise<string> {
  const body = { name: 'plain', hint: 'a hint', required_streams: [] }
  const template = await stranger.withKey<{ id: string }>('POST', '/templates', body)
  const wanted = { template_id: template.body.id, name }
  return (await stranger.withKey<{ id: string }>('POST', '/vaults', wanted)).body.id
}

describe('contains=', () => {
  interface Named {
    readonly name: string
    readonly vaultId: string
    readonly deviceId: string
  }

  async function found(path: string): Promise<readonly string[]> {
    const { status, body } = await stranger.withToken<readonly Named[]>('GET', path)
    expect(status).toBe(200)
    return body.map(({ name }) => name)
  }

  test('finds vaults by a part of their name, also a new one, or the beginning of their id', async () => {
    const id = await makeVault('Größe 100 %')
    await makeVault('pump')

    expect(await found(`/vaults?contains=${encodeURIComponent('GRÖSSE')}`)).toEqual([])
    expect(await found(`/vaults?contains=${encodeURIComponent('GRÖ')}`)).toEqual(['Größe 100 %'])
    expect(await found('/vaults?contains=%25')).toEqual(['Größe 100 %'])
    expect(await found('/vaults?contains=_')).toEqual([])
    expect(await found(`/vaults?contains=${id.slice(0, 18)}`)).toEqual(['Größe 100 %'])
    await stranger.withKey('PUT', `/vaults/${id}`, { name: 'Kessel' })
    expect(await found('/vaults?contains=KESS')).toEqual(['Kessel'])
    expect(await found(`/vaults?contains=${encodeURIComponent('grö')}`)).toEqual([])
  })

  test('is for bearer tokens, where vaults are listed', async () => {
    const { status, body } = await stranger.withKey<ErrorBody>('GET', '/vaults?contains=a')

    expect(status).toBe(400)
    expect(body.details?.map(({ path }) => path)).toEqual(['contains'])
  })

  test('finds devices by a part of their name, or the beginning of their id', async () => {
    const vaultId = await makeVault('hall')
    const definition = { name: 's', vaultId, type: 'iot_sensor', schema: { a: { type: 'number' } } }
    const stream = await stranger.withToken<{ streamId: string }>('POST', '/streams', definition)
    const make = (name: string) =>
      stranger.withToken<Named>('POST', '/devices', { name, streamIds: [stream.body.streamId] })
    const boiler = await make('Boiler_7')
    await make('pump 7')

    expect(await found('/devices?contains=R_7')).toEqual(['Boiler_7'])
    expect(await found('/devices?contains=7')).toEqual(['Boiler_7', 'pump 7'])
    expect(await found('/devices?contains=sv_dev_')).toEqual(['Boiler_7', 'pump 7'])
    const id = (boiler.body as unknown as { readonly apiKey: string }).apiKey
    expect(await found(`/devices?contains=${id}`)).toEqual(['Boiler_7'])
    expect(await found('/devices?contains=nothing')).toEqual([])
  })
})
