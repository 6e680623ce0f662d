import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { mqttClient } from '../../connectors/mqtt-client/mqtt-client.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { makeCertificate } from '../support/certificate.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { Mosquitto } from '../support/mosquitto.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const topic = 'plants/7'
const patience = { timeout: 60_000, interval: 20 }
const folder = new TemporaryFolder()
const brokers: Mosquitto[] = []

afterEach(async () => {
  for (const broker of brokers.splice(0)) await broker[Symbol.asyncDispose]()
})

afterAll(() => folder[Symbol.dispose]())

/** A broker with a second listener, whose lines of mosquitto.conf these are. */
async function brokerWith(lines: readonly string[]) {
  const port = await freePort()
  const broker = await Mosquitto.start([`listener ${port} 127.0.0.1`, ...lines])
  brokers.push(broker)
  return { broker, port }
}

function fetching(port: number, source: object): FetchingSource {
  const options = { connector: mqttClient, source: { topic, ...source }, ports: [port] }
  const made = new FetchingSource(options)
  made.start()
  return made
}

async function publish(broker: Mosquitto, ...numbers: readonly number[]): Promise<void> {
  const client = await broker.client()
  for (const number of numbers) {
    await client.publishAsync(topic, JSON.stringify({ number }), { qos: 1 })
  }
}

const running = { state: 'running' }

const server = makeCertificate(folder.path)
const stranger = makeCertificate(folder.path, 'stranger')

/** A certificate that the authority has signed, as a broker gives them to its clients. */
function clientCertificate() {
  const [key, request, cert] = ['client.key', 'client.csr', 'client.crt'].map((name) =>
    folder.file(name),
  ) as [string, string, string]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const asked = ['-subj', '/CN=vault', '-keyout', key, '-out', request]
  execFileSync('openssl', ['req', ...kind, ...asked], { stdio: 'pipe' })
  const authority = ['-CA', server.certPath, '-CAkey', server.keyPath, '-CAcreateserial']
  const signed = ['x509', '-req', '-in', request, ...authority, '-days', '2', '-out', cert]
  execFileSync('openssl', signed, { stdio: 'pipe' })
  return { certificate: readFileSync(cert, 'utf8'), privateKey: readFileSync(key, 'utf8') }
}

const tlsLines = [
  `certfile ${server.certPath}`,
  `keyfile ${server.keyPath}`,
  `cafile ${server.certPath}`,
]

describe('a broker behind TLS', () => {
  test('is believed when the source names who has signed its certificate', async () => {
    const { broker, port } = await brokerWith(tlsLines)
    const endpoint = `mqtts://127.0.0.1:${port}`
    await using source = fetching(port, { endpoint, tls: { ca: server.authority } })
    await expect.poll(() => source.runner.status, patience).toMatchObject(running)
    await publish(broker, 1)
    await expect.poll(() => source.entries().numbers, patience).toEqual([1])
  })

  test.each([
    ['nobody known has signed its certificate', {}],
    ['somebody else has', { ca: stranger.authority }],
    ['it is good for another name', { ca: server.authority, servername: 'broker.example' }],
  ])('is not believed when %s', async (_, tls) => {
    const { port } = await brokerWith(tlsLines)
    await using source = fetching(port, { endpoint: `mqtts://127.0.0.1:${port}`, tls })
    await expect.poll(() => source.runner.status, patience).toMatchObject({ state: 'failing' })
    expect(source.runner.connections).toBe(0)
  })

  test('is shown a certificate where it asks for one, and refuses us without', async () => {
    const { broker, port } = await brokerWith([...tlsLines, 'require_certificate true'])
    const secured = { endpoint: `mqtts://127.0.0.1:${port}`, tls: { ca: server.authority } }
    await using refused = fetching(port, secured)
    await expect.poll(() => refused.runner.status, patience).toMatchObject({ state: 'failing' })
    await using source = fetching(port, { ...secured, credentials: clientCertificate() })
    await expect.poll(() => source.runner.status, patience).toMatchObject(running)
    await publish(broker, 1)
    await expect.poll(() => source.entries().numbers, patience).toEqual([1])
  })
})

describe('a broker behind a WebSocket', () => {
  test.each([
    ['ws', []],
    ['wss', tlsLines],
  ] as const)('is reached by %s', async (scheme, lines) => {
    const { broker, port } = await brokerWith(['protocol websockets', ...lines])
    const tls = scheme === 'wss' && { tls: { ca: server.authority } }
    await using source = fetching(port, { endpoint: `${scheme}://127.0.0.1:${port}/mqtt`, ...tls })
    await expect.poll(() => source.runner.status, patience).toMatchObject(running)
    await publish(broker, 1, 2)
    await expect.poll(() => source.entries().numbers, patience).toEqual([1, 2])
  })
})

test('two streams of one group share what is published, and lose nothing when one leaves', async () => {
  const broker = await Mosquitto.start()
  brokers.push(broker)
  const shared = { endpoint: broker.endpoint, sharedGroup: 'vault', version: 5 }
  await using first = fetching(broker.port, shared)
  await using second = fetching(broker.port, shared)
  for (const one of [first, second]) {
    await expect.poll(() => one.runner.status, patience).toMatchObject(running)
  }
  const numbers = Array.from({ length: 200 }, (_, index) => index)
  await publish(broker, ...numbers.slice(0, 100))
  await first.runner.stop()
  await publish(broker, ...numbers.slice(100))
  first.start()
  const all = () => [...first.entries().numbers, ...second.entries().numbers]
  await expect.poll(() => all().length, patience).toBe(200)
  expect(all().toSorted((left, right) => left - right)).toEqual(numbers)
  expect(first.entries().numbers.length).toBeGreaterThan(20)
  expect(second.entries().numbers.length).toBeGreaterThan(20)
})

test.each([4, 5])(
  'a stream of a group takes part again when a broker has forgotten its subscription (version %i)',
  async (version) => {
    const broker = await Mosquitto.start()
    brokers.push(broker)
    await using source = fetching(broker.port, {
      endpoint: broker.endpoint,
      sharedGroup: 'vault',
      version,
    })
    await expect.poll(() => source.runner.status, patience).toMatchObject(running)
    await publish(broker, 1)
    await expect.poll(() => source.entries().numbers, patience).toEqual([1])
    // It writes down sessions, and not the shared subscriptions in them.
    await broker.stop()
    await expect.poll(() => source.runner.status.state, patience).toBe('failing')
    await broker.start()
    await expect.poll(() => source.runner.status, patience).toMatchObject(running)
    await publish(broker, 2)
    await expect.poll(() => source.entries().numbers, patience).toEqual([1, 2])
  },
)
