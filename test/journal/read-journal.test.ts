import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'
import { journalled, written } from '../support/journalled-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const streamId = newId<StreamId>()
const day = '1970-01-02T00:00:00.000000Z'

/** What `npm run journal` prints of a journal that somebody has open: an accepted reading, a refused one, and bytes. */
function printed(from: string): readonly object[] {
  using folder = new TemporaryFolder()
  const path = folder.file('journal.db')
  const journal = new SqliteJournalFile(path, 1024 ** 2)
  for (const entries of [
    [journalled({ streamId }), journalled({ streamId, accepted: false })],
    [journalled({ streamId, accepted: false, payload: Buffer.from([0xff, 0x00]) })],
  ]) {
    const { bytes } = written(entries)
    journal.append(bytes, entries.length)
  }
  const words = ['scripts/read-journal.ts', path, from]
  const output = execFileSync(process.execPath, words, { encoding: 'utf8' })
  journal.close()
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as object)
}

test('every entry is one line, beside whoever writes the journal', () => {
  const header = { stream: streamId, version: 3, receivedAt: day }
  const notes = expect.objectContaining({ reason: 'schema_mismatch', source: 'http 127.0.0.1' })
  expect(printed('0')).toEqual([
    { offset: 0, kind: 'accepted', ...header, timestamp: expect.any(String), body: '{}' },
    { offset: 1, kind: 'quarantined', ...header, notes, body: '{"temperature":"hot"}' },
    { offset: 2, kind: 'quarantined', ...header, notes, base64: '/wA=' },
  ])
})

test('lines begin at the offset that is asked for, in the midst of a batch as well', () => {
  expect(printed('1').map((line) => 'offset' in line && line.offset)).toEqual([1, 2])
})
