import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { ApiServer, type AskedOfServer, json } from '../support/api-server.ts'
import { MessageServer } from '../support/message-server.ts'
import { runningService } from '../support/running-service.ts'
import { filesOf, findings } from '../support/secret-findings.ts'

const mark = '********'

/** With what has to be written in another way in an address, in JSON and in a header. */
const secrets = {
  site: 'canary/of a site?#&"0123',
  token: 'canary+of=a;token%2f"0123',
  key: 'canary-of-a-key-"0123',
}

const canaries = new Map(
  Object.entries(secrets).map(([name, secret]) => [name, Buffer.from(secret)] as const),
)

const encodedForms = Object.values(secrets).flatMap((secret) => [
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  new URLSearchParams({ '': secret }).toString().slice(1),
])

const temperature = (value: unknown) => ({ timestamp: '2026-01-31T10:00:00Z', temperature: value })

let isFailing = false

/** Shows who asks what it was asked with, in every way that it can. */
const server = await ApiServer.start((asked, answer) => {
  const { url, headers } = asked
  if (isFailing) {
    answer.writeHead(401).end(`no: ${url.href} ${String(headers['x-key'])} ${secrets.token}`)
    return
  }
  if (url.pathname.endsWith('/events')) {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.write(`data: ${JSON.stringify(temperature('an event'))}\n\n`)
    return
  }
  if (url.pathname.endsWith('/good')) {
    json(answer, [temperature(1)])
    return
  }
  if (url.pathname.endsWith('/tagged')) {
    if (headers['if-none-match'] === '"one"') answer.writeHead(304).end()
    else json(answer, [temperature(1)], { etag: '"one"' })
    return
  }
  const next = new URL(url)
  const page = Number(url.searchParams.get('page') ?? 1)
  next.searchParams.set('page', String(page + 1))
  const headersOf = page < 3 ? { link: `<${next.href}>; rel="next"` } : {}
  json(answer, [temperature(page), temperature(`hot ${page}`)], headersOf)
})

const sockets = await MessageServer.start((socket) => {
  socket.on('message', () => socket.send(JSON.stringify(temperature('a message'))))
})

