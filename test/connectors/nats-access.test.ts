import { nkeys } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeAuthority, makeCertificate } from '../support/certificate.ts'
import { isNatsMissing, NatsServer } from '../support/nats.ts'
import { operatorSettings } from '../support/nats-operator.ts'
import { fails, follower, keeps, numbers, readings } from '../support/nats-source.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
let server: NatsServer

beforeAll(async () => {
  if (!isNatsMissing) server = await NatsServer.start()
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** Has the server begin anew, with a stream of ten readings, and returns what reads it. */
async function filled(settings: readonly string[], credentials?: object): Promise<string> {
  await server.restart(settings, credentials && { ...credentials })
  const subject = (await server.newStream()).toLowerCase()
  await server.publish(`${subject}.a`, readings(0, 10))
  return `${subject}.>`
}

const seedOf = (pair: ReturnType<typeof nkeys.createUser>) =>
  new TextDecoder().decode(pair.getSeed())

describe.skipIf(isNatsMissing)('a server lets in', () => {
  const user = nkeys.createUser()
  const operator = operatorSettings()
  test.each([
    [
      'a user with a password',
      ['authorization { user: plant, password: "s3cret-plant" }'],
      { username: 'plant', password: 's3cret-plant' },
      { username: 'plant', password: 'wr0ng-password' },
    ],
    [
      'a token',
      ['authorization { token: "s3cret-token" }'],
      { token: 's3cret-token' },
      { token: 'wr0ng-token' },
    ],
    [
      'an NKey',
      [`authorization { users: [ { nkey: ${user.getPublicKey()} } ] }`],
      { nkey: seedOf(user) },
      { nkey: seedOf(nkeys.createUser()) },
    ],
    [
      'a token that is signed',
      operator.settings,
      { credentialsFile: operator.credentialsFile },
      { credentialsFile: operatorSettings().credentialsFile },
    ],
  ] as const)('%s, and nobody else', async (_, settings, credentials, wrong) => {
    const topic = await filled(settings, credentials)
    await using source = follower(server, { topic, credentials })
    source.start()
    await keeps(source, numbers(0, 10))
    for (const given of [wrong, undefined]) {
      await using stranger = follower(server, { topic, ...(given && { credentials: given }) })
      stranger.start()
      await fails(stranger, /does not let us in/)
      const { lastError, isLasting } = stranger.runner.status
      expect(isLasting).toBe(true)
      for (const secret of Object.values(given ?? {}).slice(-1)) {
        expect(lastError).not.toContain(secret)
      }
    }
  })

  test('nobody with a key that cannot be read, which nobody is shown', async () => {
    const topic = await filled([])
    await using source = follower(server, { topic, credentials: { nkey: 'SUAKEY' } })
    source.start()
    await fails(source, /^the credentials are no NKey/)
  })

  test.each([
    ['ask for messages', '$JS.API.CONSUMER.MSG.NEXT.>'],
    ['make a consumer', '$JS.API.CONSUMER.CREATE.>'],
  ])('a user who may not %s, and says so', async (_, denied) => {
    const users = [
      '{ user: admin, password: admin }',
      `{ user: plant, password: plant, permissions: { publish: { deny: "${denied}" } } }`,
    ]
    const topic = await filled([`authorization { users: [ ${users.join(', ')} ] }`], {
      username: 'admin',
      password: 'admin',
    })
    const credentials = { username: 'plant', password: 'plant' }
    await using source = follower(server, { topic, credentials })
    source.start()
    await fails(source, /lacks a permission: .*Publish to "\$JS\.API\.CONSUMER/)
    expect(source.runner.status.isLasting).toBe(true)
  })

  test('whoever names its domain, and the way through it', async () => {
    const topic = await filled(['jetstream { domain: hub }'])
    await using source = follower(server, { topic, domain: 'hub' })
    source.start()
    await keeps(source, numbers(0, 10))
    await using stranger = follower(server, { topic, domain: 'other' })
    stranger.start()
    await fails(stranger, /no JetStream/)
  })

  test('whom it has no JetStream for', async () => {
    await server.restart(['jetstream: disabled'])
    await using source = follower(server, { topic: 'a.>' })
    source.start()
    await fails(source, /no JetStream/)
  })
})

describe.skipIf(isNatsMissing)('a server with TLS', () => {
  const certificate = makeCertificate(folder.path, 'server', 'DNS:plant.example,IP:127.0.0.1')
  const { certPath, keyPath, authority: ca } = certificate
  const files = `cert_file: "${certPath}", key_file: "${keyPath}"`

  /** A server that wants TLS, and somebody who reads from it. */
  async function secured(settings: string, tls: object | undefined, more: object = {}) {
    const topic = await filled([])
    await server.restart([`tls { ${files}, timeout: 5 ${settings} }`])
    const endpoint = `tls://127.0.0.1:${server.port}`
    return follower(server, { topic, ...(tls && { endpoint, tls }), ...more })
  }

  test.each([
    ['after its greeting', '', {}],
    ['before its greeting', ', handshake_first: true', { handshakeFirst: true }],
  ])('that begins %s is read from', async (_, settings, more) => {
    await using source = await secured(settings, { ca, ...more })
    source.start()
    await keeps(source, numbers(0, 10))
  })

  test('is the one whose name is expected', async () => {
    await using source = await secured('', { ca, servername: 'plant.example' })
    source.start()
    await keeps(source, numbers(0, 10))
  })

  test.each([
    ['that nobody has signed', {}, /self-signed/],
    ['of another name', { ca, servername: 'other.example' }, /altnames/],
    [
      'of another name, from the beginning',
      { ca, servername: 'other.example', handshakeFirst: true },
      /altnames/,
    ],
  ])('%s is told no credentials', async (_, tls, reason) => {
    const first = 'handshakeFirst' in tls ? ', handshake_first: true' : ''
    const credentials = { username: 'plant', password: 's3cret-plant' }
    await using source = await secured(first, tls, { credentials })
    source.start()
    await fails(source, reason)
    expect(source.entries().numbers).toEqual([])
  })

  test('knows its clients by their certificates', async () => {
    const clients = makeAuthority(folder.path, 'clients')
    const { cert, key } = clients.sign('plant')
    const verify = `, verify: true, ca_file: "${clients.certPath}"`
    const credentials = { certificate: cert, privateKey: key }
    await using source = await secured(verify, { ca }, { credentials })
    source.start()
    await keeps(source, numbers(0, 10))
    await using stranger = follower(server, {
      topic: 'a.>',
      endpoint: `tls://127.0.0.1:${server.port}`,
      tls: { ca },
    })
    stranger.start()
    await fails(stranger, /./)
  })

  test('is not spoken to in plain text', async () => {
    await using source = await secured('', undefined)
    source.start()
    await fails(source, /begin with tls/)
    expect(source.runner.status.isLasting).toBe(true)
  })

  test('is not what one without it is', async () => {
    const topic = await filled([])
    const endpoint = `tls://127.0.0.1:${server.port}`
    await using source = follower(server, { topic, endpoint, tls: { ca } })
    source.start()
    await fails(source, /the server has no TLS/)
    expect(source.runner.status.isLasting).toBe(true)
  })
})
