import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { FetchConnector } from '../../src/contracts/fetch-connector.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'

/** The other side of a connector that fetches: real, and of this test alone. */
export interface FetchedPeer {
  readonly connector: FetchConnector
  readonly source: Readonly<Record<string, unknown>>
  /** Where it listens, on this machine. */
  readonly ports: readonly number[]
  /** Makes it hold messages; resolves when it will keep them for us, in this order. */
  publish(payloads: readonly Uint8Array[]): Promise<void>
  /** Ends it in good order. */
  stop(): Promise<void>
  /** Starts it again, with what it had kept. */
  start(): Promise<void>
}

export interface ContractNeeds {
  readonly peer: () => Promise<FetchedPeer>
  /** Messages that the connector may take without having been told that they are durable. */
  readonly unacknowledgedMax: number
  /** Whether it goes on by positions in the journal, so that nothing comes twice in any case. */
  readonly hasPositions?: boolean
  /**
   * Rows have values and no bytes of their own, and many of them come as one message. Texts are messages that have to
   * be UTF-8.
   */
  readonly carries?: 'messages' | 'texts' | 'rows'
  /**
   * Whether the other side keeps what it has sent until it hears that it is durable, or can be asked for it again. One
   * that does not has sent it for the last time: only of such a one it is left out that all of it is offered again.
   */
  readonly redelivers?: boolean
}

/** Payloads that are no readings. */
const oddities = {
  messages: [Buffer.from(numbersTo(256)), Buffer.from('not a reading'), Buffer.alloc(70_000, 0xff)],
  texts: [Buffer.from('not a reading'), Buffer.from('\u{1f9ca}ü\n\n:: \uFEFF '.repeat(9_000))],
  rows: [],
} as const

/** A number that a double would round is taken by a database, and by nobody here. */
const poisons = {
  messages: '{"number": ',
  texts: '{"number": ',
  rows: '{"number":9007199254740993,"timestamp":"2026-03-01T00:00:00Z"}',
} as const

/** Texts wherever a reading can have them: in a field, in others, as a name. */
const naughtyReadings = naughtyTexts.map((text, number) => ({
  number,
  text,
  place: { list: [text], ...(text !== '__proto__' && { [text]: text }) },
}))

