import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { parseSmtpUrl } from '../../src/config/mail.ts'
import type { RenderedMail } from '../../src/telling/mail/rendered-mail.ts'
import {
  type SentMail,
  SmtpTransport,
  smtpConnectionsMax,
} from '../../src/telling/mail/smtp-transport.ts'
import { makeAuthority } from '../support/certificate.ts'
import { MailServer } from '../support/mail-server.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const known = makeAuthority(folder.path, 'known')
const unknown = makeAuthority(folder.path, 'unknown')
const good = known.signServer('DNS:localhost,IP:127.0.0.1')
const strange = unknown.signServer('DNS:localhost,IP:127.0.0.1')

const open: (MailServer | SmtpTransport)[] = []

beforeAll(() => {
  const trusted = readFileSync(known.certPath, 'utf8')
  setDefaultCACertificates([...getCACertificates('default'), trusted])
})

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) {
    if (one instanceof SmtpTransport) one.close()
    else await one[Symbol.asyncDispose]()
  }
})

afterAll(() => folder[Symbol.dispose]())

async function started(options: Parameters<typeof MailServer.start>[0]): Promise<MailServer> {
  const server = await MailServer.start(options)
  open.push(server)
  return server
}

function transportTo(url: string): SmtpTransport {
  const server = parseSmtpUrl(url)
  if (!server) throw new Error(`${url} is no URL of a mail server`)
  const transport = new SmtpTransport(server, 'iot@plant.example')
  open.push(transport)
  return transport
}

const mail: RenderedMail = {
  to: 'ada@plant.example',
  subject: 'boiler 7',
  text: 'hot',
  html: '<p>hot</p>',
  id: '00000000-0000-4000-8000-000000000000',
  unsubscribe: 'https://vault.example/mail/unsubscribe/x',
}

async function sent(url: string, signal = AbortSignal.timeout(30_000)): Promise<SentMail> {
  return await transportTo(url).send(mail, signal)
}

const offering = { disabledCommands: [] }

test('STARTTLS is taken where it is offered, with whatever certificate', async () => {
  const server = await started({ ...offering, ...strange })
  expect(await sent(server.url)).toMatchObject({ outcome: 'delivered', statusCode: 250 })
  expect(server.received[0]?.isSecure).toBe(true)
})

test('nothing is encrypted where STARTTLS is not offered, or not wanted', async () => {
  const plain = await started({})
  const server = await started({ ...offering, ...good })
  await sent(plain.url)
  await sent(`${server.url}?starttls=never`)
  expect([plain, server].map(({ received }) => received[0]?.isSecure)).toEqual([false, false])
})

test('STARTTLS that is required needs a server that has it, and a certificate of somebody known', async () => {
  const plain = await started({})
  const stranger = await started({ ...offering, ...strange })
  const server = await started({ ...offering, ...good })
  for (const one of [plain, stranger]) {
    expect((await sent(`${one.url}?starttls=required`)).outcome).toBe('retry')
    expect(one.received).toEqual([])
  }
  expect((await sent(`${server.url}?starttls=required`)).outcome).toBe('delivered')
  expect(server.received[0]?.isSecure).toBe(true)
})

test('TLS from the first byte on needs a certificate of somebody known, too', async () => {
  const stranger = await started({ secure: true, ...strange })
  const server = await started({ secure: true, ...good })
  expect((await sent(stranger.url.replace('smtp', 'smtps'))).outcome).toBe('retry')
  expect((await sent(server.url.replace('smtp', 'smtps'))).outcome).toBe('delivered')
  expect([stranger.received.length, server.received.length]).toEqual([0, 1])
})

test('a server that asks for it is told user and password, whatever is in them', async () => {
  const server = await started({
    authOptional: false,
    onAuth({ username, password }, _session, done) {
      const isGood = username === 'iot@plant' && password === 'a/b:c@d é'
      done(isGood ? null : new Error('no'), { user: username })
    },
  })
  const login = `${encodeURIComponent('iot@plant')}:${encodeURIComponent('a/b:c@d é')}`
  expect((await sent(server.url.replace('//', `//${login}@`))).outcome).toBe('delivered')
  expect(server.received[0]?.user).toBe('iot@plant')
})

