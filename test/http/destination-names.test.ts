import { beforeAll, describe, expect, test } from 'vitest'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService({
  STREAMVAULT_EGRESS_ALLOW: 'localhost:80, hooks.local:8000-8010, kafka:9092, 127.0.0.0/8:2-3',
})
const at = '/notifications/webhooks'
let owner: Person
let vaultId: string

beforeAll(async () => {
  owner = await newPerson(service.api)
  vaultId = await vaultOf(owner)
})

const refusedHosts = [
  'localhost:443',
  'localhost.:443',
  'LocalHost:443',
  'ｌｏｃａｌｈｏｓｔ:443',
  '%6cocalhost:443',
  'a.localhost',
  'a.b.localhost.',
  'printer.local',
  'printer.LOCAL.',
  'receiver.test',
  'receiver.invalid',
  'receiver.example',
  'plc.internal',
  'router.lan',
  'router.home.arpa',
  'expyuzz4wqqyqhjn.onion',
  '1.0.0.10.in-addr.arpa',
  'redis',
  'redis.',
  'com',
]

interface Refusal {
  readonly error: string
  readonly message: string
}

async function refused(method: 'POST' | 'PUT', path: string, body: object): Promise<Refusal> {
  const answer = await (path.startsWith('/notifications')
    ? owner.withKey<Refusal>(method, path, body)
    : owner.withToken<Refusal>(method, path, body))
  expect(answer.status, JSON.stringify(answer.body)).toBe(422)
  expect(answer.body.error).toBe('destination_not_allowed')
  return answer.body
}

describe('a name that public DNS does not have', () => {
  test.each(refusedHosts)('%s is refused for a webhook, in both interfaces', async (host) => {
    const url = `http://${host}/hook`
    const good = { url: 'https://93.184.215.14/', status: 'ACTIVE' }
    await refused('POST', at, { url, event_types: ['vault.created'] })
    await refused('POST', '/webhooks', { url, events: ['vault.created'] })
    const types = { event_types: ['vault.created'] }
    const { body: made } = await owner.withKey<{ id: string }>('POST', at, { ...good, ...types })
    await refused('PUT', `${at}/${made.id}`, { url })
    await refused('PUT', `/webhooks/${made.id}`, { url })
    const { body: verdict } = await owner.withKey<object>('POST', `${at}/check`, { url })
    expect(verdict).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/public DNS.*STREAMVAULT_EGRESS_ALLOW/) as string,
      addresses: [],
    })
    await owner.withKey('DELETE', `${at}/${made.id}`)
  })

  test.each(['localhost', 'hooks.local:8000', 'hooks.local:8010'])(
    '%s is taken where the operator allows it',
    async (host) => {
      const body = { url: `http://${host}/hook`, event_types: ['vault.created'] }
      const { status } = await owner.withKey('POST', at, body)
      expect(status).toBe(201)
    },
  )

  test('is refused at another port than what is allowed, which is named', async () => {
    const url = 'http://hooks.local:8011/hook'
    const { message } = await refused('POST', at, { url, event_types: ['vault.created'] })
    expect(message).toContain("'hooks.local:8011' in STREAMVAULT_EGRESS_ALLOW")
  })
})

const api = { schedule: '*/5 * * * *' }
const oauth2 = { type: 'oauth2', clientId: 'us', clientSecret: 'hush' }

/** A source of each kind that connects to somewhere, with names that nobody can reach. */
const sources: readonly (readonly [string, object])[] = [
  ['iot_sensor', { protocol: 'mqtt', endpoint: 'mqtt://broker.local:1883', topic: 'a' }],
  ['iot_sensor', { protocol: 'coap', endpoint: 'coap://sensor.local/a' }],
  ['event_stream', { protocol: 'kafka', endpoint: 'kafka://broker:9092', topic: 'a' }],
  ['event_stream', { protocol: 'kafka', endpoint: 'kafka://kafka:9092,other:9092', topic: 'a' }],
  ['event_stream', { protocol: 'nats', endpoint: 'nats://nats', topic: 'a' }],
  ['event_stream', { protocol: 'amqp', endpoint: 'amqp://rabbit', topic: 'a' }],
  ['event_stream', { protocol: 'redis', endpoint: 'redis://redis', topic: 'a', group: 'us' }],
  ['event_stream', { protocol: 'sse', endpoint: 'http://localhost:81/' }],
  ['event_stream', { protocol: 'websocket', endpoint: 'ws://localhost:81/' }],
  ['api_pull', { endpoint: 'http://api.internal/', ...api }],
  [
    'api_pull',
    {
      endpoint: 'https://93.184.215.14/',
      ...api,
      authentication: { ...oauth2, tokenUrl: 'https://id.internal/token' },
    },
  ],
  ['database', { protocol: 'postgres', endpoint: 'db:5432/plant', query: 'SELECT 1 AS a', ...api }],
  [
    'manufacturing',
    {
      protocol: 'modbus',
      endpoint: 'modbus://plc.local',
      schedule: '* * * * *',
      registers: [{ field: 'a', address: 0, type: 'uint16' }],
    },
  ],
  [
    'manufacturing',
    { protocol: 'opcua', endpoint: 'opc.tcp://plc:4840', items: { a: 'ns=1;s=a' } },
  ],
]

test.each(sources)('a %s of %o is refused, with the entry that allows it', async (type, source) => {
  const schema = { a: { type: 'number' } }
  const body = { name: 'a', vaultId, type, source, schema }
  const { message } = await refused('POST', '/streams', body)
  expect(message).toMatch(/public DNS.*can allow '[^']+:\d+' in STREAMVAULT_EGRESS_ALLOW/)
})

test('an address of a network is allowed at the ports of its entry', async () => {
  const source = { protocol: 'mqtt', topic: 'a' }
  const schema = { a: { type: 'number' } }
  for (const [port, status] of [
    [2, 201],
    [3, 201],
    [4, 422],
  ] as const) {
    const endpoint = `mqtt://127.7.7.7:${port}`
    const body = {
      name: String(port),
      vaultId,
      type: 'iot_sensor',
      source: { ...source, endpoint },
      schema,
    }
    expect((await owner.withToken('POST', '/streams', body)).status).toBe(status)
  }
})
