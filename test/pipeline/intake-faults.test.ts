import { describe, expect, test } from 'vitest'
import { decodeJson } from '../../processors/decode-json.ts'
import { judgeOf } from '../../processors/index.ts'
import type { CompiledStream, StreamVersion } from '../../src/contracts/reading.ts'
import { ReceiptClock, systemClock } from '../../src/core/clock.ts'
import type { DomainError } from '../../src/core/errors.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import type { Entry } from '../../src/ingest/pipeline/entry.ts'
import { readEntries } from '../../src/ingest/pipeline/entry-reader.ts'
import { GroupCommit } from '../../src/ingest/pipeline/group-commit.ts'
import { Intake } from '../../src/ingest/pipeline/intake.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'

const version: StreamVersion = {
  streamId: newId<StreamId>(),
  ownerId: newId<UserId>(),
  version: 1,
  schema: {
    fields: { level: { type: 'number' } },
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  },
}
const stream: CompiledStream = {
  ...version,
  decode: decodeJson,
  judge: judgeOf(version.schema),
  scan: undefined,
}

/** A journal that keeps every entry, and is always done at once. */
class KeepingJournal implements Journal {
  readonly entries: Entry[] = []

  async append(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
    this.entries.push(...readEntries(bytes))
    return 0
  }

  async trim(): Promise<void> {}

  status(): never {
    throw new Error('nobody asks')
  }
}

describe('a message that a fault of ours keeps from being handled', () => {
  test.each([
    ['decoded', { decode: broken }],
    ['judged', { judge: broken }],
  ])('is quarantined with its bytes when it cannot be %s, and told of', async (_, faulty) => {
    const faults: unknown[] = []
    const journal = new KeepingJournal()
    const commits = new GroupCommit(journal)
    const receipts = new ReceiptClock(systemClock)
    const intake = new Intake({ commits, receipts, onFault: (error) => faults.push(error) })
    const settled: (DomainError | undefined)[] = []
    const payload = Buffer.from('{"level":1}')
    const message = { stream: { ...stream, ...faulty }, payload, source: 'mqtt client pump' }

    intake.accept(message, (error) => settled.push(error))
    intake.accept({ ...message, stream }, (error) => settled.push(error))
    await commits.drain()

    expect(settled).toEqual([undefined, undefined])
    expect(journal.entries).toMatchObject([
      { notes: { reason: 'malformed' } },
      { values: '{"level":1}' },
    ])
    const [first] = journal.entries
    expect(first && 'payload' in first && Buffer.from(first.payload).toString()).toBe('{"level":1}')
    expect(faults).toEqual([new Error('a bug')])
    expect(intake.faults).toBe(1)
  })
})

function broken(): never {
  throw new Error('a bug')
}
