import { afterEach, beforeEach, expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { streamKeyOf } from '../../src/ingest/pipeline/entry.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import type { Slice } from '../../src/reading/live/journal-slices.ts'
import { JournalTails } from '../../src/reading/live/journal-tails.ts'
import { NotingJournal } from '../../src/reading/live/noting-journal.ts'
import { StreamNews } from '../../src/reading/live/stream-news.ts'
import { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { UnsettledJournal } from '../support/unsettled-journal.ts'
import { acceptedReading, anyStream } from '../support/written-entries.ts'

/** A question is answered without news after this time; a test that needs it to be short says so. */
const longMs = 60_000

let folder: TemporaryFolder
let file: SqliteJournalFile
let unsettled: UnsettledJournal
let tails: JournalTails
let journal: NotingJournal

beforeEach(() => {
  folder = new TemporaryFolder()
  file = new SqliteJournalFile(folder.file('journal.db'), 1024 ** 3)
  unsettled = new UnsettledJournal(file)
})

afterEach(async () => {
  await tails.close()
  file.close()
  folder[Symbol.dispose]()
})

let followed = newId<StreamId>()

const onFailure = (error: unknown) => expect.unreachable(String(error))

function open(limits: ConstructorParameters<typeof StreamNews>[1] = {}): StreamNews {
  const news = new StreamNews(0, { waitMs: longMs, ...limits })
  tails = new JournalTails({ journalPath: folder.file('journal.db'), news, onFailure })
  journal = new NotingJournal(unsettled, news)
  return news
}

/** One batch with a reading of each of these numbers, of the stream or of another one. */
function append(numbers: readonly number[], streamId = followed): Promise<number> {
  const writer = new EntryWriter()
  for (const number of numbers) {
    const reading = acceptedReading({ values: `{"n":${number}}`, extra: '', flagged: [] })
    writer.accepted({ ...anyStream, streamId }, reading, 1)
  }
  const { bytes, count } = writer.take()
  return journal.append(bytes, count)
}

const others = (count: number) =>
  append(
    Array.from({ length: count }, () => 0),
    newId<StreamId>(),
  )

/** An entry of another stream that whoever reads it refuses: its format is not known. */
function unreadable(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(100)
  new DataView(bytes.buffer).setUint32(0, bytes.byteLength - 4, true)
  bytes[4] = 99
  return bytes
}

function slice(from: number, until?: number): Promise<Slice> {
  const streamKey = streamKeyOf(followed)
  return tails.slice({ streamKey, from, until, upTo: undefined, withQuarantined: false })
}

const numbersOf = ({ events }: Slice) =>
  events.map(({ json }) => (JSON.parse(json) as { n: number }).n)

test('knows the end, and what the journal holds', async () => {
  open()
  await others(3)

  expect(tails.end).toBe(3)
  await tails.assertCovers(0)
  await tails.assertCovers(3)
  await expect(tails.assertCovers(4)).rejects.toMatchObject({ code: 'position_expired' })
})

test('who waits is notified of what comes, and reads only the batches that hold it', async () => {
  open()
  await others(2)
  const waiting = slice(2)
  await journal.append(unreadable(), 1)
  await append([1, 2])

  expect(await waiting).toEqual({ events: [expect.anything(), expect.anything()], next: 5 })
  await append([3])
  expect(numbersOf(await slice(5))).toEqual([3])
  expect(numbersOf(await slice(4, 6))).toEqual([2, 3])
})

test('a batch that is on its way when a stream is followed for the first time is not missed', async () => {
  open()
  unsettled.outcome = 'later'
  const arrived = append([1])
  const waiting = slice(0)
  await unsettled.settle()
  await arrived

  expect(numbersOf(await waiting)).toEqual([1])
})

test('a batch that was refused, and is in the journal all the same, is shown with the next one', async () => {
  open()
  const waiting = slice(0)
  unsettled.outcome = 'refused'
  await expect(append([1])).rejects.toThrow()
  unsettled.outcome = 'kept'
  await others(1)

  expect(numbersOf(await waiting)).toEqual([1])
})

test('what was there before a stream was followed is found by looking through all', async () => {
  open()
  await append([1])
  await others(30_000)
  await append([2])

  const first = await slice(0)
  expect(numbersOf(first)).toEqual([1])
  expect(numbersOf(await slice(first.next))).toEqual([2])
})

test('a reader is given all that is noted, however much comes meanwhile', async () => {
  open({ notedMax: 4 })
  const waiting = slice(0)
  await append([0])
  let read = await waiting
  const numbers = numbersOf(read)
  for (let number = 1; number < 50; number++) {
    await append([number])
    await others(2)
  }

  while (numbers.length < 50) {
    read = await slice(read.next)
    numbers.push(...numbersOf(read))
  }
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, number) => number))
})

test('batches are not looked through while no one follows, nor after the last one has gone', async () => {
  const news = open({ waitMs: 1, restMs: 20, dropMs: 10 })
  const writer = new EntryWriter()
  writer.accepted({ ...anyStream, streamId: followed }, acceptedReading(), 1)
  const { bytes } = writer.take()
  const found = () => news.look(bytes).found.size

  expect(found()).toBe(0)
  await slice(0)
  expect(found()).toBe(1)
  await expect.poll(found).toBe(0)
  // As before: what comes meanwhile is found when the stream is followed again.
  await append([1])
  expect(numbersOf(await slice(0))).toEqual([1])
})

test('who was notified a moment ago is notified of several batches at once', async () => {
  open()
  const waiting = slice(0)
  await append([1])
  const { next } = await waiting
  const again = slice(next)
  await append([2])
  await append([3])

  expect(numbersOf(await again)).toEqual([2, 3])
})

test('a position that the journal does not hold any more has expired', async () => {
  open({ waitMs: 1 })
  await slice(0)
  await append([1])
  await others(1)
  await others(1)
  while (file.trim(2)) continue

  // Where its batches are noted, and where all is looked through.
  await expect(slice(0)).rejects.toMatchObject({ code: 'position_expired' })
  followed = newId<StreamId>()
  await expect(slice(0)).rejects.toMatchObject({ code: 'position_expired' })
})
