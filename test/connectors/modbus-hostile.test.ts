import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modbusPoll } from '../../connectors/modbus/modbus-poll.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { pollOnce } from '../support/modbus-device.ts'

/** What it does with a request. */
let answer: (request: Buffer, socket: Socket) => void
let server: Server
let port: number
const sockets = new Set<Socket>()

beforeAll(async () => {
  port = await freePort()
  server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.on('data', (request) => answer(request, socket))
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
})

afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
})

const one = { field: 'one', address: 1 }
const two = { field: 'two', kind: 'input', address: 2 }

function polled(changes: object = {}, options: Parameters<typeof pollOnce>[1] = {}) {
  const endpoint = `modbus://127.0.0.1:${port}`
  const source = { endpoint, registers: [one], timeout: '60s', ...changes }
  return pollOnce(source, options)
}

/** A frame that answers a request: the rest of it is what a test says. */
function frame(request: Buffer, pdu: readonly number[], transaction = request.readUInt16BE(0)) {
  const header = Buffer.from([0, 0, 0, 0, 0, pdu.length + 1, request[6] ?? 0])
  header.writeUInt16BE(transaction, 0)
  return Buffer.concat([header, Buffer.from(pdu)])
}

const good = (request: Buffer, value: number) => frame(request, [request[7] ?? 0, 2, 0, value])

describe('a device that does not keep to the protocol', () => {
  test('is given up when it says nothing, and left', async () => {
    answer = () => undefined
    await expect(polled({ timeout: '1s' })).rejects.toThrow('the device has not answered in 1 s')
    await expect.poll(() => sockets.size).toBe(0)
  })

  test('is given up in the midst of a frame', async () => {
    answer = (request, socket) => socket.write(good(request, 1).subarray(0, 9))
    await expect(polled({ timeout: '1s' })).rejects.toThrow('the device has not answered in 1 s')
  })

  test('cannot keep others waiting by being slow in each answer', async () => {
    answer = (request, socket) => void setTimeout(() => socket.write(good(request, 1)), 100)
    const registers = Array.from({ length: 100 }, (_, index) => ({
      field: `f${index}`,
      address: 2 * index,
    }))
    const connector = modbusPoll({ roundMs: 500 })
    await expect(polled({ registers }, { connector })).rejects.toThrow('not ended in 0.5 s')
  })

  test('is understood in pieces', async () => {
    answer = (request, socket) => {
      for (const byte of good(request, 7)) socket.write(Buffer.from([byte]))
    }
    expect(await polled()).toBe('{"one":7}')
  })

  test('has answers that nobody has asked for left aside', async () => {
    answer = (request, socket) => {
      socket.write(frame(request, [3, 2, 0, 99], 4_711))
      socket.write(good(request, 7))
      // One more to the same request: it is not that to the next one.
      socket.write(good(request, 98))
    }
    expect(await polled({ registers: [one, two] })).toBe('{"one":7,"two":7}')
  })

  test('cannot have a late answer taken for that of a later round', async () => {
    const late: (() => void)[] = []
    answer = (request, socket) => void late.push(() => socket.write(good(request, 99)))
    await expect(polled({ timeout: '1s' })).rejects.toThrow('not answered')
    answer = (request, socket) => {
      for (const write of late) write()
      socket.write(good(request, 7))
    }
    expect(await polled()).toBe('{"one":7}')
  })

  test('is left at once when it closes the connection, or a round is stopped', async () => {
    answer = (_, socket) => socket.end()
    await expect(polled()).rejects.toThrow('closed the connection')
    const stop = new AbortController()
    answer = () => stop.abort(new Error('stopped'))
    await expect(polled({}, { signal: stop.signal })).rejects.toThrow('stopped')
    await expect.poll(() => sockets.size).toBe(0)
  })

  test('is left when it does not stop sending', async () => {
    answer = (request, socket) => {
      const more = frame(request, [3, 2, 0, 99], 4_711)
      const send = () => {
        if (!socket.destroyed) socket.write(Buffer.concat(Array(100).fill(more)), send)
      }
      send()
    }
    await expect(polled()).rejects.toThrow('more than it was asked for')
  })

  test.each<[string, readonly number[]]>([
    ['more registers', [3, 4, 0, 1, 0, 2]],
    ['no registers', [3, 0]],
    ['another function', [4, 2, 0, 1]],
    ['nothing behind the function', [3]],
    ['no function', []],
    ['half of an exception', [0x83]],
  ])('has %s refused', async (_, pdu) => {
    answer = (request, socket) => socket.write(frame(request, pdu))
    const error = await polled().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Error)
    expect(error).not.toBeInstanceOf(SourceRefused)
  })

  test.each([
    ['holding', [3, 0, 0, 1]],
    ['holding', [3, 1, 0, 1]],
    ['coil', [1, 0, 1]],
    ['coil', [1, 2, 1]],
  ])('has a %s refused that says %j of its own length', async (kind, pdu) => {
    answer = (request, socket) => socket.write(frame(request, pdu))
    const registers = [{ ...one, kind }]
    await expect(polled({ registers })).rejects.toThrow(/another number|range/)
  })

  test('has the answer of another unit refused', async () => {
    answer = (request, socket) => {
      const wrong = good(request, 1)
      wrong[6] = 77
      socket.write(wrong)
    }
    await expect(polled()).rejects.toThrow('address')
  })

  test('is no harm, whatever it answers', async () => {
    const bytes = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(bytes, fc.boolean(), async (chunks, isFramed) => {
        answer = (request, socket) => {
          for (const chunk of chunks) {
            socket.write(isFramed ? frame(request, [...chunk.subarray(0, 250)]) : chunk)
          }
          socket.end()
        }
        const outcome = await polled().catch((error: unknown) => error)
        // Only an answer that is one in each byte is taken.
        if (typeof outcome === 'string') expect(outcome).toMatch(/^\{"one":\d+\}$/)
        else expect(outcome).toBeInstanceOf(Error)
      }),
      { numRuns: 100 },
    )
    await expect.poll(() => sockets.size).toBe(0)
  })
})
