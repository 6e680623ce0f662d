import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { jsonRpc, type RpcCall } from '../../src/ledgers/nodes/json-rpc.ts'
import { connectionTo } from '../../src/ledgers/nodes/node-connection.ts'

/** What every address of these tests ends with. */
const token = 'needle-0123456789'

type Answering = (
  socket: WebSocket,
  question: { readonly id: number; readonly method: string },
) => void

/** A node that answers as it is told to, and a connection to it. */
async function asked(answering: Answering) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    socket.on('message', (data: Buffer) => answering(socket, JSON.parse(data.toString()) as never))
  })
  const { port } = server.address() as AddressInfo
  const connection = connectionTo(`ws://127.0.0.1:${port}/${token}`, jsonRpc)
  return {
    connection,
    connections: () => connections,
    [Symbol.dispose]() {
      connection.close()
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}

const call = (method: string): RpcCall => ({ method, params: [] })

async function problemOf(asking: Promise<unknown>): Promise<string> {
  const error: unknown = await asking.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(LedgerUnreachable)
  expect(String((error as LedgerUnreachable).stack)).not.toContain(token)
  return (error as LedgerUnreachable).message
}

/** Answers a question with its method. */
const echo: Answering = (socket, { id, method }) =>
  socket.send(JSON.stringify({ id, result: method }))

describe('a WebSocket to a node', () => {
  test('is one for all who ask, and each gets what it asked for', async () => {
    const held: (() => void)[] = []
    using node = await asked((socket, question) => {
      held.push(() => echo(socket, question))
      if (held.length === 3) for (const answer of held.toReversed()) answer()
    })
    const { connection } = node
    const answers = await Promise.all([
      connection.ask([call('one'), call('two')]),
      connection.ask([call('three')]),
    ])
    expect(answers).toEqual([[{ result: 'one' }, { result: 'two' }], [{ result: 'three' }]])
    expect(node.connections()).toBe(1)
  })

  test('fails whoever gets no answer of his own, and nobody else', async () => {
    using node = await asked((socket, question) => {
      if (question.method === 'bad') socket.send(JSON.stringify({ id: question.id }))
      else setImmediate(() => echo(socket, question))
    })
    const { connection } = node
    const good = connection.ask([call('good')])
    expect(await problemOf(connection.ask([call('bad')]))).toBe(
      'the node leaves out what was asked',
    )
    expect(await good).toEqual([{ result: 'good' }])
  })

  test.each<[string, string, Answering]>([
    ['is late', 'the node does not answer in time', () => undefined],
    ['hangs up', 'the node hangs up', (socket) => socket.terminate()],
    ['answers no JSON', 'the answer of the node is not JSON', (socket) => socket.send('<html>')],
  ])('that %s is opened anew', async (_, problem, failing) => {
    let isFailing = true
    using node = await asked((socket, question) => (isFailing ? failing : echo)(socket, question))
    const { connection } = node
    expect(await problemOf(connection.ask([call('one')], { timeoutMs: 200 }))).toBe(problem)
    isFailing = false
    expect(await connection.ask([call('two')])).toEqual([{ result: 'two' }])
    expect(node.connections()).toBe(2)
  })

  test('is given up at once by whoever is to stop', async () => {
    using node = await asked(() => stopping.abort())
    const stopping = new AbortController()
    const patience = { timeoutMs: 60_000, signal: stopping.signal }
    expect(await problemOf(node.connection.ask([call('one')], patience))).toBe(
      'the request was given up',
    )
  })

  test('to an address that is none does not show it', async () => {
    const connection = connectionTo(`ws://[${token}`, jsonRpc)
    expect(await problemOf(connection.ask([call('one')]))).toBe('the node does not answer')
  })
})
