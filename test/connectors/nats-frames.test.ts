import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeOf } from '../../connectors/nats/arrivals.ts'
import { FrameCheck, ServerFault } from '../../connectors/nats/frames.ts'

const subject = fc.stringMatching(/^[a-zäö$]{1,20}(\.[a-z0-9]{1,10}){0,3}$/)
const payload = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))

const message = fc
  .record({ subject, reply: fc.option(subject), payload, headers: fc.option(payload) })
  .map(({ subject: to, reply, payload: body, headers }) => {
    const words = [to, '7', ...(reply === null ? [] : [reply])]
    const size = body.length + (headers?.length ?? 0)
    const line =
      headers === null ? ['MSG', ...words, size] : ['HMSG', ...words, headers.length, size]
    return Buffer.concat([
      Buffer.from(`${line.join(' ')}\r\n`),
      headers ?? Buffer.alloc(0),
      body,
      Buffer.from('\r\n'),
    ])
  })

const word = fc
  .constantFrom('PING', 'PONG', '+OK', "-ERR 'Stale Connection'", 'INFO {"version":"2.9.0"} ')
  .map((text) => Buffer.from(`${text}\r\n`))

/** What a server sends, cut anywhere. */
const cut = fc
  .record({
    frames: fc.array(fc.oneof(message, word), { maxLength: 20 }),
    sizes: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }),
  })
  .map(({ frames, sizes }) => {
    const bytes = Buffer.concat(frames)
    const chunks: Buffer[] = []
    for (let at = 0; at < bytes.length; ) {
      const size = sizes[chunks.length % sizes.length] as number
      chunks.push(bytes.subarray(at, at + size))
      at += size
    }
    return chunks
  })

test('what a server says is let through, wherever it is cut', () => {
  fc.assert(
    fc.property(cut, (chunks) => {
      const check = new FrameCheck()
      for (const chunk of chunks) check.check(chunk)
    }),
  )
})

test('what follows, when it is no NATS, is found out, wherever it is cut', () => {
  fc.assert(
    fc.property(cut, (chunks) => {
      const check = new FrameCheck()
      for (const chunk of chunks) check.check(chunk)
      expect(() => check.check(Buffer.from('HELO plant\r\n'))).toThrow(ServerFault)
    }),
  )
})

const count = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })

test('the place of a message is read from its reply, of either form', () => {
  fc.assert(
    fc.property(count, count, (sequence, delivery) => {
      const rest = `${sequence}.${delivery}.1700000000123456789.5`
      const place = { sequence, delivery, storedAtUs: 1_700_000_000_123_456 }
      expect(placeOf(`$JS.ACK.PLANT.vault.1.${rest}`)).toEqual(place)
      expect(placeOf(`$JS.ACK.hub.account.PLANT.vault.1.${rest}`)).toEqual(place)
      expect(placeOf(`$JS.ACK._.account.PLANT.vault.1.${rest}.random`)).toEqual(place)
    }),
  )
  for (const reply of [
    '',
    '_INBOX.a.b',
    '$JS.ACK.PLANT',
    '$JS.ACK.PLANT.vault.1.x.1.1.1',
    '$JS.ACK.PLANT.vault.1.1.0.1.1',
  ]) {
    expect(placeOf(reply)).toBeUndefined()
  }
})
