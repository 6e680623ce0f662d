import type { Packet, ParsedPacket } from 'coap-packet'
import { describe, expect, test } from 'vitest'
import { coap } from '../../connectors/coap/coap.ts'
import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { SourceTrials } from '../../src/streams/sources/source-trials.ts'
import { CoapDevice } from '../support/coap-device.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { guardedDialTo } from '../support/guarded-dial-to.ts'
import { numberOption, optionsOf, RawCoapDevice } from '../support/raw-coap-device.ts'
import { RecordedRun } from '../support/recorded-run.ts'

function follow({ source, port }: { readonly source: object; readonly port: number }): RecordedRun {
  return new RecordedRun(coap.open({ streamId: newId<StreamId>(), source: { ...source } }), port)
}

const observed = (number: number) => numberOption('Observe', number)

/** What a request is answered with, in the acknowledgement of it. */
function answered({ messageId, token }: ParsedPacket, more: Packet): Packet {
  return { code: '2.05', ack: true, messageId, token, ...more }
}

function said(text: string, number: number): Packet {
  return {
    code: '2.05',
    messageId: number,
    confirmable: true,
    options: [observed(number)],
    payload: Buffer.from(text),
  }
}

const wants = (request: ParsedPacket) =>
  request.options.find(({ name }) => name === 'Observe')?.value.toString('hex')

/** A device that agrees to be observed, with a first state, and then sends what a test wants. */
async function telling(send: (token: Buffer, device: RawCoapDevice) => void, more: Packet = {}) {
  return await RawCoapDevice.start((request, device) => {
    const state = { options: [observed(10)], payload: Buffer.from('first'), ...more }
    device.send(answered(request, wants(request) === '' ? state : {}))
    if (wants(request) === '') send(request.token, device)
  })
}

describe('a device', () => {
  test('is asked for a resource, and for what it is to look like', async () => {
    await using device = await telling(() => undefined)
    const endpoint = `coap://127.0.0.1:${device.port}/a%2Fb/c?x=1&y=%C3%A4`
    await using run = follow({
      source: { ...device.source, endpoint, accept: 50 },
      port: device.port,
    })
    await expect.poll(() => run.rows).toEqual(['first'])
    const [request] = device.heard as [ParsedPacket]
    expect(request.confirmable).toBe(true)
    expect(request.token).toHaveLength(8)
    expect(optionsOf(request, 'Uri-Path')).toEqual(['a/b', 'c'])
    expect(optionsOf(request, 'Uri-Query')).toEqual(['x=1', 'y=ä'])
    expect(optionsOf(request, 'Accept')).toEqual(['2'])
    expect(optionsOf(request, 'Uri-Host')).toEqual([])
    expect(run.messages[0]?.source).toBe(`notifications of coap://127.0.0.1:${device.port}/a%2Fb/c`)
  })

  test('is told at the end that nothing more is wanted', async () => {
    await using device = await CoapDevice.start()
    const run = follow(device)
    await expect.poll(() => run.isRunning).toBe(true)
    await run[Symbol.asyncDispose]()
    await expect.poll(() => device.asked).toEqual([0, 1])
  })

  test('may acknowledge first, and answer later', async () => {
    await using device = await RawCoapDevice.start((request) => {
      const { messageId, token } = request
      if (wants(request) !== '') return
      device.send({ code: '0.00', ack: true, messageId })
      const options = [observed(1)]
      device.send({
        code: '2.05',
        confirmable: true,
        messageId: 7,
        token,
        options,
        payload: Buffer.from('a'),
      })
    })
    await using run = follow(device)
    await expect.poll(() => device.settled.acknowledged).toEqual([7])
    expect(run.rows).toEqual(['a'])
  })

  test('is asked again when it says nothing in time, and may begin to count anew', async () => {
    const maxAge = numberOption('Max-Age', 0)
    let number = 100
    await using device = await RawCoapDevice.start((request) => {
      number -= 10
      const options = [observed(number), maxAge]
      device.send(answered(request, { options, payload: Buffer.from(`${number}`) }))
    })
    await using run = follow(device)
    await expect.poll(() => run.rows).toEqual(['90', '80'])
  })

  test.each<[Packet, unknown, string]>([
    [{ code: '2.05' }, SourceRefused, 'does not let this resource be observed'],
    [{ code: '4.01' }, SourceRefused, 'answered 4.01 (unauthorized)'],
    [
      { code: '4.04', payload: Buffer.from('no\nsuch') },
      SourceRefused,
      '4.04 (not found): no such',
    ],
    [{ code: '4.05' }, SourceRefused, 'answered 4.05 (method not allowed)'],
    [{ code: '4.29', options: [numberOption('Max-Age', 9)] }, RetryLater, '4.29'],
    [{ code: '5.03', options: [numberOption('Max-Age', 9)] }, RetryLater, '5.03'],
    [{ code: '5.00' }, Error, 'answered 5.00'],
  ])('that answers %j is not observed', async (answer, kind, message) => {
    await using device = await RawCoapDevice.start((request) =>
      device.send(answered(request, answer)),
    )
    await using run = follow(device)
    const end = (await run.ended) as Error
    expect(end.constructor).toBe(kind)
    expect(end.message).toContain(message)
    expect(run.isRunning).toBe(false)
  })

  test('that is not there is found out at once', async () => {
    const device = await telling(() => undefined)
    const { port, source } = device
    await device[Symbol.asyncDispose]()
    await using run = follow({ port, source })
    expect(String(await run.ended)).toContain('no server listens at this address')
  })

  test('may end it', async () => {
    await using device = await telling((token) =>
      device.send({ code: '4.04', messageId: 8, confirmable: true, token }),
    )
    await using run = follow(device)
    expect(await run.ended).toBeInstanceOf(SourceRefused)
    expect(run.rows).toEqual(['first'])
    await expect.poll(() => device.settled.acknowledged).toEqual([8])
  })
})

