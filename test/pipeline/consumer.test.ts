import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import {
  type Consumer,
  ConsumerLoop,
  type ConsumerPace,
} from '../../src/ingest/pipeline/consumer.ts'
import type { JournalBatch, JournalReader, Offset } from '../../src/storage/journal/journal.ts'
import { JournalHead } from '../../src/storage/journal/journal-head.ts'

/** A journal of batches of two entries in memory, with the port that tells how far it reaches. */
class MemoryJournal implements JournalReader {
  readonly port = new EventEmitter()
  readonly head = new JournalHead(this.port as unknown as MessagePort)
  readonly #batches: JournalBatch[] = []
  reads = 0
  batchesMax = Number.POSITIVE_INFINITY

  grow(batches: number): void {
    for (let count = 0; count < batches; count++) {
      const firstOffset = this.#batches.length * 2
      this.#batches.push({ firstOffset, count: 2, bytes: new Uint8Array() })
    }
    this.port.emit('message', this.#batches.length * 2)
  }

  read(from: Offset, entriesMax: number): readonly JournalBatch[] {
    this.reads++
    const batches = Math.min(this.batchesMax, Math.ceil(entriesMax / 2))
    return this.#batches.slice(from / 2, from / 2 + batches)
  }

  nextOffset(): Offset {
    return this.#batches.length * 2
  }

  close(): void {}
}

/** Keeps what it handled, after it has failed as often as it was told to. */
class KeepingConsumer implements Consumer {
  readonly name = 'keeper'
  readonly handled: Offset[][] = []
  #position = 0
  failures: Error[] = []
  batchesMax = Number.POSITIVE_INFINITY
  turnsWanted = 0

  get wantsTurn(): boolean {
    return this.turnsWanted > 0
  }

