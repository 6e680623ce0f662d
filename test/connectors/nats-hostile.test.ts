import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { fails, follower, keeps, patience, runs } from '../support/nats-source.ts'
import { greeting, ScriptedNats } from '../support/scripted-nats.ts'

const reading = '{"number": 1, "timestamp": "2026-03-01T00:00:00Z"}'

/** A message of the stream `PLANT`, as a server sends it. */
function message(subscription: string, sequence: number | string, delivery: number): string {
  const reply = `$JS.ACK.PLANT.one.1.${sequence}.${delivery}.1700000000000000000.0`
  return `MSG plant.a ${subscription} ${reply} ${reading.length}\r\n${reading}\r\n`
}

/** The first message of the stream, as often as that. */
function repeated(subscription: string, count: number): string {
  return Array.from({ length: count }, (_, index) => message(subscription, 1, index + 1)).join('')
}

/** How it ends a request, with a status of ADR-13. */
function ended(inbox: string, subscription: string, status: string): string {
  const head = `NATS/1.0 ${status}\r\n\r\n`
  return `HMSG ${inbox} ${subscription} ${head.length} ${head.length}\r\n${head}\r\n`
}

/** Writes again and again, as fast as it is read. */
function flood(socket: Socket, text: string): void {
  if (socket.destroyed) return
  socket.write(text, () => setImmediate(() => flood(socket, text)))
}

describe('a server', () => {
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['is of another protocol', (socket) => socket.write('SSH-2.0-OpenSSH\r\n'), /no NATS/],
    [
      'greets without end',
      (socket) => flood(socket, 'INFO {'.padEnd(20_000)),
      /does not speak NATS/,
    ],
    ['has no version', (socket) => socket.write('INFO {"version": 2}\r\n'), /no version/],
    ['greets with half a line', (socket) => socket.end('INFO {"ver'), /closed the connection/],
    ['says nothing', () => undefined, /not greeted us in time/],
    [
      'says more before anybody was greeted',
      (socket) => socket.write(`INFO ${JSON.stringify(greeting)}\r\nMSG a 1 3\r\nabc\r\n`),
      /more than a greeting/,
    ],
  ])('that %s is given up', async (_, greet, reason) => {
    await using server = await ScriptedNats.start()
    server.greet = greet
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await fails(source, reason)
  })

  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['that is not NATS', (socket) => socket.write('GET / HTTP/1.1\r\n'), /what is not NATS/],
    ['a line without end', (socket) => socket.write('MSG '.padEnd(200_000, 'a')), /too long/],
    ['a message of no size', (socket) => socket.write('MSG a 1 -5\r\n'), /no size/],
    ['a message without end', (socket) => socket.write('MSG a 1 3\r\nabcdef\r\n'), /without end/],
    ['a message that is too large', (socket) => socket.write('MSG a 1 99999999\r\n'), /no size/],
    ['half a message', (socket) => socket.end('MSG a 1 50\r\nabc'), /closed the connection/],
    ['random bytes', (socket) => socket.write(randomBytes(100_000)), /the server has sent/],
  ])('that sends %s is given up, and nothing of it is printed', async (_, welcome, reason) => {
    using printed = vi.spyOn(console, 'log')
    await using server = await ScriptedNats.start()
    server.welcome = welcome
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await fails(source, reason)
    expect(printed).not.toHaveBeenCalled()
  })

  test('that reads nothing is given up before its answers pile up', async () => {
    await using server = await ScriptedNats.start()
    server.welcome = (socket) => {
      socket.pause()
      flood(socket, 'PING\r\n'.repeat(20_000))
    }
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await fails(source, /does not read/)
  })

  test.each<[string, (subscription: string) => string, RegExp]>([
    ['more than was asked for', (to) => repeated(to, 501), /more than was asked for/],
    ['what is not of a stream', (to) => `MSG a ${to} b 1\r\n1\r\n`, /not of a stream/],
    ['a message after one that was sent to nobody', (to) => message(to, 2, 2), /passed over/],
    ['a message of no number', (to) => message(to, 'x', 1), /not of a stream/],
  ])('that sends %s is given up', async (_, answer, reason) => {
    await using server = await ScriptedNats.start()
    server.answer = ({ socket, subscription }) => socket.write(answer(subscription))
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await fails(source, reason)
  })

  test('that sends one message again and again has it kept once', async () => {
    await using server = await ScriptedNats.start()
    server.answer = ({ socket, subscription }) => {
      server.answer = () => undefined
      socket.write(repeated(subscription, 500))
    }
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await keeps(source, [1])
    await expect.poll(() => source.runner.status.messages, patience).toBe(1)
  })

  test('of a group that sends again what it has not heard is durable has it kept once', async () => {
    await using server = await ScriptedNats.start()
    const acknowledged: string[] = []
    server.answer = ({ socket, subscription }) => {
      server.answer = () => undefined
      socket.write(message(subscription, 1, 1))
      server.acknowledged = (subject) => {
        acknowledged.push(subject.split('.').slice(5, 7).join('.'))
        if (acknowledged.length === 1) socket.write(message(subscription, 1, 2))
      }
    }
    await using source = follower(server, { topic: 'plant.>', group: 'one' })
    source.start()
    await expect.poll(() => acknowledged, patience).toEqual(['1.1', '1.2'])
    expect(source.entries().numbers).toEqual([1])
  })

  test('of a group may give a message to somebody else that was to be asked for alone', async () => {
    await using server = await ScriptedNats.start()
    const large = Array<string>(8).fill('409 Message Size Exceeds MaxBytes')
    const answers = [...large, '408 Request Timeout', ...large]
    server.answer = ({ socket, inbox, subscription }) => {
      const status = answers.shift()
      if (status !== undefined) socket.write(ended(inbox, subscription, status))
      else {
        server.answer = () => undefined
        socket.write(message(subscription, 1, 1))
      }
    }
    await using source = follower(server, { topic: 'plant.>', group: 'one' })
    source.start()
    await keeps(source, [1])
    expect(source.runner.status.lastError).toBeUndefined()
  })

  test('that names others is the only one that is connected to', async () => {
    await using other = await ScriptedNats.start()
    await using server = await ScriptedNats.start()
    const named = { ...greeting, connect_urls: [`127.0.0.1:${other.port}`] }
    server.greet = (socket) => socket.write(`INFO ${JSON.stringify(named)}\r\n`)
    await using source = follower(server, { topic: 'plant.>' })
    source.start()
    await runs(source)
    server.welcome = (socket) => socket.destroy()
    server.drop()
    await expect.poll(() => server.connections, patience).toBeGreaterThan(2)
    expect(other.connections).toBe(0)
  })
})
