import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, statSync, truncateSync } from 'node:fs'
import { createInterface } from 'node:readline'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JournalBatch, Offset } from '../../src/storage/journal/journal.ts'
import { SqliteJournalFile, SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'
import { batchOf } from '../support/journal-appender.ts'
import {
  type Appended,
  appended,
  contentOf,
  everything,
  numbered,
  offsetsOf,
  severalAppended,
  sum,
  totalOf,
} from '../support/journal-batches.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const bytesMax = 2_000

/** From some place within one of the batches on. */
interface Read {
  readonly batch: number
  readonly percent: number
  readonly entriesMax: number
}

type Step =
  | { readonly kind: 'append'; readonly batch: Appended }
  | ({ readonly kind: 'read' } & Read)
  | { readonly kind: 'trim'; readonly share: number }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'crash' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append'), batch: appended }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read'),
      batch: fc.nat(50),
      percent: fc.nat(99),
      entriesMax: fc.integer({ min: 1, max: 100 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('trim'),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash') }) },
) as fc.Arbitrary<Step>

/** What a journal has to hold: batches with their offsets, and the next offset. */
class Model {
  batches: JournalBatch[] = []
  head: Offset = 0

  append({ bytes, count }: Appended): void {
    this.batches.push({ firstOffset: this.head, count, bytes })
    this.head += count
  }

  /** The newest batch stays, because the next offset is known by it. */
  trim(below: Offset): void {
    this.batches = this.batches.filter(
      ({ firstOffset, count }, index) =>
        firstOffset + count > below || index === this.batches.length - 1,
    )
  }

  get bytes(): number {
    return sum(this.batches.map(({ bytes }) => bytes.byteLength))
  }
}

/** A journal and its model, kept in step. */
class Subject implements Disposable {
  readonly #folder = new TemporaryFolder()
  #generation = 0
  #file = this.#open()
  readonly #model = new Model()

  take(taken: Step): void {
    switch (taken.kind) {
      case 'append':
        this.#append(taken.batch)
        break
      case 'read':
        this.#read(taken)
        break
      case 'trim':
        this.#trim(Math.round(taken.share * this.#model.head))
        break
      case 'reopen':
        this.#file.close()
        this.#file = this.#open()
        break
      case 'crash':
        this.#crash()
        break
      default:
        taken satisfies never
    }
    expect(this.#file.status()).toMatchObject({ head: this.#model.head, bytes: this.#model.bytes })
  }

  [Symbol.dispose](): void {
    this.#file.close()
    this.#folder[Symbol.dispose]()
  }

  #append(batch: Appended): void {
    if (this.#model.bytes + batch.bytes.byteLength > bytesMax) {
      expect(() => this.#file.append(batch.bytes, batch.count)).toThrow('limit')
      return
    }
    expect(this.#file.append(batch.bytes, batch.count)).toBe(this.#model.head)
    this.#model.append(batch)
  }

  #read({ batch, percent, entriesMax }: Read): void {
    const { batches } = this.#model
    const first = batches[batch % Math.max(1, batches.length)]
    const from = first ? first.firstOffset + Math.floor((percent / 100) * first.count) : 0
    const expected = batches.filter(
      ({ firstOffset, count }) => firstOffset + count > from && firstOffset < from + entriesMax,
    )
    const reader = new SqliteJournalReader(this.#path)
    expect(contentOf(reader.read(from, entriesMax))).toEqual(contentOf(expected))
    reader.close()
  }

  #trim(below: Offset): void {
    while (this.#file.trim(below)) continue
    this.#model.trim(below)
  }

  /** The files as they are at this moment, without any goodbye, in a place of their own. */
  #crash(): void {
    const before = this.#path
    this.#generation++
    copyJournal(before, this.#path)
    this.#file.close()
    this.#file = this.#open()
  }

  get #path(): string {
    return this.#folder.file(`journal-${this.#generation}.db`)
  }

  #open(): SqliteJournalFile {
    return new SqliteJournalFile(this.#path, bytesMax)
  }
}

/** The file and its log, but not the index of the log, which lives in memory. */
function copyJournal(from: string, to: string): void {
  copyFileSync(from, to)
  if (existsSync(`${from}-wal`)) copyFileSync(`${from}-wal`, `${to}-wal`)
}

test('holds what was appended and not trimmed, whatever happens in between', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      using subject = new Subject()
      for (const one of steps) subject.take(one)
      subject.take({ kind: 'read', batch: 0, percent: 0, entriesMax: everything })
    }),
    { numRuns: 100 },
  )
})

