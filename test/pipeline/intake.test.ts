import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJson } from '../../processors/decode-json.ts'
import { judgeOf } from '../../processors/index.ts'
import { scanOf } from '../../processors/scan.ts'
import type { MessageOutcome } from '../../src/contracts/connector.ts'
import type { Allowance, CompiledStream, StreamVersion } from '../../src/contracts/reading.ts'
import { ReceiptClock } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import type { StreamId, UserId } from '../../src/core/ids.ts'
import type { Entry } from '../../src/ingest/pipeline/entry.ts'
import { readEntries } from '../../src/ingest/pipeline/entry-reader.ts'
import { GroupCommit } from '../../src/ingest/pipeline/group-commit.ts'
import { Intake, judgeMessage } from '../../src/ingest/pipeline/intake.ts'
import type { Journal } from '../../src/storage/journal/journal.ts'

const version: StreamVersion = {
  streamId: '01234567-89ab-4def-8123-456789abcdef' as StreamId,
  ownerId: 'owner' as UserId,
  version: 3,
  schema: {
    fields: { level: { type: 'number', required: true } },
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  },
}
const stream: CompiledStream = {
  ...version,
  decode: decodeJson,
  judge: judgeOf(version.schema),
  scan: scanOf(version.schema),
}

const nowUs = 1_700_000_000_000_000

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

function started() {
  const journal = new KeepingJournal()
  const commits = new GroupCommit(journal)
  const intake = new Intake({ commits, receipts: new ReceiptClock({ nowUs: () => nowUs }) })
  const settled: (DomainError | undefined)[] = []
  const accept = (payload: string | Uint8Array, receivedAtUs?: number): MessageOutcome =>
    intake.accept(
      {
        stream,
        payload: Buffer.from(payload),
        source: 'mqtt client pump',
        ...(receivedAtUs !== undefined && { receivedAtUs }),
      },
      (error) => settled.push(error),
    )
  /** All entries, once they are durable. */
  const entries = async () => {
    await commits.drain()
    return journal.entries
  }
  return { commits, intake, accept, entries, settled }
}

function payloadsOf(entries: readonly Entry[]): (Uint8Array | undefined)[] {
  return entries.map((entry) => ('payload' in entry ? entry.payload : undefined))
}

function textsOf(entries: readonly Entry[]): (string | undefined)[] {
  return payloadsOf(entries).map((payload) => payload && Buffer.from(payload).toString())
}

