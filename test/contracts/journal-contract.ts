import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import type { Journal, JournalReader, Offset } from '../../src/storage/journal/journal.ts'
import {
  type Appended,
  contentOf,
  everything,
  numbered,
  offsetsOf,
  severalAppended,
  sum,
  totalOf,
} from '../support/journal-batches.ts'

/** A journal that is open. Disposing of it closes it and removes what it has kept. */
export interface OpenJournal extends AsyncDisposable {
  readonly journal: Journal
  /** What a consumer reads through; closed with the journal. */
  reader(): JournalReader
  /** Closes the journal and opens it again; `journal` is the new one then. */
  reopen(): Promise<void>
}

/** Opens a new, empty journal with a limit for its size. */
export type OpenNewJournal = (bytesMax: number) => Promise<OpenJournal>

const spacious = 1024 ** 3

const fewRuns = { numRuns: 8 }

/** What every journal promises. Each adapter's test calls this once, with a real journal. */
export function journalContract(open: OpenNewJournal): void {
  describe('appending', () => appendingContract(open))
  describe('reading', () => readingContract(open))
  describe('trimming', () => trimmingContract(open))
  describe('the size limit', () => limitContract(open))
}

function appendingContract(open: OpenNewJournal): void {
  test('numbers entries from 0 without a gap', async () => {
    await fc.assert(
      fc.asyncProperty(severalAppended, async (batches) => {
        await using opened = await open(spacious)

        const offsets = await appendAll(opened, batches)

        expect(offsets).toEqual(offsetsOf(batches))
        expect((await opened.journal.status()).head).toBe(totalOf(batches))
        expect(opened.reader().nextOffset()).toBe(totalOf(batches))
      }),
      fewRuns,
    )
  })

  test('numbers appends that are made at once in the order of the calls', async () => {
    await fc.assert(
      fc.asyncProperty(severalAppended, async (batches) => {
        await using opened = await open(spacious)

        const offsets = await Promise.all(
          batches.map(({ bytes, count }) => opened.journal.append(bytes.slice(), count)),
        )

        expect(offsets).toEqual(offsetsOf(batches))
        expect(contentOf(opened.reader().read(0, everything))).toEqual(numbered(batches))
      }),
      fewRuns,
    )
  })

  test('goes on with the numbers after it was opened again', async () => {
    await using opened = await open(spacious)
    await opened.journal.append(Uint8Array.of(1), 7)
    await opened.reopen()

    expect((await opened.journal.status()).head).toBe(7)
    expect(await opened.journal.append(Uint8Array.of(2), 1)).toBe(7)
  })

  test('never gives a number twice, even after everything was trimmed', async () => {
    await using opened = await open(spacious)
    await opened.journal.append(Uint8Array.of(1), 3)
    await opened.journal.append(Uint8Array.of(2), 4)
    await opened.journal.trim(7)
    await opened.reopen()
    await opened.journal.trim(7)
    await opened.reopen()

    expect(opened.reader().nextOffset()).toBe(7)
    expect(await opened.journal.append(Uint8Array.of(3), 1)).toBe(7)
  })
}

function readingContract(open: OpenNewJournal): void {
  test('is empty at first', async () => {
    await using opened = await open(spacious)

    expect(opened.reader().read(0, everything)).toEqual([])
    expect(await opened.journal.status()).toMatchObject({ head: 0, bytes: 0, problem: undefined })
  })

  test('gives back every batch byte for byte, also after it was opened again', async () => {
    await fc.assert(
      fc.asyncProperty(severalAppended, async (batches) => {
        await using opened = await open(spacious)
        await appendAll(opened, batches)

        expect(contentOf(opened.reader().read(0, everything))).toEqual(numbered(batches))
        await opened.reopen()
        expect(contentOf(opened.reader().read(0, everything))).toEqual(numbered(batches))
      }),
      fewRuns,
    )
  })

  test('gives back a batch of several megabytes', async () => {
    await using opened = await open(spacious)
    const bytes = new Uint8Array(3_000_000).map((_, index) => index % 251)
    await opened.journal.append(bytes.slice(), 10_000)

    const [batch] = opened.reader().read(0, 1)

    expect(Buffer.compare(batch?.bytes ?? new Uint8Array(), bytes)).toBe(0)
  })

  test('begins at the offset that is asked for', async () => {
    await fc.assert(
      fc.asyncProperty(severalAppended, async (batches) => {
        await using opened = await open(spacious)
        const offsets = await appendAll(opened, batches)
        const reader = opened.reader()
        offsets.forEach((offset, index) => {
          const from = numbered(batches).slice(index)
          const lastOfBatch = offset + (batches[index]?.count ?? 1) - 1
          expect(contentOf(reader.read(offset, everything))).toEqual(from)
          expect(contentOf(reader.read(lastOfBatch, everything))).toEqual(from)
        })
        expect(reader.read(totalOf(batches), everything)).toEqual([])
        expect(reader.read(totalOf(batches) + 100, everything)).toEqual([])
      }),
      fewRuns,
    )
  })

  test('ends with the batch that reaches the number of entries asked for', async () => {
    const around = fc.record({ batch: fc.nat(11), distance: fc.constantFrom(-1, 0, 1) })
    await fc.assert(
      fc.asyncProperty(severalAppended, around, async (batches, { batch, distance }) => {
        await using opened = await open(spacious)
        await appendAll(opened, batches)
        const max = Math.max(1, totalOf(batches.slice(0, batch + 1)) + distance)
        const kept = opened.reader().read(0, max)
        const all = batches.map(({ count }) => count)
        const enough = all.findIndex((_, index) => sum(all.slice(0, index + 1)) >= max)
        expect(kept.map(({ count }) => count)).toEqual(
          enough === -1 ? all : all.slice(0, enough + 1),
        )
      }),
      fewRuns,
    )
  })

  test('shows a reader that was open before what is appended and trimmed', async () => {
    await using opened = await open(spacious)
    const reader = opened.reader()
    reader.read(0, everything)
    await opened.journal.append(Uint8Array.of(1), 2)
    await opened.journal.append(Uint8Array.of(2), 2)
    await opened.journal.trim(2)

    expect(reader.read(0, everything).map(({ firstOffset }) => firstOffset)).toEqual([2])
  })
}

