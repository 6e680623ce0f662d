import { expect, test } from 'vitest'
import type { FetchConnector } from '../../src/contracts/fetch-connector.ts'
import { FetchingSource } from '../support/fetching-source.ts'

/** The other side of a connector that asks for a state: real, and of this test alone. */
export interface StatePeer {
  readonly connector: FetchConnector
  /** Its only field is `number`. */
  readonly source: Readonly<Record<string, unknown>>
  /** Where it listens, on this machine. */
  readonly ports: readonly number[]
  /** Makes a number its state, from 0 to 65,535. */
  set(number: number): void
  /** Ends it in good order. */
  stop(): Promise<void>
  /** Starts it again, in the state that it had. */
  start(): Promise<void>
}

const patience = { timeout: 60_000, interval: 20 }

/** Its time comes once a year: it is asked when a test says so. */
export const rarely = '0 0 1 1 *'

async function inState(source: FetchingSource, state: string) {
  await expect.poll(() => source.runner.status, patience).toMatchObject({ state })
}

/**
 * What every connector promises whose other side has a state and no past: what it was between two rounds nobody gets
 * to know, so there is nothing to be offered again. Each one's test calls this once, with a real peer.
 */
export function polledStateContract(newPeer: () => Promise<StatePeer>): void {
  /** A source that waits for its time, with its other side. */
  async function waiting() {
    const peer = await newPeer()
    const source = new FetchingSource(peer)
    source.start()
    await inState(source, 'waiting')
    return { peer, source }
  }

  /** One round, up to its reading on disk. */
  async function round({ peer, source }: Awaited<ReturnType<typeof waiting>>, number: number) {
    const before = source.entries().numbers.length
    peer.set(number)
    source.runner.hurry()
    await expect.poll(() => source.entries().numbers.length, patience).toBe(before + 1)
    await inState(source, 'waiting')
  }

  test('reads the state once a round, whether it has changed or not', async () => {
    const whole = await waiting()
    await using source = whole.source
    const numbers = [1, 1, 2, 65_535, 0]
    for (const number of numbers) await round(whole, number)
    expect(source.entries()).toMatchObject({ numbers, refused: [] })
    const { timesUs } = source.entries()
    expect(new Set(timesUs).size).toBe(numbers.length)
    expect(timesUs).toEqual(timesUs.toSorted((left, right) => left - right))
  })

  test('reads the state anew where the one before could not be kept', async () => {
    const whole = await waiting()
    await using source = whole.source
    source.journal.failuresLeft = 2
    await round(whole, 7)
    await round(whole, 8)
    expect(source.entries()).toMatchObject({ numbers: [7, 8], refused: [] })
    expect(source.journal.failuresLeft).toBe(0)
  })

  test('takes one reading, and asks for no other, while the disk is slow', async () => {
    const { peer, source } = await waiting()
    await using _ = source
    source.journal.hold()
    peer.set(1)
    source.runner.hurry()
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(1)
    peer.set(2)
    source.runner.hurry()
    expect(source.runner.status.unacknowledged).toBe(1)
    source.journal.release()
    await expect.poll(() => source.entries().numbers, patience).toEqual([1, 2])
  })

  test('reads the state that there is when a process has been killed', async () => {
    const { peer, source } = await waiting()
    await using _ = source
    await round({ peer, source }, 1)
    source.journal.hold()
    peer.set(2)
    source.runner.hurry()
    await expect.poll(() => source.runner.status.unacknowledged, patience).toBe(1)
    await source.kill()
    source.start()
    await inState(source, 'waiting')
    await round({ peer, source }, 3)
    expect(source.entries().numbers).toEqual([1, 3])
  })

  test('ends when it is told to, in whichever state it is', async () => {
    const { peer, source } = await waiting()
    await using _ = source
    await source.runner.stop()
    expect(source.runner.status.state).toBe('paused')
    await peer.stop()
    source.start()
    await inState(source, 'waiting')
    source.runner.hurry()
    await inState(source, 'failing')
    await source.runner.stop()
    expect(source.runner.status).toMatchObject({ state: 'paused', unacknowledged: 0 })
  })

  test('comes back to the other side when that comes back', async () => {
    const { peer, source } = await waiting()
    await using _ = source
    await round({ peer, source }, 1)
    await peer.stop()
    source.runner.hurry()
    await inState(source, 'failing')
    await peer.start()
    // The round that has failed is done, and no other one.
    await inState(source, 'waiting')
    expect(source.entries().numbers).toEqual([1, 1])
  })
}