describe('Intake', () => {
  test('writes an accepted reading with its stream, version and time of receipt', async () => {
    const { accept, entries } = started()
    const outcome = accept('{"level":1,"timestamp":"1970-01-01T00:00:01Z","colour":"red"}')

    expect(outcome).toMatchObject({ receivedAtUs: nowUs, verdicts: [{ accepted: true }] })
    expect(await entries()).toMatchObject([
      {
        accepted: true,
        streamVersion: 3,
        receivedAtUs: nowUs,
        timestampUs: 1_000_000,
        values: '{"level":1}',
        extra: '{"colour":"red"}',
      },
    ])
  })

  test('tells who handed a message in, once, when it is durable', async () => {
    const { accept, entries, settled } = started()
    accept('[{"level":1},{"level":"high"}]')
    expect(settled).toEqual([])

    await entries()
    expect(settled).toEqual([undefined])
  })

  test('quarantines what cannot be decoded as a whole, byte for byte', async () => {
    const { accept, entries } = started()
    const payload = Buffer.from([0xff, 0x00, 0x7b, 0x80])
    const outcome = accept(payload)

    expect(outcome.verdicts).toMatchObject([{ accepted: false, reason: 'malformed' }])
    const kept = await entries()
    expect(kept).toMatchObject([
      { accepted: false, receivedAtUs: nowUs, notes: { source: 'mqtt client pump' } },
    ])
    expect(payloadsOf(kept)).toEqual([payload])
  })

  test.each(['', '[]', '{"level":9007199254740993}', 'not json', '17'])(
    'keeps exactly one entry of the undecodable message %j',
    async (text) => {
      const { accept, entries } = started()
      accept(text)

      expect(textsOf(await entries())).toEqual([text])
    },
  )

  test('keeps a refused single reading with the white space around it', async () => {
    const { accept, entries } = started()
    const text = ' { "level" : "high" }\n'
    accept(text)

    expect(textsOf(await entries())).toEqual([text])
  })

  test('keeps the original text of a refused element of a batch', async () => {
    const { accept, entries } = started()
    accept('[ {"level":1}, { "level" : "\\u0068öch" ,"x":1.0} ,\n[1,"]"], null]')

    expect(textsOf(await entries())).toEqual([
      undefined,
      '{ "level" : "\\u0068öch" ,"x":1.0}',
      '[1,"]"]',
      'null',
    ])
  })

  test('judges every reading of a batch as if it had come alone', async () => {
    const readings = fc.oneof(
      fc.integer().map((level) => `{"level":${level}}`),
      fc.constantFrom('{"level":"high"}', '{}', '7', '[]', '{"level":1,"timestamp":"noon"}'),
    )
    const scenario = fc.asyncProperty(fc.array(readings, { minLength: 1 }), async (texts) => {
      const { accept, entries } = started()
      const { verdicts } = accept(`[${texts.join(',')}]`)
      const alone = texts.map((text, index) =>
        stream.judge(JSON.parse(text), {
          receivedAtUs: nowUs + index,
          futureToleranceUs: 300_000_000,
        }),
      )

      expect(verdicts).toEqual(alone)
      expect(textsOf(await entries())).toEqual(
        texts.map((text, index) => (alone[index]?.accepted ? undefined : text)),
      )
    })
    await fc.assert(scenario)
  })

  test('gives the readings of a batch times of receipt one microsecond apart', async () => {
    const { accept, entries } = started()
    accept('[{"level":1},{"level":1},"refused",{"level":1}]')
    const kept = await entries()

    expect(kept.map(({ receivedAtUs }) => receivedAtUs - nowUs)).toEqual([0, 1, 2, 3])
    expect(kept.map(({ timestampUs }) => timestampUs && timestampUs - nowUs)).toEqual([
      0,
      1,
      undefined,
      3,
    ])
  })

  test('gives no microsecond of a batch to the message after it', () => {
    const { accept } = started()
    accept('[{"level":1},{"level":1},{"level":1}]')

    expect(accept('{"level":1}').receivedAtUs).toBe(nowUs + 3)
    expect(accept('not json').receivedAtUs).toBe(nowUs + 4)
  })

  test('gives a message that was seen before its first time of receipt again', async () => {
    const { accept, entries } = started()
    const text = '[{"level":1},{"level":2}]'
    accept(text)
    accept(text, nowUs)
    const [first, second, ...again] = await entries()

    expect(again).toEqual([first, second])
  })

  test('refuses a reading more than five minutes ahead, and keeps it', async () => {
    const { intake, entries } = started()
    const text = '{"level":1,"timestamp":"2023-11-14T22:18:20.000001Z"}'
    const decoded = decodeJson(Buffer.from(text))
    if (!decoded.ok) throw new Error(decoded.problem)
    intake.acceptDecoded({ stream, payload: Buffer.from(text), source: 'http' }, decoded, () => {})

    expect(await entries()).toMatchObject([
      { accepted: false, notes: { reason: 'timestamp_in_future', source: 'http' } },
    ])
  })

  test('settles a message of which nothing is kept after those before it', async () => {
    const { intake, accept, entries, settled } = started()
    const order: string[] = []
    accept('{"level":1}')
    intake.settleInOrder(() => order.push(`after ${settled.length}`))
    const failure = new DomainError('overloaded', 'too much waits', { retryAfter: 1 })
    intake.settleInOrder((error) => order.push(`failed: ${error?.message}`), failure)

    expect(await entries()).toHaveLength(1)
    expect(order).toEqual(['after 1', 'failed: too much waits'])
  })

  test('writes one entry for each verdict, whatever arrives', async () => {
    const payloads = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
      fc.array(fc.jsonValue()).map((value) => Buffer.from(JSON.stringify(value))),
    )
    const scenario = fc.asyncProperty(fc.array(payloads, { maxLength: 5 }), async (messages) => {
      const { commits, accept, entries, settled } = started()
      const verdicts = messages.flatMap((payload) => [...accept(payload).verdicts])
      const kept = await entries()

      expect(kept.map(({ accepted }) => accepted)).toEqual(verdicts.map(({ accepted }) => accepted))
      expect(commits.kept.accepted + commits.kept.quarantined).toBe(kept.length)
      expect(commits.kept.accepted).toBe(kept.filter(({ accepted }) => accepted).length)
      expect(settled).toEqual(messages.map(() => undefined))
    })
    await fc.assert(scenario)
  })
})

test('the readings of one message share what their transform may do', () => {
  const seen: (Allowance | undefined)[] = []
  const judging: CompiledStream = {
    ...stream,
    transform: [],
    judge: (reading, receipt) => {
      seen.push(receipt.allowance)
      return stream.judge(reading, receipt)
    },
  }
  const message = decodeJson(Buffer.from('[{"level":1},{"level":2}]'))
  if (!message.ok) throw new Error(message.problem)
  judgeMessage(judging, message, nowUs)
  judgeMessage(judging, message, nowUs)
  const { transform: _none, ...plain } = judging
  judgeMessage(plain, message, nowUs)

  const [first, second, third, fourth, ...others] = seen
  expect(first).toEqual({ left: expect.any(Number) as number })
  expect(second).toBe(first)
  expect(third).not.toBe(first)
  expect(fourth).toBe(third)
  expect(others).toEqual([undefined, undefined])
})