function trimmingContract(open: OpenNewJournal): void {
  test('keeps every entry that is not below the offset', async () => {
    await fc.assert(
      fc.asyncProperty(severalAppended, fc.nat(400), async (batches, below) => {
        await using opened = await open(spacious)
        await appendAll(opened, batches)

        await opened.journal.trim(below)
        await opened.reopen()

        const needed = numbered(batches).filter(
          ({ firstOffset, count }) => firstOffset + count > below,
        )
        const kept = contentOf(opened.reader().read(0, everything))
        expect(kept.slice(kept.length - needed.length)).toEqual(needed)
      }),
      fewRuns,
    )
  })

  test('counts the bytes of the entries that a reader still finds', async () => {
    await fc.assert(
      fc.asyncProperty(severalAppended, fc.nat(400), async (batches, below) => {
        await using opened = await open(spacious)
        await appendAll(opened, batches)
        expect((await opened.journal.status()).bytes).toBe(bytesIn(opened))

        await opened.journal.trim(below)
        expect((await opened.journal.status()).bytes).toBe(bytesIn(opened))

        await opened.reopen()
        expect((await opened.journal.status()).bytes).toBe(bytesIn(opened))
      }),
      fewRuns,
    )
  })

  test('forgets all but a little of a thousand batches', async () => {
    await using opened = await open(spacious)
    const batches = Array.from({ length: 1_000 }, () => ({ bytes: new Uint8Array(100), count: 1 }))
    await Promise.all(batches.map(({ bytes }) => opened.journal.append(bytes, 1)))

    await opened.journal.trim(1_000)

    expect((await opened.journal.status()).bytes).toBeLessThanOrEqual(100)
  })
}

function limitContract(open: OpenNewJournal): void {
  test('refuses a batch that does not fit, as something that may pass', async () => {
    await using opened = await open(1_000)
    await opened.journal.append(new Uint8Array(900), 1)

    const refusal = await refusalOf(opened.journal.append(new Uint8Array(101), 1))

    expect(refusal.code).toBe('journal_full')
    expect(refusal.retryable).toBe(true)
    expect((await opened.journal.status()).problem).toContain('1000 bytes')
  })

  test('keeps nothing of what it refuses', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(sizes, async (lengths) => {
        await using opened = await open(1_000)
        const batches = lengths.map((length, index) => ({
          bytes: new Uint8Array(length).fill(index),
          count: 1,
        }))

        const offsets = await Promise.allSettled(
          batches.map(({ bytes, count }) => opened.journal.append(bytes.slice(), count)),
        )

        const accepted = batches.filter((_, index) => offsets[index]?.status === 'fulfilled')
        expect(contentOf(opened.reader().read(0, everything))).toEqual(numbered(accepted))
        expect((await opened.journal.status()).head).toBe(accepted.length)
        expect((await opened.journal.status()).bytes).toBeLessThanOrEqual(1_000)
      }),
      fewRuns,
    )
  })

  test('accepts again, and has no problem, once a trim has made room', async () => {
    await using opened = await open(1_000)
    await opened.journal.append(new Uint8Array(450), 1)
    await opened.journal.append(new Uint8Array(450), 1)
    await refusalOf(opened.journal.append(new Uint8Array(450), 1))

    await opened.journal.trim(2)

    expect((await opened.journal.status()).problem).toBeUndefined()
    expect(await opened.journal.append(new Uint8Array(450), 1)).toBe(2)
  })

  test('holds after it was opened again', async () => {
    await using opened = await open(1_000)
    await opened.journal.append(new Uint8Array(900), 1)
    await opened.reopen()

    const refusal = await refusalOf(opened.journal.append(new Uint8Array(101), 1))

    expect(refusal.code).toBe('journal_full')
  })
}

async function appendAll(opened: OpenJournal, batches: readonly Appended[]): Promise<Offset[]> {
  const offsets: Offset[] = []
  for (const { bytes, count } of batches) {
    // A copy: the journal takes the memory away.
    offsets.push(await opened.journal.append(bytes.slice(), count))
  }
  return offsets
}

function bytesIn(opened: OpenJournal): number {
  const batches = opened.reader().read(0, everything)
  return sum(batches.map(({ bytes }) => bytes.byteLength))
}

async function refusalOf(append: Promise<Offset>): Promise<DomainError> {
  const outcome = await append.catch((error: unknown) => error)
  if (outcome instanceof DomainError) return outcome
  throw new Error(`the append was not refused as it should be: ${String(outcome)}`)
}
