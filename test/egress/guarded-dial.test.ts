import { createSocket } from 'node:dgram'
import { type EventEmitter, errorMonitor, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { expect, test } from 'vitest'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { makeCertificate } from '../support/certificate.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

test('whoever has given up does not wait for name servers', async () => {
  const asked = Promise.withResolvers<void>()
  const guard = new EgressGuard({
    allowed: new AllowedDestinations([]),
    resolve: async () => {
      asked.resolve()
      return await new Promise(() => undefined)
    },
  })
  const giveUp = new AbortController()
  const dialed = guardedDial(guard)({
    host: 'silent.example.com',
    port: 1883,
    signal: giveUp.signal,
  })
  await asked.promise
  giveUp.abort(new Error('given up'))
  await expect(dialed).rejects.toThrow('given up')
})

test('datagrams are exchanged with the checked address, and with nobody else', async () => {
  await using peer = await open()
  await using stranger = await open()
  const { port } = peer.address()
  const guard = new EgressGuard({ allowed: new AllowedDestinations([{ host: '127.0.0.1', port }]) })
  const call = { host: '127.0.0.1', port, signal: AbortSignal.timeout(60_000) }
  await using socket = await guardedDial(guard).datagrams(call)
  const heard: string[] = []
  socket.on('message', (message) => heard.push(message.toString()))

  const asked = once(peer, 'message')
  socket.send('question')
  expect(String((await asked)[0])).toBe('question')
  await sent(stranger, 'of a stranger', socket.address().port)
  await sent(peer, 'answer', socket.address().port)
  await expect.poll(() => heard).toContain('answer')
  expect(heard).toEqual(['answer'])
})

test('datagrams go nowhere where a connection may not go', async () => {
  const guard = new EgressGuard({ allowed: new AllowedDestinations([]) })
  const call = { host: '127.0.0.1', port: 5683, signal: AbortSignal.timeout(60_000) }
  const refusal = { code: 'destination_not_allowed' }
  await expect(guardedDial(guard).datagrams(call)).rejects.toMatchObject(refusal)
})

// An error that nobody listens to fails the whole run of tests, as it ends a process.

test.each(['without TLS', 'with TLS'])(
  'a connection %s that breaks before anybody listens ends nothing',
  async (how) => {
    using folder = new TemporaryFolder()
    const { cert, key, authority } = certificateIn(folder)
    const peers: Socket[] = []
    const isSecure = how === 'with TLS'
    const server = isSecure ? createTlsServer({ cert, key }) : createServer()
    server.on(isSecure ? 'secureConnection' : 'connection', (peer: Socket) => {
      peer.on('error', () => undefined)
      peers.push(peer)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const allowed = new AllowedDestinations([{ host: '127.0.0.1', port }])
    const socket = await guardedDial(new EgressGuard({ allowed }))({
      host: '127.0.0.1',
      port,
      ...(isSecure && { tls: { ca: authority } }),
      signal: AbortSignal.timeout(60_000),
    })
    await expect.poll(() => peers).toHaveLength(1)

    socket.destroy(new Error('broken off'))
    peers[0]?.destroy()

    await new Promise((resolve) => socket.once('close', resolve))
    expect(socket.errored).toBeInstanceOf(Error)
    server.close()
  },
)

test('datagrams to where nobody is end nothing while nobody listens', async () => {
  const peer = await open()
  const { port } = peer.address()
  peer.close()
  const guard = new EgressGuard({ allowed: new AllowedDestinations([{ host: '127.0.0.1', port }]) })
  const call = { host: '127.0.0.1', port, signal: AbortSignal.timeout(60_000) }
  await using socket = await guardedDial(guard).datagrams(call)

  socket.send('nobody there')

  // Which is no listener.
  await new Promise((resolve) => (socket as EventEmitter).once(errorMonitor, resolve))
})

function certificateIn(folder: TemporaryFolder) {
  const { certPath, keyPath, authority } = makeCertificate(folder.path)
  return { cert: readFileSync(certPath), key: readFileSync(keyPath), authority }
}

async function open() {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

async function sent(socket: Awaited<ReturnType<typeof open>>, text: string, port: number) {
  await new Promise((resolve) => socket.send(text, port, '127.0.0.1', resolve))
}
