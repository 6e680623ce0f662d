import { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import type { JournalBatch, JournalReader, Offset } from '../../src/journal/journal.ts'
import { JournalHead } from '../../src/journal/journal-head.ts'
import { type Consumer, ConsumerLoop, restAfter } from '../../src/pipeline/consumer.ts'

/** A journal of batches of two entries in memory, with the port that tells how far it reaches. */
class MemoryJournal implements JournalReader {
  readonly port = new EventEmitter()
  readonly head = new JournalHead(this.port as unknown as MessagePort)
  readonly #batches: JournalBatch[] = []
  reads = 0

  grow(batches: number): void {
    for (let count = 0; count < batches; count++) {
      const firstOffset = this.#batches.length * 2
      this.#batches.push({ firstOffset, count: 2, bytes: new Uint8Array() })
    }
    this.port.emit('message', this.#batches.length * 2)
  }

  read(from: Offset, entriesMax: number): readonly JournalBatch[] {
    this.reads++
    return this.#batches.slice(from / 2, from / 2 + Math.ceil(entriesMax / 2))
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

  position(): Offset {
    return this.#position
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const failure = this.failures.shift()
    if (failure) throw failure
    this.handled.push(batches.map(({ firstOffset }) => firstOffset))
    this.#position += batches.length * 2
  }
}

function started() {
  const journal = new MemoryJournal()
  const consumer = new KeepingConsumer()
  const stop = new AbortController()
  const pace = { entriesMax: 4, intervalMs: 0 }
  const loop = new ConsumerLoop(consumer, { reader: journal, head: journal.head }, pace)
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

describe('the rest between two rounds', () => {
  const pace = {
    entriesMax: 100,
    intervalMs: 40,
    urgentIntervalMs: 10,
    shareMax: 0.2,
    urgentShareMax: 0.25,
    urgentRestMsMax: 200,
  }

  test.each([
    ['fills up the interval', 5, 0, 35],
    ['is four times a long round, of which it may work a fifth', 100, 0, 400],
    ['is as long while less than a full round waits', 100, 99, 400],
    ['is short when a full round waits', 30, 100, 10],
    ['is none after a long one when a full round waits', 50, 100, 0],
  ])('%s', (_, workedMs, entriesAhead, restMs) => {
    expect(restAfter({ workedMs, entriesAhead, isUrgent: false }, pace)).toBe(restMs)
  })

  test.each([
    ['is shorter where somebody waits for what follows', 2, true, 8],
    ['is three times a round there, of which it may work a quarter', 4, true, 12],
    ['is as long where nobody waits', 2, false, 38],
    ['has an end after a very long round', 1_000, true, 200],
    ['has none where nobody waits', 1_000, false, 4_000],
  ])('%s', (_, workedMs, isUrgent, restMs) => {
    expect(restAfter({ workedMs, entriesAhead: 0, isUrgent }, pace)).toBe(restMs)
  })

  test('has an end after a very long round of any kind, where the pace says so', () => {
    const { urgentRestMsMax: _, ...usual } = pace
    const limited = { ...usual, restMsMax: 300 }
    const round = { workedMs: 1_000, entriesAhead: 0 }
    expect(restAfter({ ...round, isUrgent: false }, limited)).toBe(300)
    expect(restAfter({ ...round, isUrgent: true }, limited)).toBe(300)
  })

  test('knows no share when the pace has none', () => {
    const round = { workedMs: 50, entriesAhead: 0, isUrgent: true }
    expect(restAfter(round, { entriesMax: 1, intervalMs: 40 })).toBe(0)
  })
})
