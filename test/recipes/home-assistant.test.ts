import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { MadeDevice } from '../support/devices.ts'
import { sendRaw } from '../support/raw-http.ts'
import { runningService } from '../support/running-service.ts'
import { withoutVolatile } from '../support/shown-output.ts'
import { testReceiver } from '../support/test-receiver.ts'

/**
 * What docs/recipes/home-assistant.md shows beside statestream. Requests have the headers that Home Assistant 2024.3 has
 * sent, recorded at a socket; its templates are held to the members that they read.
 */

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${receiver.port}` })

const page = readFileSync('docs/recipes/home-assistant.md', 'utf8')

/** A block of the page, by what stands behind its language. */
function block(label: string): string {
  const found = new RegExp(`^\`\`\`json ${label}\\n(.*?)\\n\`\`\`$`, 'ms').exec(page)?.[1]
  if (found === undefined) throw new Error(`the page has no block: ${label}`)
  return found
}

/** What the templates of the page read of a value: `data.field` of `trigger.json.data.field`. */
function readBy(value: string): readonly string[] {
  const found = [...page.matchAll(/\{\{ (.*?) \}\}/g)].flatMap(([, template = '']) =>
    [...template.matchAll(new RegExp(`\\b${value}\\.([\\w.]+)`, 'g'))].map(([, path = '']) => path),
  )
  return [...new Set(found)]
}

function memberOf(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((at, name) => (at as Readonly<Record<string, unknown>>)[name], value)
}

const basic = (key: string, secret: string) =>
  `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`

/** Names and values, alternating, of lines of a head. */
const headersOf = (lines: readonly string[]) => lines.flatMap((line) => line.split(': '))

/** A text as the page is compared: in one form, and with a word for each time and each id. */
const shape = (json: string) => withoutVolatile(JSON.stringify(JSON.parse(json), undefined, 2))

const schema = { temperature: { type: 'number' } }

test('a posted state is stored', async () => {
  const fields = { entity: { type: 'string' }, value: { type: 'number' } }
  const streamId = await service.api.createStream(fields)
  const { apiKey, apiSecret } = (
    await service.api.withToken<MadeDevice>('POST', '/devices', {
      name: 'Home Assistant',
      streamIds: [streamId],
    })
  ).body

  // As the template of the page renders it.
  const payload = /^ {4}payload: '(.*)'$/m.exec(page)?.[1] ?? ''
  const body = payload
    .replace('{{ entity }}', 'sensor.heat_pump_power')
    .replace('{{ value }}', '1250')
  const answer = await sendRaw(service.process.http, {
    method: 'POST',
    path: `/streams/${streamId}/data`,
    headers: headersOf([
      'User-Agent: HomeAssistant/2024.3.3 aiohttp/3.9.3 Python/3.11',
      'Content-Type: application/json',
      'Accept: */*',
      'Accept-Encoding: gzip, deflate',
      `Authorization: ${basic(apiKey, apiSecret)}`,
    ]),
    body,
  })

  expect(answer.status).toBe(202)
  await service.api.settled(streamId, 1)
  expect(await service.api.readAll(streamId)).toMatchObject([
    { entity: 'sensor.heat_pump_power', value: 1250 },
  ])
})

test('the newest reading is what the template of a sensor reads', async () => {
  const streamId = await service.api.createStream(schema)
  const reading = { timestamp: '2026-01-31T10:00:00Z', temperature: 81.5 }
  await service.api.withToken('POST', `/streams/${streamId}/data`, reading)
  await service.api.settled(streamId, 1)
  const wanted = { name: 'ha', kind: 'live', permission: 'custom', scopes: ['data:read'] }
  const key = (await service.api.withToken<MadeDevice>('POST', '/keys', wanted)).body

  const answer = await sendRaw(service.process.http, {
    method: 'GET',
    path: `/streams/${streamId}/latest`,
    headers: headersOf([
      'Accept: */*',
      'Accept-Encoding: gzip, deflate',
      'Connection: keep-alive',
      'User-Agent: HomeAssistant/2024.3.3 httpx/0.27.0 Python/3.11',
      `Authorization: ${basic(key.apiKey, key.apiSecret)}`,
    ]),
  })

  expect(answer.status).toBe(200)
  expect(shape(answer.text)).toBe(shape(block('latest')))
  expect(readBy('value_json')).toEqual(['data.temperature'])
  expect(memberOf(answer.body, 'data.temperature')).toBe(81.5)
})

test('an alert arrives as the page shows it, with what the templates read', async () => {
  const rule = /`(\{"id": "too-hot"[^`]*\})`/.exec(page)?.[1]?.replaceAll('\n', ' ') ?? ''
  const processing = { alerting: [JSON.parse(rule) as object] }
  const streamId = await service.api.createStream(schema, { processing, name: 'boiler 7' })
  const webhook = JSON.parse(block('webhook')) as { readonly url: string }
  const { pathname } = new URL(webhook.url)
  const url = `http://127.0.0.1:${receiver.port}${pathname}`
  expect(await service.api.withToken('POST', '/webhooks', { ...webhook, url })).toMatchObject({
    status: 201,
  })

  for (const [second, temperature] of [61.5, 81.5].entries()) {
    const reading = { timestamp: `2026-01-31T10:00:0${second}Z`, temperature }
    await service.api.withToken('POST', `/streams/${streamId}/data`, reading)
  }

  const [received] = await receiver.requests(1)
  expect(received?.path).toBe(`/api/webhook/${/webhook_id: (.*)/.exec(page)?.[1]}`)
  // Home Assistant parses what says that it is JSON.
  expect(received?.headers['content-type']).toMatch(/json/)
  const body = received?.body.toString() ?? ''
  expect(shape(body)).toBe(shape(block('alert')))
  const read = readBy('trigger.json')
  expect(read).toContain('data.streamName')
  expect(read.filter((path) => memberOf(JSON.parse(body), path) == null)).toEqual([])
})
