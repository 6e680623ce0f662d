import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isNatsMissing, NatsServer } from '../support/nats.ts'
import {
  fails,
  follower,
  keeps,
  numbers,
  patience,
  readings,
  runs,
} from '../support/nats-source.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

let server: NatsServer

beforeAll(async () => {
  if (!isNatsMissing) server = await NatsServer.start()
})

afterAll(async () => await server?.[Symbol.asyncDispose]())

describe.skipIf(isNatsMissing)('what a server of NATS has sent, and nobody has heard,', () => {
  test('comes in its order, when the server takes a broken connection for a whole one', async () => {
    const stream = await server.newStream()
    const subject = stream.toLowerCase()
    await using proxy = await TcpProxy.start(server.port)
    const endpoint = `nats://127.0.0.1:${proxy.port}`
    await using source = follower({ endpoint, port: proxy.port }, { topic: `${subject}.>` })
    source.start()
    await server.publish(`${subject}.a`, readings(0, 10))
    await keeps(source, numbers(0, 10))
    await expect
      .poll(async () => (await server.consumers(stream))[0]?.num_ack_pending, patience)
      .toBe(0)
    proxy.leave()
    await fails(source, /connection/)
    source.runner.hurry()
    await runs(source)
    // More than the requests of the broken connection are for.
    await server.publish(`${subject}.a`, readings(10, 4_500))
    await keeps(source, numbers(0, 4_510))
  })

  test('comes in its order, when somebody else has asked for some of it', async () => {
    const stream = await server.newStream()
    const subject = stream.toLowerCase()
    await using source = follower(server, { topic: `${subject}.>` })
    source.start()
    await runs(source)
    const client = await server.client()
    let taken = 0
    client.subscribe('nobody.knows', {
      callback: () => {
        taken++
      },
    })
    const request = JSON.stringify({ batch: 100, expires: 20e9 })
    const consumer = `${stream}.streamvault-${source.streamId}`
    client.publish(`$JS.API.CONSUMER.MSG.NEXT.${consumer}`, request, { reply: 'nobody.knows' })
    await server.publish(`${subject}.a`, readings(0, 4_500))
    await keeps(source, numbers(0, 4_500))
    expect(taken).toBeGreaterThan(0)
  })

  test('comes where the server has forgotten how far it had sent', async () => {
    const stream = await server.newStream()
    const subject = stream.toLowerCase()
    await using source = follower(server, { topic: `${subject}.>` })
    source.start()
    // More than a server sends that is not acknowledged.
    await server.publish(`${subject}.a`, readings(0, 5_100))
    await keeps(source, numbers(0, 5_100))
    await source.runner.stop()
    const { consumers } = await server.manager()
    const [{ name, config } = { name: '', config: {} }] = await server.consumers(stream)
    await consumers.delete(stream, name)
    const { opt_start_seq: _start, ...rest } = { opt_start_seq: 0, ...config }
    await consumers.add(stream, { ...rest, deliver_policy: 'all' })
    source.start()
    await runs(source)
    await server.publish(`${subject}.a`, readings(5_100, 1))
    await keeps(source, numbers(0, 5_101))
  })
})
