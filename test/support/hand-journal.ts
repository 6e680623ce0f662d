import type { StreamVersion } from '../../src/contracts/reading.ts'
import type { DomainError } from '../../src/core/errors.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import { readEntries } from '../../src/ingest/pipeline/entry-reader.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { GroupCommit } from '../../src/ingest/pipeline/group-commit.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'

export interface Append {
  /** Texts of the messages in it. */
  readonly texts: readonly string[]
  readonly count: number
  succeed(): void
  fail(error: unknown): void
}

/** A journal whose appends end when the test says so. */
class HandJournal implements Journal {
  readonly appends: Append[] = []
  readonly open = new Set<Append>()

  append(bytes: Uint8Array<ArrayBuffer>, count: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const texts = [...readEntries(bytes)].map((entry) => (entry.accepted ? entry.values : ''))
    const append: Append = {
      texts,
      count,
      succeed: () => {
        this.open.delete(append)
        resolve(0)
      },
      fail: (error) => {
        this.open.delete(append)
        reject(error)
      },
    }
    this.appends.push(append)
    this.open.add(append)
    return promise
  }

  async trim(): Promise<void> {}

  status(): never {
    throw new Error('nobody asks')
  }
}

const stream: StreamVersion = {
  streamId: '01234567-89ab-4def-8123-456789abcdef' as StreamId,
  ownerId: 'owner' as UserId,
  version: 1,
  schema: {
    fields: {},
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  },
}

function entryOf(text: string): (writer: EntryWriter) => void {
  const reading = { timestampUs: 0, values: text, extra: '', flagged: [], digest: '0'.repeat(16) }
  return (writer) => writer.accepted(stream, { accepted: true, ...reading }, 0)
}

/** Group commits onto a journal in the test's hand, with a list of what was settled, in order. */
export function started() {
  const journal = new HandJournal()
  const commits = new GroupCommit(journal)
  const settled: { text: string; error: DomainError | undefined }[] = []
  const add = (text: string) => commits.add(entryOf(text), (error) => settled.push({ text, error }))
  const settledTexts = () => settled.map(({ text }) => text)
  return { journal, commits, settled, settledTexts, add }
}
