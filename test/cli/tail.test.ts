import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { eventsOf } from '../../src/cli/event-stream.ts'
import { resultOf, startStreamvault } from '../support/command-line.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'
import { keyHeaders, numbers, series, tailsOf } from '../support/tails.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

const service = runningService()
const { push } = tailsOf(service)

/** A program that follows a stream over a connection that can be broken, and what it has printed. */
function follow(proxy: TcpProxy, ...words: readonly string[]) {
  const child = startStreamvault(['tail', ...words, '--url', `http://127.0.0.1:${proxy.port}`], {
    STREAMVAULT_ADMIN_KEY: adminKey,
    STREAMVAULT_ADMIN_SECRET: adminSecret,
  })
  const temperatures: number[] = []
  createInterface({ input: child.stdout as Readable }).on('line', (line) => {
    temperatures.push((JSON.parse(line) as { temperature: number }).temperature)
  })
  return { temperatures, result: resultOf(child) }
}

async function proxied(): Promise<TcpProxy> {
  return await TcpProxy.start(Number(new URL(service.process.http).port))
}

test('prints each reading once, however often the connection breaks', async () => {
  await using proxy = await proxied()
  const streamId = await service.api.createStream()
  await push(streamId, series(0, 5))
  await service.api.settled(streamId, 5)
  const followed = follow(proxy, streamId, '--last', '5', '--count', '44')
  const { temperatures, result } = followed
  await expect.poll(() => temperatures.length).toBe(5)

  let sent = 5
  for (let broken = 0; broken < 3; broken++) {
    // Some come, some are lost on their way, and some are sent while nobody is there.
    proxy.holdAfter(1)
    await push(streamId, series(sent, 4))
    await expect.poll(() => proxy.isHolding).toBe(true)
    await push(streamId, series(sent + 4, 3))
    proxy.reset()
    await push(streamId, series(sent + 7, 6))
    sent += 13
    await expect.poll(() => temperatures.length).toBe(sent)
  }

  expect((await result).code).toBe(0)
  expect(temperatures).toEqual(numbers(0, 44))
})

test('a connection over which nothing comes any more is given up', async () => {
  const streamId = await service.api.createStream()
  const url = `${service.process.http}/streams/${streamId}/tail`
  const outgoing = get(url, { headers: keyHeaders, agent: false })
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  // It hears of the end as well.
  outgoing.on('error', () => undefined)

  const read = async () => {
    for await (const { position } of eventsOf(incoming, 200))
      expect(position).toEqual(expect.any(String))
  }

  await expect(read()).rejects.toThrow('nothing has come for 0.2 s')
})