const service = runningService({
  STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${server.port},127.0.0.1:${sockets.port}`,
  STREAMVAULT_LOG_LEVEL: 'trace',
})

const shownTexts: string[] = []

beforeEach(() => {
  isFailing = false
  server.asked.length = 0
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await sockets[Symbol.asyncDispose]()
})

const source = () => ({
  endpoint: `${server.origin}/v1/\${site}/readings?token=\${token}`,
  headers: { 'x-key': 'Key ${key}' },
  pagination: { type: 'link' },
  schedule: '0 0 1 1 *',
  secrets,
})

const create = (rest: object = {}) =>
  service.api.createStream(undefined, { type: 'api_pull', source: { ...source(), ...rest } })

/** An answer, which is remembered to have nothing secret in it. */
async function ask<Body>(method: string, path: string, body?: unknown) {
  const answer = await service.api.withToken<Body>(method, path, body)
  shownTexts.push(JSON.stringify(answer.body))
  return answer
}

const sourceOf = async (id: string) =>
  (await ask<{ source: Record<string, unknown> }>('GET', `/streams/${id}`)).body.source

/** What the server was asked with. */
function seen({ url, headers }: AskedOfServer) {
  const site = decodeURIComponent(url.pathname.split('/')[2] ?? '')
  return { site, token: url.searchParams.get('token'), key: headers['x-key'] }
}

const whole = { site: secrets.site, token: secrets.token, key: `Key ${secrets.key}` }

describe('secrets by their names', () => {
  test('are sent with each page, and shown and kept nowhere', async () => {
    const id = await create()
    await ask('POST', `/streams/${id}/source/run`)
    await service.api.settled(id, 6)

    expect(server.asked.map(seen)).toEqual([whole, whole, whole])
    expect(await sourceOf(id)).toMatchObject({
      endpoint: source().endpoint,
      headers: { 'x-key': mark },
      secrets: { site: mark, token: mark, key: mark },
    })
    const held = await ask<{ entries: { source: string }[] }>('GET', `/streams/${id}/quarantine`)
    expect(held.body.entries.map((entry) => entry.source)).toContain(
      `GET ${server.origin}/v1/\${site}/readings`,
    )

    isFailing = true
    await ask('POST', `/streams/${id}/source/run`)
    const failing = async () => (await service.api.status(id)).source
    await expect.poll(failing).toMatchObject({ state: 'failing' })
    await ask('GET', `/streams/${id}/status`)
    await ask('GET', `/streams/${id}/versions`)
    await ask('PUT', `/streams/${id}`, { name: 'another name' })
    await ask('POST', '/sources/check', { type: 'api_pull', source: source() })
    isFailing = false
    const good = { ...source(), endpoint: `${server.origin}/\${site}/good?\${token}` }
    const checked = await ask<object>('POST', '/sources/check', { type: 'api_pull', source: good })
    expect(checked.body).toMatchObject({
      reached: true,
      proposal: { source: { secrets: { site: mark, token: mark, key: mark } } },
    })
    shownTexts.push(await (await fetch(`${service.api.base}/metrics`)).text())

    const places = new Map(
      filesOf(service.process.dataDir).map((path) => [path, readFileSync(path)] as const),
    )
    places.set('the log', Buffer.from(service.process.output()))
    places.set('an answer', Buffer.from(shownTexts.join('\n')))
    expect(findings(canaries, places)).toEqual([])
    for (const [place, content] of places) {
      const found = encodedForms.filter((form) => content.includes(form))
      expect(found.map((form) => `${place}: ${form}`)).toEqual([])
    }
  })

  test('are kept by a change that does not send them again, and each can be replaced alone', async () => {
    const id = await create()
    const run = async () => {
      server.asked.length = 0
      await ask('POST', `/streams/${id}/source/run`)
      await expect.poll(() => server.asked.length).toBe(3)
      return seen(server.asked[0] as AskedOfServer)
    }
    const shown = await sourceOf(id)

    // As it was read.
    expect((await ask('PUT', `/streams/${id}`, { source: shown })).status).toBe(200)
    expect((await ask('PUT', `/streams/${id}`, { source: { timeout: '20s' } })).status).toBe(200)
    await expect.poll(run).toEqual(whole)
    const changed = { source: { secrets: { token: 'another' } } }
    expect((await ask('PUT', `/streams/${id}`, changed)).status).toBe(200)
    await expect.poll(run).toEqual({ ...whole, token: 'another' })
    expect((await sourceOf(id))['secrets']).toEqual({ site: mark, token: mark, key: mark })
  })

  test('are read on with another token, and not anew', async () => {
    const { pagination: _, ...rest } = source()
    const endpoint = `${server.origin}/v1/\${site}/tagged?token=\${token}`
    const id = await service.api.createStream(undefined, {
      type: 'api_pull',
      source: { ...rest, endpoint },
    })
    const run = async () => {
      await ask('POST', `/streams/${id}/source/run`)
      return server.asked.map(({ url, headers }) => [
        url.searchParams.get('token'),
        headers['if-none-match'],
      ])
    }
    await run()
    await service.api.settled(id, 1)

    await ask('PUT', `/streams/${id}`, { source: { secrets: { token: 'another' } } })

    await expect.poll(run).toContainEqual(['another', '"one"'])
    expect(await service.api.settled(id, 1)).toMatchObject({ received: 1 })
  })

  test.each<[string, object, string]>([
    [
      'another endpoint',
      { endpoint: 'https://elsewhere.example/${site}?t=${token}' },
      'source.secrets.token',
    ],
    ['a name of none', { headers: { 'x-key': '${nobody}' } }, 'source.headers.x-key'],
    ['the end of one that a header uses', { secrets: { key: null } }, 'source.headers.x-key'],
    ['one that nothing uses', { secrets: { more: 'hush' } }, 'source.secrets.more'],
    [
      'a mark for one that is not kept',
      { secrets: { more: mark }, headers: { 'x-key': '${more}' } },
      'source.secrets.more',
    ],
  ])('refuse a change with %s', async (_, change, path) => {
    const id = await create()

    const { status, body } = await ask<ErrorBody>('PUT', `/streams/${id}`, { source: change })

    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(body.details?.map((one) => one.path)).toContain(path)
  })

  test('go with what used them', async () => {
    const id = await create()

    const change = { endpoint: `${server.origin}/open`, headers: null }
    expect((await ask('PUT', `/streams/${id}`, { source: change })).status).toBe(200)

    expect(await sourceOf(id)).not.toHaveProperty('secrets')
  })

  test('are not shown by a query that was changed', async () => {
    const base = {
      protocol: 'postgres',
      endpoint: `127.0.0.1:${server.port}/plant`,
      credentials: { username: 'u', password: 'p' },
      schedule: '0 0 1 1 *',
    }
    const query = 'SELECT id FROM readings WHERE plain(${key})'
    const id = await service.api.createStream(undefined, {
      type: 'database',
      source: { ...base, query, secrets: { key: secrets.key } },
    })

    const change = { query: 'SELECT ${key} AS id' }
    const { status, body } = await ask<ErrorBody>('PUT', `/streams/${id}`, { source: change })

    expect([status, body.details?.map(({ path }) => path)]).toEqual([400, ['source.secrets.key']])
    const again = { ...change, secrets: { key: secrets.key } }
    expect((await ask('PUT', `/streams/${id}`, { source: again })).status).toBe(200)
  })

  test('are sent to servers of events and messages, and shown nowhere', async () => {
    const events = await service.api.createStream(undefined, {
      type: 'event_stream',
      source: {
        protocol: 'sse',
        endpoint: `${server.origin}/v1/\${site}/events?token=\${token}`,
        headers: { 'x-key': 'Key ${key}' },
        secrets,
      },
    })
    const messages = await service.api.createStream(undefined, {
      type: 'event_stream',
      source: {
        protocol: 'websocket',
        endpoint: `ws://127.0.0.1:${sockets.port}/\${site}?token=\${token}`,
        subscribe: [{ op: 'auth', key: '${key}' }],
        secrets,
      },
    })
    await service.api.settled(events, 1)
    await service.api.settled(messages, 1)

    expect(server.asked.map(seen)[0]).toEqual(whole)
    const [visit] = sockets.visits
    const url = new URL(visit?.url ?? '', 'ws://a')
    expect([decodeURIComponent(url.pathname.slice(1)), url.searchParams.get('token')]).toEqual([
      secrets.site,
      secrets.token,
    ])
    expect(sockets.said).toEqual([JSON.stringify({ op: 'auth', key: secrets.key })])
    for (const [id, from] of [
      [events, `events of ${server.origin}/v1/\${site}/events`],
      [messages, `messages of ws://127.0.0.1:${sockets.port}/\${site}`],
    ] as const) {
      const held = await ask<{ entries: { source: string }[] }>('GET', `/streams/${id}/quarantine`)
      expect(held.body.entries.map((entry) => entry.source)).toEqual([from])
    }
  })

  test('of a broker over a WebSocket are part of the request that opens it', async () => {
    sockets.visits.length = 0
    await service.api.createStream(undefined, {
      source: {
        endpoint: `ws://127.0.0.1:${sockets.port}/mqtt?token=\${token}`,
        topic: 'plants/7',
        secrets: { token: secrets.token },
      },
    })

    await expect.poll(() => sockets.visits.length).toBeGreaterThan(0)
    const url = new URL(sockets.visits[0]?.url ?? '', 'ws://a')
    expect(url.searchParams.get('token')).toBe(secrets.token)
  })

  test('are for no device that registers itself', async () => {
    const vaultId = await service.api.createVault()
    const definition = {
      type: 'iot_sensor',
      schema: { temperature: { type: 'number' } },
      source: { secrets: { a: 'hush' } },
    }
    const body = { name: 'line', definition, devicesMax: 1 }

    const answer = await ask<ErrorBody>('POST', `/vaults/${vaultId}/provisioning-keys`, body)

    expect(answer.status).toBe(400)
  })
})