  position(): Offset {
    return this.#position
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const failure = this.failures.shift()
    if (failure) throw failure
    if (this.wantsTurn) {
      this.turnsWanted--
      return
    }
    const handled = batches.slice(0, this.batchesMax)
    this.handled.push(handled.map(({ firstOffset }) => firstOffset))
    this.#position += handled.length * 2
  }
}

function started(pace: ConsumerPace = { entriesMax: 4, intervalMs: 0 }) {
  const journal = new MemoryJournal()
  const consumer = new KeepingConsumer()
  const stop = new AbortController()
  const loop = new ConsumerLoop({ consumer, reader: journal, head: journal.head, pace })
  const problems: unknown[] = []
  const run = (onFailure: () => void = () => {}) =>
    loop.run(stop.signal, (error) => {
      problems.push(error)
      onFailure()
    })
  return { journal, consumer, stop, loop, run, problems }
}

describe('ConsumerLoop', () => {
  test('handles the journal in order, about as many entries together as it was told', async () => {
    const { journal, consumer, stop, loop, run } = started()
    journal.grow(5)
    const ended = run()
    await loop.reaches(10, stop.signal)
    stop.abort()
    await ended

    expect(consumer.handled).toEqual([[0, 2], [4, 6], [8]])
  })

  test('lets others have their turn between two rounds, however much waits', async () => {
    const { journal, consumer, stop, loop, run } = started()
    journal.grow(50)
    const ended = run()
    await turn()
    expect(consumer.position()).toBeLessThan(100)
    await loop.reaches(100, stop.signal)
    stop.abort()
    await ended
  })

  test('waits for the journal to grow, without asking again and again', async () => {
    const { journal, consumer, stop, loop, run } = started()
    const ended = run()
    await turn()
    await turn()
    expect(journal.reads).toBe(1)

    journal.grow(1)
    await loop.reaches(2, stop.signal)
    stop.abort()
    await ended
    expect(consumer.handled).toEqual([[0]])
  })

  test('tries again after a failure, from the same position', async () => {
    const { journal, consumer, stop, loop, run, problems } = started()
    const failure = new Error('the store is busy')
    consumer.failures = [failure]
    journal.grow(2)
    const ended = run()
    await loop.reaches(4, stop.signal)
    stop.abort()
    await ended

    expect(problems).toEqual([failure])
    expect(consumer.handled).toEqual([[0, 2]])
  })

  test('says that it fails, but not what its database said, until it does no more', async () => {
    const { journal, consumer, stop, loop, run } = started()
    consumer.failures = [new Error('could not convert {"temperature": 21.5}')]
    journal.grow(1)
    const failed = Promise.withResolvers<void>()
    const ended = run(failed.resolve)
    await failed.promise
    const problem = 'the keeper fails and tries again: the log says why'
    expect(loop.status()).toEqual({ position: 0, problem })

    await loop.reaches(2, stop.signal)
    await turn()
    expect(loop.status()).toEqual({ position: 2, problem: undefined })
    stop.abort()
    await ended
  })

  test('takes a failure to read for a failure like any other', async () => {
    const { journal, stop, run, problems } = started()
    const failure = new Error('the file is gone')
    journal.read = () => {
      throw failure
    }
    await run(() => stop.abort())

    expect(problems).toEqual([failure])
  })

  test('stops during the wait after a failure', async () => {
    const { journal, consumer, stop, run } = started()
    consumer.failures = [new Error('the store is busy'), new Error('never reached')]
    journal.grow(1)
    await run(() => stop.abort())

    expect(consumer.failures).toHaveLength(1)
  })

  test('stops while it waits for the journal to grow', async () => {
    const { stop, run } = started()
    const ended = run()
    await turn()
    stop.abort()

    await expect(ended).resolves.toBeUndefined()
  })

  test('does nothing when it is stopped before it starts', async () => {
    const { journal, stop, run } = started()
    journal.grow(1)
    stop.abort()
    await run()

    expect(journal.reads).toBe(0)
  })
})

describe('a loop that would rest for ever while less than a full round waits', () => {
  const pace = { entriesMax: 6, intervalMs: 0, shareMax: Number.MIN_VALUE, restMsMax: 1e9 }

  test('does not while as much waits as was wanted', async () => {
    const { journal, consumer, stop, loop, run } = started(pace)
    journal.grow(6)
    const ended = run()
    await loop.reaches(12, stop.signal)
    stop.abort()
    await ended
    expect(consumer.handled).toEqual([
      [0, 2, 4],
      [6, 8, 10],
    ])
  })

  test.each(['consumer', 'journal'] as const)(
    'nor while as much waits as goes through the %s at once',
    async (narrow) => {
      const { stop, loop, run, ...parts } = started(pace)
      parts[narrow].batchesMax = 1
      parts.journal.grow(2)
      const ended = run()
      await loop.reaches(4, stop.signal)
      stop.abort()
      await ended
      expect(parts.consumer.handled).toEqual([[0], [2]])
    },
  )

  test('nor while the consumer has something else to do', async () => {
    const { consumer, stop, run } = started(pace)
    consumer.turnsWanted = 2
    const ended = run()
    await expect.poll(() => consumer.turnsWanted).toBe(0)
    stop.abort()
    await ended
  })

  test('but does when it waits for something else than entries, however many there are', async () => {
    const { journal, consumer, stop, run } = started({ ...pace, intervalMs: 1e9 })
    consumer.turnsWanted = 3
    journal.grow(9)
    const ended = run()
    for (let turns = 0; turns < 20; turns++) await turn()
    stop.abort()
    await ended
    expect(consumer.turnsWanted).toBe(2)
  })

  test('and when there is less', async () => {
    const { journal, consumer, stop, loop, run } = started(pace)
    journal.grow(1)
    const ended = run()
    await loop.reaches(2, stop.signal)
    journal.grow(2)
    for (let turns = 0; turns < 20; turns++) await turn()
    stop.abort()
    await ended
    expect(consumer.handled).toEqual([[0]])
  })
})

describe('reaches', () => {
  const patient = new AbortController().signal

  test('resolves at once for a position that was reached before', async () => {
    const { loop } = started()

    await expect(loop.reaches(0, patient)).resolves.toBeUndefined()
  })

  test('resolves once the position is at or past the offset, and no sooner', async () => {
    const { journal, consumer, stop, loop, run } = started()
    const reached = loop.reaches(3, patient).then(() => consumer.position())
    const ended = run()
    journal.grow(1)
    await loop.reaches(2, patient)
    journal.grow(1)

    expect(await reached).toBe(4)
    stop.abort()
    await ended
  })

  test('gives up when its signal is aborted', async () => {
    const { loop } = started()
    const impatient = new AbortController()
    const given = loop.reaches(1, impatient.signal)
    impatient.abort()

    await expect(given).resolves.toBeUndefined()
  })
})
