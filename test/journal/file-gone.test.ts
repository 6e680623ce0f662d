import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const spacious = 1024 ** 3
const entry = new Uint8Array([1])

/** A journal in a folder of its own, which has taken an entry. */
function openJournal(folder: TemporaryFolder) {
  const data = folder.file('data')
  mkdirSync(data)
  const path = `${data}/journal.db`
  const journal = new SqliteJournalFile(path, spacious)
  journal.append(entry, 1)
  return { data, path, journal }
}

const losses = [
  { what: 'the file', lose: (_: string, path: string) => rmSync(path) },
  { what: 'its log', lose: (_: string, path: string) => rmSync(`${path}-wal`) },
  { what: 'the folder', lose: (data: string) => rmSync(data, { recursive: true }) },
]

describe.each(losses)('once $what is gone', ({ lose }) => {
  test('the very next append is refused, and trims do nothing', () => {
    using folder = new TemporaryFolder()
    const { data, path, journal } = openJournal(folder)
    journal.append(entry, 1)
    const { bytes } = journal.status()

    lose(data, path)

    expect(() => journal.append(entry, 1)).toThrow('was deleted, moved or replaced')
    expect(() => journal.append(entry, 1)).toThrow('was deleted, moved or replaced')
    expect(journal.status().problem).toContain('was deleted, moved or replaced')
    expect(journal.trim(1)).toBe(false)
    // The first of the two refused ones was written.
    expect(journal.status().bytes).toBe(bytes + entry.byteLength)
    journal.close()
  })
})

test('a journal that comes back takes entries again, and gives no offset twice', () => {
  using folder = new TemporaryFolder()
  const { data, path, journal } = openJournal(folder)
  renameSync(data, folder.file('elsewhere'))
  // Each of them is refused: the first after its commit, the second before it.
  expect(() => journal.append(entry, 1)).toThrow('was deleted, moved or replaced')
  expect(() => journal.append(entry, 1)).toThrow('was deleted, moved or replaced')

  renameSync(folder.file('elsewhere'), data)

  expect(journal.append(entry, 1)).toBe(2)
  expect(journal.status().problem).toBeUndefined()
  journal.close()
  const again = new SqliteJournalFile(path, spacious)
  expect(again.status().head).toBe(3)
  again.close()
})