/** Texts that are messages of their own and no readings. */
function naughtyPayloads(carries: 'messages' | 'texts'): readonly Buffer[] {
  return naughtyTexts
    .filter((text) => text.trim() !== '' && !isJson(text.replace(/^\uFEFF/, '')))
    .filter((text) => carries === 'messages' || !/[\r\n]/.test(text))
    .map((text) => Buffer.from(text))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const payloadOf = (number: number) =>
  Buffer.from(JSON.stringify({ number, timestamp: timeOf(number) }))

const timeOf = (number: number) => new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** When what was sent has probably come. */
async function turnsLater(): Promise<false> {
  await sleep(100)
  return false
}

const patience = { timeout: 60_000, interval: 20 }

async function reached(source: FetchingSource) {
  // One that has asked for all there was waits for its next time.
  const states = ['running', 'waiting']
  await expect.poll(() => states.includes(source.runner.status.state), patience).toBe(true)
}

async function unacknowledged(source: FetchingSource, count: number) {
  await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(count)
}

async function kept(source: FetchingSource, count: number) {
  await expect.poll(() => source.entries().numbers.length, patience).toBeGreaterThanOrEqual(count)
  await unacknowledged(source, 0)
}

/** What every connector that fetches promises. Each one's test calls this once, with a real peer. */
export function connectorContract({
  peer: newPeer,
  unacknowledgedMax,
  hasPositions = false,
  carries = 'messages',
  redelivers = true,
}: ContractNeeds): void {
  /** A source that is running, with its other side. */
  async function running() {
    const peer = await newPeer()
    const source = new FetchingSource(peer)
    source.start()
    await reached(source)
    return { peer, source }
  }

  /** That many are on their way to the disk. */
  async function taken(source: FetchingSource, count: number) {
    if (carries !== 'rows') await unacknowledged(source, Math.min(count, unacknowledgedMax))
    else await expect.poll(() => source.runner.status.unacknowledged, patience).toBeGreaterThan(0)
  }

  test.skipIf(carries === 'rows')('delivers messages byte for byte', async () => {
    const { peer, source } = await running()
    await using _ = source
    const payloads = oddities[carries]
    await peer.publish(payloads)
    await expect
      .poll(() => source.entries().refused, patience)
      .toEqual(payloads.map((payload) => payload.toString('hex')))
  })

  test.skipIf(carries === 'rows')('brings texts as they were sent, and names', async () => {
    const { peer, source } = await running()
    await using _ = source
    const payloads = naughtyReadings.map((reading) => ({
      ...reading,
      timestamp: timeOf(reading.number),
    }))
    await peer.publish(payloads.map((payload) => Buffer.from(JSON.stringify(payload))))
    await kept(source, naughtyReadings.length)
    expect(source.entries().values).toEqual(naughtyReadings)
    expect(source.entries().refused).toEqual([])
  })

  test.skipIf(carries === 'rows')('keeps what is refused as it was sent', async () => {
    const { peer, source } = await running()
    await using _ = source
    const payloads = naughtyPayloads(carries as 'messages' | 'texts')
    await peer.publish(payloads)
    await expect
      .poll(() => source.entries().refused.length, patience)
      .toBeGreaterThanOrEqual(payloads.length)
    const texts = source.entries().refused.map((one) => Buffer.from(one, 'hex').toString())
    expect(texts).toEqual(payloads.map(String))
  })

  test('keeps their order', async () => {
    const { peer, source } = await running()
    await using _ = source
    await peer.publish(numbersTo(1_500).map(payloadOf))
    await kept(source, 1_500)
    expect(source.entries().numbers).toEqual(numbersTo(1_500))
  })

  test('has what cannot be read refused, and goes on', async () => {
    const { peer, source } = await running()
    await using _ = source
    const poison = Buffer.from(poisons[carries])
    await peer.publish([payloadOf(0), poison, payloadOf(1)])
    await kept(source, 2)
    expect(source.entries()).toMatchObject({
      numbers: [0, 1],
      refused: [poison.toString('hex')],
    })
  })

  test.runIf(redelivers)('is offered again what was not durable', async () => {
    const { peer, source } = await running()
    await using _ = source
    source.journal.hold()
    await peer.publish(numbersTo(20).map(payloadOf))
    await taken(source, 20)
    await source.kill()
    expect(source.entries().numbers).toEqual([])

    source.start()
    await kept(source, 20)
    expect(source.entries().numbers).toEqual(numbersTo(20))
  })

  test('is not offered again what was durable, nor misses what comes meanwhile', async () => {
    const { peer, source } = await running()
    await using _ = source
    await peer.publish(numbersTo(20).map(payloadOf))
    await kept(source, 20)
    await source.runner.stop()
    await peer.publish([payloadOf(20)])

    source.start()
    await kept(source, 21)
    expect(source.entries().numbers).toEqual(numbersTo(21))
  })

  test.runIf(hasPositions).each([
    { after: 0, isWritten: true },
    { after: 1, isWritten: true },
    { after: 1, isWritten: false },
  ])(
    'goes on exactly where it was killed: $after appends later, written: $isWritten',
    async (crash) => {
      const { peer, source } = await running()
      await using _ = source
      const dying = source.journal.crashIn(crash)
      let count = 0
      const publish = async () => {
        await peer.publish(numbersTo(10).map((number) => payloadOf(count + number)))
        count += 10
      }
      await publish()
      // An append may have taken all of it: the next one needs something to write.
      while (!(await Promise.race([dying.then(() => true), turnsLater()]))) await publish()
      await source.kill()

      source.start()
      await kept(source, count)
      await publish()
      await kept(source, count)
      expect(source.entries()).toMatchObject({ numbers: numbersTo(count), refused: [] })
    },
  )

  test('waits where the disk is full, and loses, doubles and moves nothing', async () => {
    const { peer, source } = await running()
    await using _ = source
    source.journal.failuresLeft = 2
    await peer.publish(numbersTo(300).map(payloadOf))
    await kept(source, 300)
    expect(source.entries().numbers).toEqual(numbersTo(300))
    expect(source.journal.failuresLeft).toBe(0)
  })

  test('takes no more than it may while the disk is slow', async () => {
    const { peer, source } = await running()
    await using _ = source
    source.journal.hold()
    const count = unacknowledgedMax + 500
    await peer.publish(numbersTo(count).map(payloadOf))
    await expect
      .poll(() => source.runner.status.unacknowledged, patience)
      .toBeGreaterThanOrEqual(carries === 'rows' ? 1 : Math.min(20, unacknowledgedMax))
    expect(source.runner.status.unacknowledged).toBeLessThanOrEqual(unacknowledgedMax)
    source.journal.release()
    await kept(source, count)
    expect(source.entries().numbers).toEqual(numbersTo(count))
  })

  test('ends when it is told to, in whichever state it is', async () => {
    const { peer, source } = await running()
    await using _ = source
    await source.runner.stop()
    expect(source.runner.status.state).toBe('paused')
    await peer.stop()
    source.start()
    await expect.poll(() => source.runner.status.state, patience).toBe('failing')
    await source.runner.stop()
    expect(source.runner.status).toMatchObject({ state: 'paused', unacknowledged: 0 })
  })

  test('comes back to the other side when that comes back', async () => {
    const { peer, source } = await running()
    await using _ = source
    await peer.publish(numbersTo(10).map(payloadOf))
    await kept(source, 10)
    await peer.stop()
    await expect.poll(() => source.runner.status, patience).toMatchObject({ state: 'failing' })
    await peer.start()
    await reached(source)
    await peer.publish([payloadOf(10)])
    await kept(source, 11)
    // Whose acknowledgement had not reached the other side before it ended, that comes again.
    expect([...new Set(source.entries().numbers)]).toEqual(numbersTo(11))
  })
}
