/**
 * `npm run journal -- FILE [FROM]`: entries of a journal as lines of JSON, from an offset on, also beside a service that
 * writes to it. What the numbers and notes of each kind mean is in `src/ingest/pipeline/entry.ts`. What both consumers have
 * passed is trimmed, so the first line may have a higher offset.
 */
import { isUtf8 } from 'node:buffer'
import { formatUs } from '../src/core/time.ts'
import * as layout from '../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../src/ingest/pipeline/entry-reader.ts'
import type { Offset } from '../src/storage/journal/journal.ts'
import { SqliteJournalReader } from '../src/storage/journal/sqlite-journal.ts'

/** Entries that are read at once. */
const entriesMax = 10_000

/** `accepted` of the constant `kindAccepted`, by its number. */
const names: ReadonlyMap<unknown, string> = new Map(
  Object.entries(layout).flatMap(([name, value]) => {
    const [, kind] = /^kind([A-Z]\w+)$/.exec(name) ?? []
    return kind === undefined ? [] : [[value, kind.toLowerCase()]]
  }),
)

function* linesOf(path: string, from: Offset): Generator<string> {
  const journal = new SqliteJournalReader(path)
  for (let next = from; ; ) {
    const batches = journal.read(next, entriesMax)
    for (const { firstOffset, count, bytes } of batches) {
      const entry = new EntryReader(bytes)
      for (let offset = firstOffset; entry.next(); offset++) {
        if (offset >= next) yield JSON.stringify({ offset, ...shown(entry) })
      }
      next = firstOffset + count
    }
    if (batches.length === 0) break
  }
  journal.close()
}

function shown(entry: EntryReader): object {
  const { start, kind, timestampUs, bytes } = entry
  const notes = bytes.notes(start)
  const body = Buffer.from(bytes.body(start))
  return {
    kind: names.get(kind) ?? kind,
    stream: layout.streamIdOf(entry.streamKey),
    version: entry.streamVersion,
    receivedAt: formatUs(entry.receivedAtUs),
    ...(!Number.isNaN(timestampUs) && { timestamp: formatUs(timestampUs) }),
    ...(notes !== '' && { notes: JSON.parse(notes) as unknown }),
    ...(body.length > 0 && bodyOf(body)),
  }
}

/** Bytes that are no text are shown in base64. */
function bodyOf(body: Buffer): object {
  return isUtf8(body) ? { body: body.toString() } : { base64: body.toString('base64') }
}

const [, , path, from = '0'] = process.argv
if (path === undefined || !/^\d+$/.test(from)) {
  console.error('usage: npm run journal -- FILE [FROM]')
  process.exitCode = 2
} else {
  for (const line of linesOf(path, Number(from))) console.log(line)
}