test('keeps what was acknowledged when the log is torn at any byte after it', () => {
  fc.assert(
    fc.property(severalAppended, fc.double({ min: 0, max: 1, noNaN: true }), (batches, share) => {
      using folder = new TemporaryFolder()
      const path = folder.file('journal.db')
      const torn = folder.file('torn.db')
      const file = new SqliteJournalFile(path, 1024 ** 3)
      const emptyBytes = statSync(`${path}-wal`).size
      const logBytes = batches.map(({ bytes, count }) => {
        file.append(bytes, count)
        return statSync(`${path}-wal`).size
      })
      copyJournal(path, torn)
      file.close()
      const cutAt = Math.round(emptyBytes + share * ((logBytes.at(-1) ?? 0) - emptyBytes))
      truncateSync(`${torn}-wal`, cutAt)

      const whole = batches.filter((_, index) => (logBytes[index] ?? 0) <= cutAt)
      expect(contentIn(torn)).toEqual(numbered(whole))
      const reopened = new SqliteJournalFile(torn, 1024 ** 3)
      expect(reopened.append(Uint8Array.of(1), 1)).toBe(totalOf(whole))
      reopened.close()
    }),
    { numRuns: 50 },
  )
})

function contentIn(path: string) {
  const file = new SqliteJournalFile(path, 1024 ** 3)
  const reader = new SqliteJournalReader(path)
  const content = contentOf(reader.read(0, everything))
  reader.close()
  file.close()
  return content
}

test('holds everything acknowledged, once and in order, after each of five kills', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('journal.db')
  const acknowledged = new Map<Offset, JournalBatch>()
  let trimmedBelow = 0

  for (let kill = 0; kill < 5; kill++) {
    const seed = `seed ${kill}`
    const lines = await appendUntilKilled(path, { seed, lifeMs: 50 + Math.random() * 400 })
    for (const [word, ...numbers] of lines) {
      const [offset = 0, count = 0, size = 0] = numbers.map(Number)
      if (word === 'trim') trimmedBelow = Math.max(trimmedBelow, offset)
      else {
        expect(acknowledged.has(offset), `offset ${offset} was given twice`).toBe(false)
        acknowledged.set(offset, { firstOffset: offset, count, bytes: batchOf(seed, size) })
      }
    }

    const kept = readAll(path)
    expect(offsetsOf(kept)).toEqual(
      kept.map(({ firstOffset }) => firstOffset - (kept[0]?.firstOffset ?? 0)),
    )
    const keptByOffset = new Map(kept.map((batch) => [batch.firstOffset, batch]))
    const needed = [...acknowledged.values()]
      .filter(({ firstOffset, count }) => firstOffset + count > trimmedBelow)
      .sort((left, right) => left.firstOffset - right.firstOffset)
    expect(needed.length).toBeGreaterThan(0)
    expect(contentOf(needed.map((batch) => keptByOffset.get(batch.firstOffset) ?? gone))).toEqual(
      contentOf(needed),
    )
    const known = new Set(kept.map(({ bytes }) => Buffer.from(bytes).toString('base64')))
    expect(known.size, 'no batch is there twice').toBe(kept.length)
  }
})

const gone: JournalBatch = { firstOffset: -1, count: 0, bytes: new Uint8Array() }

/** The lines, in words, of a process that appended until it was killed in the middle of it. */
async function appendUntilKilled(
  path: string,
  { seed, lifeMs }: { readonly seed: string; readonly lifeMs: number },
): Promise<string[][]> {
  const script = new URL('../support/journal-appender.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [script, path, seed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[][] = []
  const reading = createInterface(child.stdout)
  reading.on('line', (line) => lines.push(line.split(' ')))
  const ended = Promise.all([once(child, 'exit'), once(reading, 'close')])
  await Promise.race([once(reading, 'line'), ended])
  setTimeout(() => child.kill('SIGKILL'), lifeMs)
  const [[code, signal]] = await ended
  expect([code, signal]).toEqual([null, 'SIGKILL'])
  return lines
}

function readAll(path: string): readonly JournalBatch[] {
  const file = new SqliteJournalFile(path, 1024 ** 3)
  const reader = new SqliteJournalReader(path)
  const batches = reader.read(0, everything)
  reader.close()
  file.close()
  return batches
}
