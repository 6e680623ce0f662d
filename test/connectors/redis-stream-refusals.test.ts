import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { makeCertificate } from '../support/certificate.ts'
import { ReadStream } from '../support/read-stream.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const certificate = makeCertificate(folder.path, 'server', 'IP:127.0.0.1')
const { certPath, keyPath, authority } = certificate
const tlsPort = await freePort()
const password = 'hunter2-of-the-test'
let started: RedisServer | undefined

afterAll(async () => {
  await started?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function newStream(more: Readonly<Record<string, unknown>> = {}): Promise<ReadStream> {
  const files = [
    '--tls-cert-file',
    certPath,
    '--tls-key-file',
    keyPath,
    '--tls-ca-cert-file',
    certPath,
  ]
  started ??= await RedisServer.start(['--tls-port', `${tlsPort}`, ...files])
  return await ReadStream.create(started, more)
}

function runOf({ source }: ReadStream, more: object = {}, port = started?.port ?? 0): RecordedRun {
  const definition = { streamId: newId<StreamId>(), source: { ...source, ...more } }
  return new RecordedRun(redisStream.open(definition), port)
}

/** A user that may do no more than docs/redis-streams.md says that it needs. */
async function newUser({ client, key }: ReadStream, ...permissions: readonly string[]) {
  const username = `user-of-${key.replace(':', '-')}`
  await client.acl('SETUSER', username, 'on', `>${password}`, `~${key}`, ...permissions)
  return { credentials: { username, password } }
}

const readingAlone = ['+xread', '+xinfo', '+xrevrange']
const asMember = ['+xreadgroup', '+xack', '+xautoclaim', '+xgroup', '+xinfo', '+xrevrange']

describe.skipIf(isRedisMissing)('a source at a server of Redis', () => {
  test.each([
    ['alone', readingAlone, {}],
    ['as a member', asMember, { group: 'vault' }],
  ])('needs only what is said to read %s', async (_, permissions, more) => {
    await using stream = await newStream({ startFrom: 'earliest', ...more })
    await stream.add(0, 2)
    await using run = runOf(stream, await newUser(stream, ...permissions))
    await expect.poll(() => run.messages.length).toBe(2)
  })

  test.each<[string, (stream: ReadStream) => Promise<object>, RegExp]>([
    [
      'a wrong password',
      async () => ({ credentials: { password } }),
      /does not know|has no password/,
    ],
    [
      'an unknown user',
      async () => ({ credentials: { username: 'nobody', password } }),
      /does not know this user/,
    ],
    ['no permission', async (stream) => await newUser(stream, '+xinfo'), /lacks a permission/],
    [
      'no such database',
      async ({ source }) => ({ endpoint: `${String(source['endpoint'])}/99` }),
      /no database/,
    ],
    [
      'a key that is no stream',
      async ({ client, key }) => {
        await client.set(key, 'x')
        return {}
      },
      /something else than a stream/,
    ],
  ])('is refused for %s', async (_, prepare, reason) => {
    await using stream = await newStream()
    const more = await prepare(stream)
    const failure = await runOf(stream, more).ended
    expect(failure).toMatchObject({ name: 'SourceRefused', message: expect.stringMatching(reason) })
    expect(String(failure)).not.toContain(password)
  })

  test.each([{}, { group: 'vault' }])(
    'is refused where a stream has gone back: %j',
    async (more) => {
      await using stream = await newStream(more)
      const reader = stream.reader()
      reader.start()
      await expect.poll(() => reader.runner.status.state).toBe('running')
      await stream.addAs('7-1', 0)
      await expect.poll(() => reader.entries().numbers).toEqual([0])
      await expect.poll(() => reader.runner.status.unacknowledged).toBe(0)
      await stream.client.del(stream.key)
      await stream.addAs('5-1', 1)
      await expect.poll(() => reader.runner.status.isLasting).toBe(true)
      expect(reader.runner.status.lastError).toMatch(/ends at entry 5-1, and was read up to 7-1/)
      await stream.addAs('7-2', 2)
      reader.runner.hurry()
      await expect.poll(() => reader.entries().numbers).toEqual([0, 2])
    },
  )

  test('is read over TLS by who has a certificate, and trusts that of the server', async () => {
    await using stream = await newStream({ startFrom: 'earliest' })
    await stream.add(0, 1)
    const pair = { certificate: authority, privateKey: readFileSync(keyPath, 'utf8') }
    const endpoint = `rediss://127.0.0.1:${tlsPort}`
    const [credentials, tls] = [{ credentials: pair }, { tls: { ca: authority } }]
    await using run = runOf(stream, { endpoint, ...credentials, ...tls }, tlsPort)
    await expect.poll(() => run.messages.length).toBe(1)
    expect(String(await runOf(stream, { endpoint, ...credentials }, tlsPort).ended)).toMatch(
      /self-signed/,
    )
    await using without = runOf(stream, { endpoint, ...tls }, tlsPort)
    expect(String(await without.ended)).toMatch(/certificate|closed|ECONNRESET/i)
  })

  test('shows the newest entries to who tries it, and leaves nothing there', async () => {
    await using stream = await newStream({ group: 'vault' })
    const trials = new SourceTrials({ connectors: [redisStream], dial: dialOf(), nowUs: () => 0 })
    const before = await trials.try(stream.source, newId<UserId>())
    expect(before.problem).toMatch(/there is no stream/)
    expect(await stream.client.exists(stream.key)).toBe(0)

    await stream.add(0, 12)
    const { messages, problem } = await trials.try(stream.source, newId<UserId>())
    const numbers = messages.map(
      ({ payload }) => JSON.parse(Buffer.from(payload).toString()).number,
    )
    expect({ numbers, problem }).toEqual({
      numbers: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      problem: undefined,
    })
    expect(await stream.client.xinfo('GROUPS', stream.key)).toEqual([])
  })

  test.each([
    [0, []],
    [1, ['consumer']],
  ])('leaves a group when it is given up, unless %i entries would be lost', async (count, left) => {
    await using stream = await newStream({ group: 'vault' })
    const streamId = newId<StreamId>()
    const source = redisStream.open({ streamId, source: stream.source })
    const run = new RecordedRun(source, started?.port ?? 0)
    await expect.poll(async () => await stream.client.exists(stream.key)).toBe(1)
    await stream.add(0, 1)
    await expect.poll(() => run.messages.length).toBe(1)
    await expect.poll(async () => await stream.pending()).toBe(0)
    await run[Symbol.asyncDispose]()
    const name = `streamvault-${streamId}`
    await stream.client.xgroup('SETID', stream.key, 'vault', '0')
    if (count > 0) await stream.leaveWith(name, count, 0)

    await source.release?.({ dial: dialOf(), signal: new AbortController().signal })
    const consumers = (await stream.client.xinfo('CONSUMERS', stream.key, 'vault')) as string[][]
    expect(consumers.map(([, found]) => found?.replace(name, 'consumer'))).toEqual(left)
  })
})

function dialOf() {
  const allowed = new AllowedDestinations([{ host: '127.0.0.1', port: started?.port ?? 0 }])
  return guardedDial(new EgressGuard({ allowed }))
}
