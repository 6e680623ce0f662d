import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { streamKeyOf } from '../../src/ingest/pipeline/entry.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import {
  type EntriesAt,
  type EntriesAtRequest,
  JournalEntriesAt,
} from '../../src/reading/live/entries-at.ts'
import { SqliteJournalFile, SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { acceptedReading, anyStream } from '../support/written-entries.ts'

const streamIds = [newId<StreamId>(), newId<StreamId>()] as const
const digest = '00000000000000ff'

interface OpenJournal extends Disposable {
  readonly file: SqliteJournalFile
  readonly reader: SqliteJournalReader
  append(fill: (writer: EntryWriter) => void): number
}

function openJournal(): OpenJournal {
  const folder = new TemporaryFolder()
  const file = new SqliteJournalFile(folder.file('journal.db'), 1024 ** 3)
  const reader = new SqliteJournalReader(folder.file('journal.db'))
  return {
    file,
    reader,
    append(fill) {
      const writer = new EntryWriter()
      fill(writer)
      const { bytes, count } = writer.take()
      return file.append(bytes, count)
    },
    [Symbol.dispose]() {
      reader.close()
      file.close()
      folder[Symbol.dispose]()
    },
  }
}

function entriesAt(entries: JournalEntriesAt, notes: Partial<EntriesAtRequest> = {}): EntriesAt {
  while (entries.note(Number.MAX_SAFE_INTEGER));
  const streamKey = streamKeyOf(streamIds[0])
  return entries.find({ streamKey, timestampUs: 1_000, limit: 100, bytesMax: 1e9, ...notes })
}

const times = fc.constantFrom(1_000, 2_000, 2 ** 33)
const stream = fc.constantFrom(...streamIds)

const entry = fc.oneof(
  fc.record({ kind: fc.constantFrom('accepted', 'imported', 'filtered'), stream, time: times }),
  fc.record({
    kind: fc.constant('quarantined'),
    stream,
    time: fc.option(times, { nil: undefined }),
  }),
  fc.record({
    kind: fc.constantFrom('redriven', 'redriven, and filtered'),
    stream,
    time: times,
    of: fc.nat(20),
  }),
  fc.record({ kind: fc.constant('removed'), stream, of: fc.nat(20) }),
  fc.record({ kind: fc.constant('cleared'), stream, startUs: times, endUs: times }),
  fc.record({ kind: fc.constant('timer'), stream, time: times }),
)

type Made = typeof entry extends fc.Arbitrary<infer One> ? One : never

function write(writer: EntryWriter, one: Made): void {
  const of = { ...anyStream, streamId: one.stream }
  const timestampUs = ('time' in one ? one.time : undefined) ?? 0
  const reading = acceptedReading({ timestampUs, digest })
  if (one.kind === 'accepted') writer.accepted(of, reading, 5)
  else if (one.kind === 'imported') writer.imported(of, reading, 5)
  else if (one.kind === 'filtered') {
    writer.filtered(of, { accepted: true, isFiltered: true, timestampUs, digest }, 5)
  } else if (one.kind === 'timer') writer.alertTimer(of, timestampUs, 5)
  else if ('startUs' in one) writer.cleared(of, one, 5)
  else if (one.kind === 'removed' && 'of' in one) writer.removed(of, [one.of], 5)
  else if ('of' in one) {
    const origin = { offset: one.of, index: 0 }
    const filtered = { accepted: true, isFiltered: true, timestampUs, digest } as const
    if (one.kind === 'redriven') writer.accepted(of, reading, 5, origin)
    else writer.filtered(of, filtered, 5, origin)
  } else {
    const refusal = { accepted: false, reason: 'malformed', message: 'no', details: [] } as const
    const claimed = 'time' in one ? one.time : undefined
    const payload = Buffer.from('{')
    writer.quarantined(
      of,
      { ...refusal, timestampUs: claimed },
      { atUs: 5, source: 'mqtt', payload },
    )
  }
}

test('finds exactly the entries of the stream and time, and what became of them', () => {
  const batches = fc.array(fc.array(entry, { minLength: 1, maxLength: 6 }), { maxLength: 8 })
  fc.assert(
    fc.property(batches, fc.nat(8), times, (all, readAfter, timestampUs) => {
      using journal = openJournal()
      const entries = new JournalEntriesAt(journal.reader)
      for (const [at, batch] of all.entries()) {
        if (at === readAfter) entriesAt(entries)
        journal.append((writer) => {
          for (const one of batch) write(writer, one)
        })
      }
      const made = all.flat()
      for (const streamId of streamIds) {
        const found = entriesAt(entries, { streamKey: streamKeyOf(streamId), timestampUs })
        const offsets = made.flatMap((one, offset) => {
          const isIt = one.stream === streamId && 'time' in one && one.time === timestampUs
          return isIt && one.kind !== 'timer' ? [offset] : []
        })
        expect(found.entries.map(({ offset }) => offset)).toEqual(offsets)
        expect(found.removals).toEqual(
          made.flatMap((one, offset) =>
            one.stream === streamId && 'startUs' in one && holds(one, timestampUs) ? [offset] : [],
          ),
        )
        for (const { offset, refusal, ended } of found.entries) {
          if (refusal === undefined) continue
          const by = made.findIndex((one) => 'of' in one && one.of === offset)
          const isRedriven = made[by]?.kind !== 'removed'
          expect(ended).toEqual(by === -1 ? undefined : { offset: by, isRedriven })
        }
        expect(found).toMatchObject({ isPart: false, hasMore: false, until: made.length })
      }
    }),
    { numRuns: 150 },
  )
})

function holds(range: { startUs: number; endUs: number }, timestampUs: number): boolean {
  return range.startUs <= timestampUs && timestampUs < range.endUs
}

/** A batch with one reading. */
function accept(journal: OpenJournal, values = '{"level":1}'): number {
  return journal.append((writer) =>
    writer.accepted(
      { ...anyStream, streamId: streamIds[0] },
      acceptedReading({ values, digest }),
      5,
    ),
  )
}

test('searches the newest part of a long journal only, and says so', () => {
  using journal = openJournal()
  for (let round = 0; round < 10; round++) accept(journal)
  const bytes = journal.file.status().bytes / 10

  const found = entriesAt(new JournalEntriesAt(journal.reader, 3 * bytes))

  expect(found.entries.map(({ offset }) => offset)).toEqual([7, 8, 9])
  expect(found).toMatchObject({ from: 7, until: 10, isPart: true })
})

test('goes on where the journal begins by now', () => {
  using journal = openJournal()
  const entries = new JournalEntriesAt(journal.reader)
  accept(journal)
  expect(entriesAt(entries).entries).toHaveLength(1)
  for (let round = 0; round < 5; round++) accept(journal)
  while (journal.file.trim(4));

  const found = entriesAt(entries)

  expect(found.entries.map(({ offset }) => offset)).toEqual([4, 5])
  expect(found).toMatchObject({ from: 4, until: 6, isPart: false })
})

test('ends at its limits, and says that there are more', () => {
  using journal = openJournal()
  const entries = new JournalEntriesAt(journal.reader)
  for (let round = 0; round < 5; round++) accept(journal, `{"text":"${'x'.repeat(1_000)}"}`)

  expect(entriesAt(entries, { limit: 3 })).toMatchObject({ hasMore: true })
  expect(entriesAt(entries, { limit: 3 }).entries).toHaveLength(3)
  expect(entriesAt(entries, { limit: 5 })).toMatchObject({ hasMore: false })
  expect(entriesAt(entries, { bytesMax: 2_500 }).entries).toHaveLength(2)
  expect(entriesAt(entries, { bytesMax: 1 })).toMatchObject({ hasMore: true })
  expect(entriesAt(entries, { bytesMax: 1 }).entries).toHaveLength(1)
})
