import type { Socket } from 'node:net'
import * as fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { amqp } from '../../connectors/amqp/amqp.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import {
  bodyFrame,
  handshake,
  messageHead,
  method,
  ScriptedAmqp,
} from '../support/scripted-amqp.ts'

const patience = { timeout: 60_000, interval: 20 }
const password = 'hunter2-of-the-test'

afterEach(() => {
  vi.useRealTimers()
})

function runAt({ port }: ScriptedAmqp): RecordedRun {
  const endpoint = `amqp://127.0.0.1:${port}`
  const credentials = { username: 'vault', password }
  const source = { protocol: 'amqp', endpoint, credentials, topic: 'a' }
  return new RecordedRun(amqp.open({ streamId: newId<StreamId>(), source }), port)
}

/** What a run fails with that hears these, after so many lines of the handshake. */
async function endOf(said: readonly Buffer[], lines = handshake.length, isOver = false) {
  const all = handshake.slice(0, Math.max(0, lines - 1))
  const line = Buffer.concat([handshake[lines - 1] ?? Buffer.alloc(0), ...said])
  await using scripted = await ScriptedAmqp.start([...all, line], (socket) => {
    if (isOver) socket.end()
  })
  await using run = runAt(scripted)
  const failure = await run.ended
  await expect.poll(() => scripted.isConnected, patience).toBe(false)
  expect(String(failure)).not.toContain('hunter2')
  return { failure, messages: run.messages }
}

const closed = (code: number, text: string) =>
  method('ConnectionClose', 0, { replyCode: code, replyText: text, classId: 0, methodId: 0 })

const content = Buffer.alloc(2_000, 'x')

describe('what answers instead of a server of AMQP', () => {
  test.each<[string, readonly Buffer[], number, RegExp]>([
    ['a server of the web', [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')], 0, /Frame size|Inv/],
    ['one of AMQP 1.0', [Buffer.from('AMQP\0\x01\0\0')], 0, /closed|Frame size/],
    [
      'one that announces too large a frame',
      [Buffer.from([1, 0, 0, 127, 255, 255, 255])],
      3,
      /size/,
    ],
    ['one that ends frames in another way', [Buffer.from([8, 0, 0, 0, 0, 0, 0, 0])], 7, /Invalid/],
    ['one that lets nobody in', [closed(403, 'no vault')], 1, /SourceRefused: .*no vault/],
    ['one that is going down', [closed(320, 'shutdown')], 7, /AmqpError: shutdown/],
    [
      'one that ends the subscription',
      [method('BasicCancel', 1, { consumerTag: 'vault' })],
      7,
      /still/,
    ],
    ['one that speaks out of turn', [bodyFrame(content)], 7, /frames/],
    ['one that repeats heads', [messageHead(9), messageHead(9)], 7, /Expected content/],
    [
      'one with a message of less than nothing',
      [messageHead(2 ** 63), bodyFrame(content)],
      7,
      /frames/,
    ],
    ['one that sends more than it says', [messageHead(1_999), bodyFrame(content)], 7, /more of a/],
    [
      'one that sends crumbs',
      [messageHead(4_000_000), ...Array<Buffer>(4_000).fill(bodyFrame(Buffer.of(1)))],
      7,
      /too many frames/,
    ],
  ])('may be %s', async (_, said, lines, message) => {
    const { failure, messages } = await endOf(said, lines, lines === 0)
    expect(String(failure)).toMatch(message)
    expect(messages).toEqual([])
  })

  test('may hang up wherever it wants', async () => {
    const whole = [messageHead(2_000), bodyFrame(content)]
    const cut = fc.integer({ min: 1, max: Buffer.concat(whole).length })
    const check = fc.asyncProperty(fc.integer({ min: 1, max: 7 }), cut, async (lines, bytes) => {
      const said = lines === 7 ? [Buffer.concat(whole).subarray(0, bytes)] : []
      const { failure, messages } = await endOf(said, lines, true)
      expect(failure).toBeInstanceOf(Error)
      expect(messages.length).toBe(bytes === Buffer.concat(whole).length && lines === 7 ? 1 : 0)
    })
    await fc.assert(check, { numRuns: 40 })
  })

  test('may send any bytes', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 })
    const check = fc.asyncProperty(bytes, fc.integer({ min: 1, max: 7 }), async (some, lines) => {
      const { failure } = await endOf([Buffer.from(some)], lines, true)
      expect(failure).toBeInstanceOf(Error)
    })
    await fc.assert(check, { numRuns: 60 })
  })

  test('may send a message without an end, of which the beginning is kept', async () => {
    const large = Buffer.alloc(100_000, 'x')
    let sent = 0
    const flood = (socket: Socket) => {
      socket.write(messageHead(2 ** 40))
      const more = () => {
        while (!socket.destroyed && socket.write(bodyFrame(large))) sent++
      }
      socket.on('drain', more)
      more()
    }
    await using scripted = await ScriptedAmqp.start(handshake, flood)
    await using run = runAt(scripted)
    await expect.poll(() => sent, patience).toBeGreaterThan(500)
    expect(run.messages).toMatchObject([{ problem: expect.stringMatching(/1,099,511,627,776/) }])
    expect(run.messages[0]?.payload.length).toBe(65_536)
  })

  test.each([0, 1, 3, 6])('may say nothing more after %i answers', async (lines) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await using scripted = await ScriptedAmqp.start(handshake.slice(0, lines))
    const run = runAt(scripted)
    const isOver = vi.fn()
    const ended = run.ended.then((failure) => {
      isOver()
      return String(failure)
    })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(16_000)
      expect(isOver).toHaveBeenCalled()
    }, patience)
    expect(await ended).toMatch(/the server does not answer/)
    await expect.poll(() => scripted.isConnected, patience).toBe(false)
  })
})
