import { describe, expect, test } from 'vitest'
import { otlpRecords } from '../../../processors/decode-otlp.ts'
import { jsonOf, requestOf } from '../../support/otlp-messages.ts'
import { attribute, gauge, timeUnixNano, timeUs } from '../../support/otlp-points.ts'

function read(value: unknown) {
  return otlpRecords(jsonOf(value), 'json')
}

describe('JSON', () => {
  test('may have integers as numbers, temporality by its name, and null for what is not set', () => {
    const point = { asInt: 7, asDouble: null, timeUnixNano: 1_769_853_590_000_000_000, flags: null }
    const sum = {
      aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA',
      dataPoints: [point],
    }
    expect(read(requestOf({ name: 'load', gauge: null, sum }))).toEqual({
      ok: true,
      records: [
        {
          members: { metric: 'load', value: 7, temporality: 'delta' },
          timeUs: 1_769_853_590_000_000,
        },
      ],
    })
  })

  test('may have all digits of a time as a number', () => {
    const bytes = Buffer.from(
      String(jsonOf(requestOf(gauge({ asInt: 1 })))).replace(`"${timeUnixNano}"`, timeUnixNano),
    )
    expect(otlpRecords(bytes, 'json')).toMatchObject({ records: [{ timeUs }] })
  })

  test.each([
    [[], 'the batch is empty'],
    [[{}], 'a request must be an object'],
    [{ resourceMetrics: {} }, 'resourceMetrics must be a list'],
    [{ resourceMetrics: [7] }, 'resourceMetrics must be a list of objects'],
    [{ resourceMetrics: [{ scopeMetrics: 'x' }] }, 'scopeMetrics must be a list'],
    [requestOf({ name: 'a', gauge: 7 }), 'gauge must be an object'],
    [
      requestOf({ name: 'a', gauge: { dataPoints: [null] } }),
      'dataPoints must be a list of objects',
    ],
    [requestOf({ name: 'a', gauge: {}, sum: {} }), 'a metric has two kinds of data'],
  ])('that is no request is refused: %j', (request, problem) => {
    expect(read(request)).toEqual({ ok: false, problem })
  })

  test.each([
    [{ asInt: 1.5 }, 'asInt must be an integer, or a text of its digits'],
    [{ asInt: '1e3' }, 'asInt must be an integer, or a text of its digits'],
    [{ asInt: '99999999999999999999' }, 'asInt has more than 64 bits'],
    [{ asDouble: 'x' }, 'asDouble must be a number'],
    [{ asInt: 1, asDouble: 1 }, 'there are two fields of value'],
    [{ asInt: 1, timeUnixNano: -5 }, 'timeUnixNano must not be negative'],
    [{ asInt: 1, attributes: {} }, 'attributes must be a list'],
    [{ asInt: 1, attributes: ['a'] }, 'KeyValue must be an object'],
    [{ asInt: 1, attributes: [{ key: 7 }] }, 'key must be a text'],
    [
      { asInt: 1, attributes: [attribute('a', { boolValue: 'x' })] },
      'boolValue must be true or false',
    ],
    [{ asInt: 1, attributes: [attribute('a', { bytesValue: '~' })] }, 'bytesValue must be base64'],
  ])('with a point of wrong types refuses it alone: %j', (point, problem) => {
    const metric = { name: 'load', gauge: { dataPoints: [point, { asInt: 2 }] } }
    expect(read(requestOf(metric))).toMatchObject({
      records: [{ problem }, { members: { value: 2 } }],
    })
  })

  test('with a temporality that nobody knows refuses the points of its metric', () => {
    const sum = { aggregationTemporality: 7, dataPoints: [{ asInt: 1 }] }
    expect(read(requestOf({ name: 'a', sum }))).toMatchObject({
      records: [{ problem: '7 is not a value of aggregationTemporality' }],
    })
  })
})
