import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { MessageChannel } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'
import { ThreadedJournal } from '../../src/storage/journal/threaded-journal.ts'
import { journalContract, type OpenJournal } from '../contracts/journal-contract.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const spacious = 1024 ** 3

async function openNew(bytesMax: number): Promise<OpenJournal> {
  const folder = new TemporaryFolder()
  const path = folder.file('journal.db')
  const readers: SqliteJournalReader[] = []
  let journal = await ThreadedJournal.open({ path, bytesMax, followers: [] })
  const close = async () => {
    for (const reader of readers.splice(0)) reader.close()
    await journal.close()
  }
  return {
    get journal() {
      return journal
    },
    reader() {
      const reader = new SqliteJournalReader(path)
      readers.push(reader)
      return reader
    },
    async reopen() {
      await close()
      journal = await ThreadedJournal.open({ path, bytesMax, followers: [] })
    },
    async [Symbol.asyncDispose]() {
      await close()
      folder[Symbol.dispose]()
    },
  }
}

journalContract(openNew)

describe('the file', () => {
  test('is refused, and left alone, when a newer version has written it', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('journal.db')
    const newer = new DatabaseSync(path)
    newer.exec('PRAGMA user_version = 2')
    newer.close()

    const opening = ThreadedJournal.open({ path, bytesMax: spacious, followers: [] })

    await expect(opening).rejects.toThrow('written by a newer version (file format 2)')
    expect(versionOf(path)).toBe(2)
  })

  test('shrinks after a trim, down to the space that it keeps for reuse', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('journal.db')
    const journal = await ThreadedJournal.open({ path, bytesMax: spacious, followers: [] })
    const batches = Array.from({ length: 100 }, () => new Uint8Array(1024 ** 2))
    await Promise.all(batches.map((bytes) => journal.append(bytes, 1)))
    await journal.trim(100)
    await journal.trim(100)
    await journal.trim(100)
    await journal.close()

    expect(statSync(path).size).toBeLessThan(70 * 1024 ** 2)
  })
})

test('the newest entries stay for so many bytes, whatever is trimmed', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('journal.db')
  const limits = { bytesMax: spacious, retainedBytes: 250 }
  const journal = await ThreadedJournal.open({ path, ...limits, followers: [] })
  for (let batch = 0; batch < 2_000; batch++) await journal.append(new Uint8Array(100), 1)

  await journal.trim(1_990)
  const early = new SqliteJournalReader(path).read(0, 1)[0]?.firstOffset
  await journal.trim(2_000)

  const reader = new SqliteJournalReader(path)
  const kept = reader.read(0, 10).map(({ firstOffset }) => firstOffset)
  expect([early, kept]).toEqual([1_990, [1_997, 1_998, 1_999]])
  expect((await journal.status()).bytes).toBe(300)
  await journal.close()
})

test('a reader hands out as many entries as are wanted, if there are, from within a batch', async () => {
  using folder = new TemporaryFolder()
  const path = folder.file('journal.db')
  const journal = await ThreadedJournal.open({ path, bytesMax: spacious, followers: [] })
  for (let batch = 0; batch < 3; batch++) await journal.append(Uint8Array.of(batch), 10)
  const reader = new SqliteJournalReader(path)
  const firstOffsets = (from: number, entriesMax: number) =>
    reader.read(from, entriesMax).map(({ firstOffset }) => firstOffset)

  expect(firstOffsets(0, 10)).toEqual([0])
  expect(firstOffsets(9, 1)).toEqual([0])
  expect(firstOffsets(9, 10)).toEqual([0, 10])
  expect(firstOffsets(9, 12)).toEqual([0, 10, 20])
  reader.close()
  await journal.close()
})

describe('the thread', () => {
  test('tells a follower of the head after each append', async () => {
    using folder = new TemporaryFolder()
    const { port1: follower, port2: head } = new MessageChannel()
    const heads: number[] = []
    head.on('message', (message: number) => heads.push(message))
    const journal = await ThreadedJournal.open({
      path: folder.file('journal.db'),
      bytesMax: 10,
      followers: [follower],
    })

    await journal.append(Uint8Array.of(1), 3)
    await expect(journal.append(new Uint8Array(10), 1)).rejects.toThrow('limit')
    await journal.append(Uint8Array.of(2), 4)
    const closed = once(head, 'close')
    await journal.close()
    await closed

    expect(heads).toEqual([3, 7])
  })

  test('refuses every call after it was closed', async () => {
    using folder = new TemporaryFolder()
    const path = folder.file('journal.db')
    const journal = await ThreadedJournal.open({ path, bytesMax: spacious, followers: [] })
    await journal.close()

    await expect(journal.append(Uint8Array.of(1), 1)).rejects.toThrow('the thread has ended')
    await expect(journal.status()).rejects.toThrow('the thread has ended')
  })

  test('takes the memory of what it appends', async () => {
    await using opened = await openNew(spacious)
    const bytes = Uint8Array.of(1, 2, 3)

    await opened.journal.append(bytes, 1)

    expect(bytes.byteLength).toBe(0)
  })
})

function versionOf(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('PRAGMA user_version').get()
  database.close()
  return Number(row?.['user_version'])
}
