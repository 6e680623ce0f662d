import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatUs } from '../../src/core/time.ts'
import { anyNumber } from '../support/any-numbers.ts'
import { download, exported } from '../support/exports.ts'
import { imported, importTypes } from '../support/imports.ts'
import { naughtyTexts } from '../support/naughty-texts.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const schema = {
  temperature: { type: 'number', range: [-100, 100] },
  steps: { type: 'integer' },
  isOpen: { type: 'boolean' },
  mode: { type: 'string' },
  since: { type: 'datetime' },
  place: { type: 'object' },
  list: { type: 'array' },
}

const instant = fc.integer({ min: 0, max: 1_700_000_000_000_000 }).map((us) => {
  const ms = new Date(Math.floor(us / 1000)).toISOString().slice(0, -1)
  return `${ms}${String(us % 1000).padStart(3, '0')}Z`
})

/** An instant of any year that can be written, to the microsecond. */
const anyInstant = fc
  .oneof(
    fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n }),
    fc.constantFrom(-1n, -62_135_596_799_999_999n, 253_402_300_799_999_999n),
  )
  .map(formatUs)

const text = fc.oneof(
  fc.string({
    unit: fc.constantFrom('a', '"', ',', '\r', '\n', ' ', '=', "'", 'ä', '😀', '1', '{', '\uFEFF'),
  }),
  fc.constantFrom(...naughtyTexts),
)

const reading = fc.record(
  {
    timestamp: instant,
    temperature: anyNumber,
    steps: fc.maxSafeInteger().map((value) => value + 0 || 0),
    isOpen: fc.boolean(),
    mode: text,
    since: anyInstant,
    place: fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(anyNumber, text, fc.boolean()), {
      noNullPrototype: true,
    }),
    list: fc.array(fc.oneof(anyNumber, text), { maxLength: 3 }),
    unknown: fc.oneof(text, fc.boolean(), anyNumber),
  },
  { requiredKeys: ['timestamp'] },
)

test('what is exported and imported into a new stream is what it was, whatever the format', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(reading, { minLength: 1, maxLength: 30, selector: (one) => one.timestamp }),
      async (readings) => {
        const { api } = service
        const from = await api.createStream(schema)
        const sent = await api.withToken('POST', `/streams/${from}/data`, readings)
        expect(sent).toMatchObject({ status: 202, body: { accepted: readings.length } })
        const counters = await api.settled(from, readings.length)
        const before = await api.readAll(from)
        for (const format of ['parquet', 'csv', 'ndjson'] as const) {
          const job = await exported(api, { streamIds: [from], format })
          const answer = await download(service, job, job.files[0])
          expect(answer.headers.get('content-type')).toContain(importTypes[format])
          const content = new Uint8Array(await answer.arrayBuffer())
          const into = await api.createStream(schema)
          const fresh = await imported(service, into, { format, content })
          const again = await imported(service, from, { format, content })

          expect(fresh).toMatchObject({ state: 'completed', refused: 0 })
          expect(await api.readAll(into)).toEqual(before)
          // The very same readings, too: none is stored again where it came from.
          expect(again).toMatchObject({ accepted: before.length, duplicates: before.length })
          expect(await api.settled(from)).toMatchObject({ stored: counters.stored })
        }
      },
    ),
    { numRuns: 3, endOnFailure: true },
  )
})
