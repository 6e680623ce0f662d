import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { amqp } from '../../connectors/amqp/amqp.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { makeAuthority, makeCertificate } from '../support/certificate.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { guardedDialTo } from '../support/guarded-dial-to.ts'
import { isRabbitmqMissing, Rabbitmq } from '../support/rabbitmq.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const patience = { timeout: 60_000, interval: 20 }
const folder = new TemporaryFolder()
const certificate = makeCertificate(folder.path)
const authority = makeAuthority(folder.path, 'plant')
const tlsPort = await freePort()
const password = 'hunter2-of-the-test'
let started: Promise<Rabbitmq> | undefined

afterAll(async () => {
  await (await started)?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const everything = { configure: '.*', write: '.*', read: '.*' }

/** One with a listener of TLS, a user without rights, and one that is known by a certificate. */
async function server(): Promise<Rabbitmq> {
  started ??= Rabbitmq.start({
    plugins: ['rabbitmq_auth_mechanism_ssl'],
    settings: [
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.certfile = ${certificate.certPath}`,
      `ssl_options.keyfile = ${certificate.keyPath}`,
      `ssl_options.cacertfile = ${authority.certPath}`,
      'ssl_options.verify = verify_peer',
      'ssl_cert_login_from = common_name',
      'auth_mechanisms.1 = PLAIN',
      'auth_mechanisms.2 = EXTERNAL',
    ],
    definitions: {
      users: [
        { name: 'nobody', password, tags: [] },
        { name: 'vault', password, tags: [] },
      ],
      permissions: [
        { user: 'nobody', vhost: '/', configure: '', write: '', read: '' },
        { user: 'vault', vhost: '/', ...everything },
      ],
    },
  })
  return await started
}

/** What a source of a queue fails with. */
async function refusalOf(more: Readonly<Record<string, unknown>>) {
  const rabbitmq = await server()
  const topic = await rabbitmq.newQueue()
  const { endpoint, credentials, port } = rabbitmq
  const source = { protocol: 'amqp', endpoint, credentials, topic, ...more }
  await using run = new RecordedRun(amqp.open({ streamId: newId<StreamId>(), source }), port)
  return await run.ended
}

/** What somebody is shown who tries a source. */
async function tried(more: Readonly<Record<string, unknown>>) {
  const { endpoint, credentials, port } = await server()
  const trials = new SourceTrials({
    connectors: [amqp],
    dial: guardedDialTo(port),
    nowUs: () => 0,
  })
  const source = { protocol: 'amqp', endpoint, credentials, ...more }
  const found = await trials.try(source, newId<UserId>())
  return { ...found, texts: found.messages.map(({ payload }) => String(payload)) }
}

describe.skipIf(isRabbitmqMissing)('a server of AMQP', () => {
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    [
      'who has a wrong password',
      { credentials: { username: 'vault', password: 'wr0ng' } },
      /does not let us: ACCESS_REFUSED - Login was refused/,
    ],
    [
      'who may not read',
      { credentials: { username: 'nobody', password } },
      /does not let us: ACCESS_REFUSED - .*access to queue/,
    ],
    ['who wants a queue that is not there', { topic: 'none' }, /missing .*no queue 'none'/],
    [
      'who wants an exchange that is not there',
      { topic: undefined, exchange: 'none' },
      /missing .*no exchange 'none'/,
    ],
    ['who has no name', { credentials: undefined }, /does not let us: ACCESS_REFUSED - Login/],
  ])('refuses %s', async (_, more, message) => {
    const refusal = await refusalOf(more)
    expect(refusal).toMatchObject({ name: 'SourceRefused' })
    expect(String(refusal)).toMatch(message)
    expect(String(refusal)).not.toMatch(/hunter2|wr0ng/)
  })

  test('refuses who wants another virtual host', async () => {
    const { endpoint } = await server()
    const refusal = await refusalOf({ endpoint: `${endpoint}/plants%2F7` })
    expect(String(refusal)).toMatch(/SourceRefused: .*let us in: .*plants\/7/)
  })

  test('refuses a queue of ours that is there as another', async () => {
    const rabbitmq = await server()
    const group = await rabbitmq.newQueue('quorum')
    const more = { topic: undefined, exchange: 'amq.topic', group }
    expect(String(await refusalOf(more))).toMatch(/SourceRefused: .*PRECONDITION_FAILED/)
  })

  test('knows us by our certificate, and is known by its own', async () => {
    const rabbitmq = await server()
    const topic = await rabbitmq.newQueue()
    const { cert, key } = authority.sign('vault')
    const source = {
      protocol: 'amqp',
      endpoint: `amqps://127.0.0.1:${tlsPort}`,
      tls: { ca: readFileSync(certificate.certPath, 'utf8') },
      credentials: { certificate: cert, privateKey: key },
      topic,
    }
    await using reader = new FetchingSource({ connector: amqp, source, ports: [tlsPort] })
    reader.start()
    await rabbitmq.publish({ routingKey: topic }, [Buffer.from('{"number":1}')])
    await expect.poll(() => reader.entries().numbers, patience).toEqual([1])

    const trusting = { ...source, tls: undefined }
    const definition = { streamId: newId<StreamId>(), source: trusting }
    await using other = new RecordedRun(amqp.open(definition), tlsPort)
    expect(String(await other.ended)).toMatch(/self-signed/)
  })

  test('does not know us by a certificate that it does not see', async () => {
    const refusal = await refusalOf({ credentials: { certificate: 'only TLS shows it' } })
    expect(String(refusal)).toMatch(/SourceRefused: SASL mechanism EXTERNAL is not provided/)
  })
})

describe.skipIf(isRabbitmqMissing)('a trial', () => {
  test.each(['classic', 'quorum', 'stream'] as const)(
    'shows what is in a queue (%s), and leaves it there in its order',
    async (queueType) => {
      const rabbitmq = await server()
      const topic = await rabbitmq.newQueue(queueType)
      const texts = ['{"number":1}', '{"number":2}']
      await rabbitmq.publish(
        { routingKey: topic },
        texts.map((text) => Buffer.from(text)),
      )
      const shown = await tried({ topic, queueType })
      // A stream shows what has come together with the first message.
      const count = queueType === 'stream' ? Math.max(1, shown.count) : texts.length
      expect(shown).toMatchObject({ texts: texts.slice(0, count), problem: undefined })
      const { endpoint, credentials, port } = rabbitmq
      const source = { protocol: 'amqp', endpoint, credentials, topic, queueType }
      await using reader = new FetchingSource({ connector: amqp, source, ports: [port] })
      reader.start()
      await expect.poll(() => reader.entries().numbers, patience).toEqual([1, 2])
    },
  )

  test('takes nothing of a queue that somebody consumes', async () => {
    const rabbitmq = await server()
    const topic = await rabbitmq.newQueue()
    const { endpoint, credentials, port } = rabbitmq
    const source = { protocol: 'amqp', endpoint, credentials, topic, prefetch: 1 }
    await using reader = new FetchingSource({ connector: amqp, source, ports: [port] })
    reader.journal.hold()
    reader.start()
    const texts = ['{"number":1}', '{"number":2}']
    await rabbitmq.publish(
      { routingKey: topic },
      texts.map((text) => Buffer.from(text)),
    )
    await expect.poll(() => reader.runner.status.unacknowledged, patience).toBe(1)
    expect(await tried({ topic })).toMatchObject({ isReached: true, count: 0, problem: undefined })
    expect(await rabbitmq.count(topic)).toEqual({ messageCount: 1, consumerCount: 1 })
  })

  test('hears an exchange by a queue that is gone with it', async () => {
    const rabbitmq = await server()
    const [exchange, group] = [rabbitmq.newName(), rabbitmq.newName()]
    const channel = await rabbitmq.channel()
    await channel.assertExchange(exchange, 'fanout', { autoDelete: true })
    let isOver = false
    const trial = tried({ exchange, group }).finally(() => {
      isOver = true
    })
    const publish = async () => {
      await rabbitmq.publish({ exchange, routingKey: '' }, [Buffer.from('{"number":1}')])
      return isOver
    }
    await expect.poll(publish, patience).toBe(true)
    expect((await trial).texts[0]).toBe('{"number":1}')
    expect(await rabbitmq.has(group)).toBe(false)
    // It goes with the last queue that was bound to it.
    const isThere = async () =>
      await (await rabbitmq.channel()).checkExchange(exchange).then(
        () => true,
        () => false,
      )
    await expect.poll(isThere, patience).toBe(false)
  })

  test('says what is wrong, and shows no secret', async () => {
    const credentials = { username: 'vault', password: 'wr0ng' }
    const { problem, isReached } = await tried({ topic: 'none', credentials })
    expect({ problem, isReached }).toEqual({
      problem: expect.stringMatching(/Login was refused/),
      isReached: false,
    })
    expect((await tried({ topic: 'none' })).problem).toMatch(/no queue 'none'/)
  })
})