test('a wrong password is tried again later, and neither it nor the answer is shown', async () => {
  const server = await started({
    authOptional: false,
    onAuth: (_auth, _session, done) => done(new Error('user iot of 10.0.0.7 is unknown')),
  })
  const { outcome, statusCode, message } = await sent(server.url.replace('//', '//iot:hunter2@'))
  expect([outcome, statusCode]).toEqual(['retry', 535])
  expect(message).toBe('the mail server answered 535 to AUTH: not about this address')
})

test('a password is not sent to a server far away that does not offer STARTTLS', () => {
  const modes = [
    'smtp://iot:hunter2@mail.example',
    'smtp://iot:hunter2@127.0.0.1:25',
    'smtp://mail.example',
    'smtp://iot:hunter2@mail.example?starttls=never',
  ].map((url) => parseSmtpUrl(url)?.startTls)
  expect(modes).toEqual(['required', 'offered', 'offered', 'never'])
})

test('connections are used again, and there are never more than a few', async () => {
  const answers: ((error?: undefined) => void)[] = []
  const server = await started({})
  server.behaviour = { onMail: () => new Promise((resolve) => answers.push(resolve)) }
  const transport = transportTo(server.url)
  const signal = AbortSignal.timeout(30_000)
  const sending = Array.from({ length: 3 * smtpConnectionsMax }, () => transport.send(mail, signal))
  let most = 0
  for (let answered = 0; answered < sending.length; answered++) {
    while (answers.length === 0) await sleep(1)
    most = Math.max(most, server.connections)
    answers.shift()?.()
  }
  const outcomes = (await Promise.all(sending)).map(({ outcome }) => outcome)
  expect(new Set(outcomes)).toEqual(new Set(['delivered']))
  expect(most).toBe(smtpConnectionsMax)
  expect(server.connected).toBe(smtpConnectionsMax)
})

test('an attempt that is broken off ends its connection, and leaves the others alone', async () => {
  const server = await started({})
  const answer = Promise.withResolvers<undefined>()
  server.behaviour = { onMail: () => answer.promise }
  const transport = transportTo(server.url)
  const ending = new AbortController()
  const [stuck, other] = [
    transport.send(mail, ending.signal),
    transport.send({ ...mail, to: 'eve@plant.example' }, AbortSignal.timeout(30_000)),
  ]
  await server.mails(2)
  ending.abort()
  expect(await stuck).toMatchObject({ outcome: 'retry', statusCode: undefined })
  answer.resolve(undefined)
  expect((await other).outcome).toBe('delivered')
})

test('a server that is not there is no fault of ours', async () => {
  const server = await started({})
  const { url } = server
  await server[Symbol.asyncDispose]()
  expect(await sent(url)).toMatchObject({
    outcome: 'retry',
    statusCode: undefined,
    message: 'no mail server took it: no connection, or no answer in time',
  })
})

test.each([
  'http://mail.example',
  'mail.example:25',
  'smtp://',
  'smtp://mail.example/inbox',
  'smtp://mail.example?pool=9',
  'smtp://mail.example?starttls=perhaps',
  'smtp://mail.example#x',
  'smtp://%zz:x@mail.example',
  'smtp://mail.example:99999',
])('%s is no URL of a mail server', (url) => {
  expect(parseSmtpUrl(url)).toBeUndefined()
})

test('a server that says nothing takes no connection for good', async () => {
  const server = await started({})
  let isSilent = true
  const sockets = new Set<Socket>()
  const door = createServer((client) => {
    sockets.add(client)
    client.on('error', () => undefined)
    if (!isSilent) client.pipe(connect(server.port, '127.0.0.1')).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const transport = transportTo(`smtp://127.0.0.1:${(door.address() as AddressInfo).port}`)
  const silent = await Promise.all(
    Array.from({ length: 3 * smtpConnectionsMax }, () =>
      transport.send(mail, AbortSignal.timeout(100)),
    ),
  )
  expect(new Set(silent.map(({ outcome }) => outcome))).toEqual(new Set(['retry']))
  isSilent = false
  expect((await transport.send(mail, AbortSignal.timeout(30_000))).outcome).toBe('delivered')
  for (const socket of sockets) socket.destroy()
  door.close()
})

test('an attempt is one attempt: it is not made again behind our back', async () => {
  let connections = 0
  const door = createServer((client) => {
    connections++
    client.destroy()
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const url = `smtp://127.0.0.1:${(door.address() as AddressInfo).port}`
  expect((await sent(url)).outcome).toBe('retry')
  expect(connections).toBe(1)
  door.close()
})
