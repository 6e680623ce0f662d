import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

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

async function open() {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return socket
}

async function sent(socket: Awaited<ReturnType<typeof open>>, text: string, port: number) {
  await new Promise((resolve) => socket.send(text, port, '127.0.0.1', resolve))
}
