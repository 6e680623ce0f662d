import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  batchText,
  parseBatchText,
  parseSealText,
  type SealContent,
  sealText,
} from '../../src/ledgers/seals/seal-text.ts'

const root = fc.stringMatching(/^[0-9a-f]{64}$/)
const count = fc.integer({ min: 1, max: 2 ** 40 })

const seals = fc
  .record({
    stream: fc.uuid(),
    place: fc.nat(2 ** 16),
    widthUs: fc.integer({ min: 15, max: 24 * 60 }).map((minutes) => minutes * 60_000_000),
    revision: fc.integer({ min: 1, max: 5 }),
    count,
    root,
    before: root,
  })
  .map(({ place, widthUs, before, ...said }): SealContent => {
    const startUs = place * widthUs
    const previous = said.revision === 1 ? null : before
    return { ...said, startUs, endUs: startUs + widthUs, previous }
  })

describe('the text of a seal', () => {
  test('says what the seal says, in one way', () => {
    fc.assert(
      fc.property(seals, (seal) => {
        const text = sealText(seal)
        expect(parseSealText(text)).toEqual(seal)
        for (const other of [` ${text}`, text.replace('"count"', '"count" '), text.slice(1)]) {
          expect(parseSealText(other)).toBeUndefined()
        }
      }),
    )
  })

  test('is that of a stretch that can be', () => {
    fc.assert(
      fc.property(seals, (seal) => {
        const changes: readonly Partial<SealContent>[] = [
          { startUs: seal.startUs + 1 },
          { endUs: seal.startUs },
          { count: 0 },
          { revision: 0 },
          { revision: seal.revision === 1 ? 2 : 1 },
          { root: 'x' },
        ]
        for (const change of changes) {
          expect(parseSealText(sealText({ ...seal, ...change }))).toBeUndefined()
        }
      }),
    )
  })

  test.each(['', 'null', '[]', '{}', '{"format":"streamvault-seal-1"}', ' '.repeat(10_000)])(
    'is not %j',
    (text) => {
      expect(parseSealText(text)).toBeUndefined()
      expect(parseBatchText(text)).toBeUndefined()
    },
  )
})

test('the text of a batch says what the batch says, in one way', () => {
  fc.assert(
    fc.property(fc.record({ count, root }), (batch) => {
      const text = batchText(batch)
      expect(parseBatchText(text)).toEqual(batch)
      expect(parseBatchText(`${text} `)).toBeUndefined()
      expect(parseBatchText(text.replace('seals-1', 'seals-2'))).toBeUndefined()
      expect(parseBatchText(batchText({ ...batch, count: 0 }))).toBeUndefined()
    }),
  )
})
