import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { claimOf, timeReaderOf } from '../../../processors/timestamp.ts'
import { parseRfc3339 } from '../../../src/core/time.ts'
import { timeFormatOf } from '../../../src/streams/inference/times.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number

describe('the format of times', () => {
  test.each([
    [['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.5+01:00'], 'rfc3339'],
    [['2026-01-31T10:00', '2026-01-31T10:01'], 'local'],
    [['2026-01-31 10:00:00'], 'local'],
    [[1_769_853_590, 1_769_853_590.5], 'epoch_s'],
    [[1_769_853_590_000], 'epoch_ms'],
    [['1769853590'], 'epoch_s'],
    [['1769853590123456789'], 'epoch_ns'],
    [['31.01.2026 10:00:00'], 'dd.MM.yyyy HH:mm:ss'],
    [['31.1.2026 9:00', '1.2.2026 10:00'], 'd.M.yyyy H:mm[:ss]'],
    [['2026/01/31 10:00:00'], 'yyyy/MM/dd HH:mm:ss'],
    [['01/31/2026 10:00:00'], 'MM/dd/yyyy HH:mm:ss'],
    [['31/01/2026 10:00:00', '01/02/2026 10:00:00'], 'dd/MM/yyyy HH:mm:ss'],
    [['1/31/2026 9:00:00 PM'], 'M/d/yyyy h:mm:ss a'],
    [['20260131100000'], 'yyyyMMddHHmmss'],
    [['2026-01-31T10:00:00.000+0000'], "yyyy-MM-dd'T'HH:mm:ss.SSSXX"],
  ])('%j is %s, and is read by it', (values, format) => {
    const found = timeFormatOf(values, nowUs)
    const read = timeReaderOf({ timestampFormat: format, time: { isRequired: true, zone: 'UTC' } })

    expect(found).toMatchObject({ format })
    for (const value of values) expect(read({ value })).toBeTypeOf('number')
  })

  test('is not guessed where no sample tells the day from the month', () => {
    const found = timeFormatOf(['01/02/2026 10:00:00', '03/04/2026 10:00:00'], nowUs)

    expect(found).toEqual({
      problem: 'no sample shows whether the day or the month comes first',
    })
  })

  test.each([
    [[]],
    [['12:30']],
    [['yesterday']],
    [[21.5]],
    [['2026-01-31T10:00:00Z', 1_769_853_590]],
    [['2031-01-01T00:00:00Z']],
    [['13/13/2026 10:00:00', '01/13/2026 10:00:00', '13/01/2026 10:00:00']],
  ])('is none in %j', (values) => {
    expect(timeFormatOf(values, nowUs)).toBeUndefined()
  })

  test('is one that reads the same times, whatever they are', () => {
    const formats = fc.constantFrom('rfc3339', 'epoch_s', 'epoch_ms', 'epoch_us', 'local')
    const seconds = fc.integer({ min: 1_000_000_000, max: 1_770_000_000 })
    fc.assert(
      fc.property(formats, fc.array(seconds, { minLength: 1 }), (format, times) => {
        const values = times.map((second) => claimOf(second * 1_000_000, format))

        const found = timeFormatOf(values, nowUs)

        if (found === undefined || 'problem' in found) throw new Error('no format')
        const read = timeReaderOf({ timestampFormat: found.format, time: { isRequired: true } })
        expect(values.map((value) => read({ value }))).toEqual(times.map((one) => one * 1_000_000))
      }),
    )
  })
})
