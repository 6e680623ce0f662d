import { gzipSync } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { AllowedDestinations, allowedDestination } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard, type Resolve } from '../../src/egress/egress-guard.ts'
import { GuardedHttp, type HttpAnswer } from '../../src/egress/guarded-http.ts'
import { answering, dripping, hanging, Receiver, resetting } from '../support/receiver.ts'

const receiver = await Receiver.start()
const http = clientFor({})

afterAll(async () => {
  await http.close()
  await receiver[Symbol.asyncDispose]()
})

beforeEach(() => {
  receiver.received.length = 0
  receiver.behaviour = answering(200)
})

/** A client that may reach the receiver by its address, and by names that resolve as given. */
function clientFor({ resolve = async () => [] }: { readonly resolve?: Resolve }): GuardedHttp {
  const allowed = ['127.0.0.1', '127.0.0.9'].map((address) =>
    allowedDestination(`${address}:${receiver.port}`),
  )
  return new GuardedHttp(new EgressGuard({ allowed: new AllowedDestinations(allowed), resolve }))
}

interface Sent {
  readonly client?: GuardedHttp
  readonly host?: string
  readonly timeoutMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

async function post({
  client = http,
  host = '127.0.0.1',
  timeoutMs = 60_000,
  headers = {},
}: Sent = {}): Promise<HttpAnswer> {
  return await client.post({
    url: new URL(`http://${host}:${receiver.port}/hook?a=1`),
    headers,
    body: '{"a":"ä"}',
    signal: AbortSignal.timeout(timeoutMs),
  })
}

describe('a request', () => {
  test('arrives as it was given, with the name of its host', async () => {
    const { statusCode } = await post({ headers: { 'X-One': 'two' } })
    expect(statusCode).toBe(200)
    const [received] = receiver.received
    expect(received?.path).toBe('/hook?a=1')
    expect(received?.body.toString()).toBe('{"a":"ä"}')
    expect(received?.headers).toMatchObject({ host: receiver.destination, 'x-one': 'two' })
  })

  test('uses a connection again', async () => {
    await post()
    await post()
    expect(receiver.received.at(-1)?.ofConnection).toBeGreaterThan(1)
  })

  test.each([301, 302, 307, 308])('does not follow a %i', async (status) => {
    receiver.behaviour = answering(status, '', { location: `http://${receiver.destination}/b` })
    expect((await post()).statusCode).toBe(status)
    expect(receiver.received).toHaveLength(1)
  })
})

describe('an answer', () => {
  test('is kept up to its first 1,024 bytes', async () => {
    receiver.behaviour = answering(500, 'x'.repeat(5_000))
    const { statusCode, excerpt } = await post()
    expect(statusCode).toBe(500)
    expect(excerpt.toString()).toBe('x'.repeat(1_024))
  })

  test('that has no end is read no further than 64 KiB', async () => {
    let written = 0
    receiver.behaviour = (response) => {
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) written += 16_384
        response.once('drain', more)
      }
      more()
    }
    expect((await post()).statusCode).toBe(200)
    expect(written).toBeLessThan(64 * 1_024 * 1_024)
  })

  test('is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    receiver.behaviour = (response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    const { excerpt } = await post()
    expect(excerpt).toEqual(bomb.subarray(0, 1_024))
  })
})

describe('an exchange fails', () => {
  test('with its signal, when nothing is answered', async () => {
    receiver.behaviour = hanging
    await expect(post({ timeoutMs: 100 })).rejects.toThrow('timeout')
  })

  test('with its signal, when the body does not end', async () => {
    receiver.behaviour = dripping
    await expect(post({ timeoutMs: 200 })).rejects.toThrow('timeout')
  })

  test('when the connection is reset, and is not made twice', async () => {
    receiver.behaviour = resetting
    await expect(post()).rejects.toThrow(/closed|ECONNRESET|terminated/)
    expect(receiver.received).toHaveLength(1)
  })

  test('when the name does not resolve', async () => {
    await expect(post({ host: 'nowhere.example.com' })).rejects.toThrow('does not resolve')
  })
})

describe('the connection', () => {
  test('leads to the next address when nobody is at the first', async () => {
    const client = clientFor({ resolve: async () => ['127.0.0.9', '127.0.0.1'] })
    expect((await post({ client, host: 'receiver.example.com' })).statusCode).toBe(200)
    await client.close()
  })

  test('leads to an address that was checked, through 100 flips of the name', async () => {
    let asked = 0
    const client = clientFor({
      resolve: async () => (++asked % 2 === 1 ? ['127.0.0.1'] : ['10.0.0.1']),
    })
    const codes: unknown[] = []
    for (let flip = 0; flip < 100; flip++) {
      const sent = post({ client, host: 'rebinding.example.com' })
      codes.push(
        await sent.then(
          ({ statusCode }) => statusCode,
          ({ code }: { readonly code: string }) => code,
        ),
      )
    }
    await client.close()
    expect(codes).toEqual(
      Array.from({ length: 100 }, (_, flip) => (flip % 2 === 0 ? 200 : 'destination_not_allowed')),
    )
    expect(receiver.received).toHaveLength(50)
    expect(receiver.received[0]?.headers.host).toBe(`rebinding.example.com:${receiver.port}`)
  })
})