describe('a notification', () => {
  test('that was overtaken is acknowledged, and not taken', async () => {
    await using device = await telling((token) => {
      for (const number of [12, 11, 12, 13]) device.send({ ...said(`${number}`, number), token })
    })
    await using run = follow(device)
    await expect.poll(() => new Set(device.settled.acknowledged)).toEqual(new Set([11, 12, 13]))
    expect(run.rows).toEqual(['first', '12', '13'])
  })

  test('is acknowledged when it is durable, once, however often it comes meanwhile', async () => {
    await using device = await telling(() => undefined, { payload: Buffer.alloc(0) })
    const { source, port } = device
    await using fetching = new FetchingSource({ connector: coap, source, ports: [port] })
    fetching.start()
    await expect.poll(() => fetching.runner.status.state).toBe('running')
    fetching.journal.hold()
    const { token } = device.heard[0] as ParsedPacket
    const reading = '{"number":1,"timestamp":"2026-03-01T00:00:00Z"}'
    for (let times = 0; times < 3; times++) device.send({ ...said(reading, 11), token })
    await expect.poll(() => fetching.runner.status.unacknowledged).toBe(1)
    expect(device.settled.acknowledged).toEqual([])
    fetching.journal.release()
    await expect.poll(() => device.settled.acknowledged).toEqual([11])
    expect(fetching.entries().numbers).toEqual([1])
  })

  test('of another token is sent back, and what nobody can read is as if it had not come', async () => {
    await using device = await telling((token) => {
      device.send({ ...said('other', 30), token: Buffer.from('guess') })
      for (const length of [0, 1, 3, 4, 5, 9, 60_000]) device.sendBytes(Buffer.alloc(length, 0xdf))
      device.send({ code: 'PUT', messageId: 31, confirmable: true })
      device.send({ code: '0.00', messageId: 32, confirmable: true })
      device.send({ ...said('last', 33), token })
    })
    await using run = follow(device)
    await expect.poll(() => run.rows).toEqual(['first', 'last'])
    await expect.poll(() => device.settled.sentBack).toEqual([30, 31, 32])
  })

  test('that comes faster than it can be kept is left out, which is told, and the newest is asked for', async () => {
    const notes = 2_000
    let registrations = 0
    await using device = await RawCoapDevice.start((request) => {
      const payload = Buffer.from('{"number":1,"timestamp":"2026-03-01T00:00:00Z"}')
      if (wants(request) === '') registrations++
      device.send(answered(request, { options: [observed(registrations)], payload }))
    })
    const { source, port } = device
    await using fetching = new FetchingSource({ connector: coap, source, ports: [port] })
    fetching.start()
    await expect.poll(() => fetching.entries().numbers.length).toBe(1)
    fetching.journal.hold()
    const { token } = device.heard[0] as ParsedPacket
    for (let number = 11; number < notes; number++) {
      device.send({ ...said('x'.repeat(1_000), number), confirmable: false, token })
      if (number % 20 === 0) await new Promise(setImmediate)
    }
    await expect.poll(() => fetching.runner.status.unacknowledged).toBe(256)
    fetching.journal.release()
    await expect.poll(() => registrations).toBe(2)
    await expect.poll(() => fetching.entries().numbers.length).toBe(2)
    const { refused } = fetching.entries()
    expect(refused.length).toBeGreaterThanOrEqual(257)
    expect(refused.length).toBeLessThan(notes / 2)
    expect(refused).toContain('')
  })
})

test('a trial shows what comes, and takes nothing away from a source that runs', async () => {
  await using device = await telling(() => undefined)
  await using running = follow(device)
  await expect.poll(() => running.rows).toEqual(['first'])
  const trials = new SourceTrials({
    connectors: [coap],
    dial: guardedDialTo(device.port),
    nowUs: () => 0,
  })
  const trial = await trials.try(device.source, newId<UserId>())
  expect(trial).toMatchObject({ isReached: true, count: 1, problem: undefined })
  const wanted = device.heard.filter(({ code }) => code === '0.01').map(wants)
  expect(wanted).toEqual(['', '', '01'])
})
