import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GuardedSocket } from '../../connectors/database/guarded-socket.ts'
import { dialOf } from '../support/dial-of.ts'

let server: Server
let port = 0

beforeAll(async () => {
  server = createServer((socket) => socket.on('error', () => undefined).resume())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})

afterAll(() => server.close())

async function open(signal: AbortSignal): Promise<GuardedSocket> {
  const dial = dialOf(async () => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return socket
  })
  return await GuardedSocket.open({ host: 'plant.example', port }, { dial, signal }, 30_000)
}

/** What a library does that has not noticed that its connection is closed. */
const nothing = new Promise<never>(() => undefined)

test('an answer that a library waits for on a closed connection is given up', async () => {
  const guarded = await open(new AbortController().signal)
  guarded.socket.destroy()
  await once(guarded.socket, 'close')

  await expect(guarded.answer(nothing)).rejects.toThrow('the server has closed the connection')
})

test('an answer is given up when the connection closes meanwhile, and the library says nothing', async () => {
  const guarded = await open(new AbortController().signal)
  const answer = guarded.answer(nothing)
  guarded.socket.destroy()

  await expect(answer).rejects.toThrow('the server has closed the connection')
})

test('what a library says of a closed connection is told', async () => {
  const guarded = await open(new AbortController().signal)
  const answer = guarded.answer(
    once(guarded.socket, 'close').then(() => Promise.reject(new Error('the login was cut off'))),
  )
  guarded.socket.destroy()

  await expect(answer).rejects.toThrow('the login was cut off')
})

test.each(['before', 'meanwhile'])(
  'no answer is waited for when a round was ended %s',
  async (when) => {
    const round = new AbortController()
    const guarded = await open(round.signal)
    if (when === 'before') round.abort(new Error('the round is over'))
    const answer = guarded.answer(nothing)
    round.abort(new Error('the round is over'))

    await expect(answer).rejects.toThrow('the round is over')
    expect(guarded.socket.destroyed).toBe(true)
  },
)
