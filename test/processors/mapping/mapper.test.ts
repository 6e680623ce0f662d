import { describe, expect, test } from 'vitest'
import { decoders } from '../../../processors/decode.ts'
import { judgeOf } from '../../../processors/index.ts'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import type { MessageContext } from '../../../src/contracts/mapping.ts'
import type { StreamSchema } from '../../../src/contracts/stream-schema.ts'

const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1_000

/** What becomes of a message: the values of each reading with its time, or why it is refused. */
function resultsOf(
  schema: StreamSchema,
  message: unknown,
  context: MessageContext = {},
): readonly unknown[] {
  const payload = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const decoded = decoders.json(payload)
  if (!decoded.ok) throw new Error(decoded.problem)
  const found = mapperOf(schema)?.(decoded, context) ?? decoded
  const judge = judgeOf(schema)
  return found.readings.map((reading, index) => {
    const refusal = found.refused?.get(index)
    const verdict = refusal ?? judge(reading, { receivedAtUs, futureToleranceUs: 0 })
    if (!verdict.accepted) return verdict.message
    if (verdict.isFiltered) return 'filtered'
    const { values, extra, timestampUs } = verdict
    return {
      ...(JSON.parse(values) as object),
      ...(extra !== '' && { extra: JSON.parse(extra) as unknown }),
      ...(timestampUs !== receivedAtUs && { at: new Date(timestampUs / 1_000).toISOString() }),
    }
  })
}

function schemaWith(rest: Partial<StreamSchema>): StreamSchema {
  return {
    fields: {},
    validation: 'lenient',
    timestampField: 'time',
    timestampFormat: 'rfc3339',
    time: { isRequired: false },
    ...rest,
  }
}

const number = { type: 'number' } as const
const text = { type: 'string' } as const

describe('fields', () => {
  test('stand where their paths lead', () => {
    const schema = schemaWith({
      fields: {
        power: { ...number, from: 'ENERGY.Power' },
        inlet: { ...number, from: 'DS18B20-1.Temperature' },
        apower: { ...number, from: 'switch:0.apower' },
        last: { ...number, from: 'list[-1]' },
        device: { ...text, from: '$topic[1]' },
        id: { ...text, from: "$header['X-Id']" },
        plain: number,
      },
      timestampField: 'at.time',
    })
    const message = {
      at: { time: '2026-01-31T09:00:00Z' },
      ENERGY: { Power: 3, Total: 4 },
      'DS18B20-1': { Temperature: 21.5 },
      'switch:0': { apower: 7 },
      list: [1, 2],
      plain: 1,
      Uptime: 5,
    }
    const context = { topic: 'tele/plug/SENSOR', headers: { 'x-id': 'a7' } }
    expect(resultsOf(schema, message, context)).toEqual([
      {
        power: 3,
        inlet: 21.5,
        apower: 7,
        last: 2,
        device: 'plug',
        id: 'a7',
        plain: 1,
        extra: { ENERGY: { Total: 4 }, list: [1, 2], Uptime: 5 },
        at: '2026-01-31T09:00:00.000Z',
      },
    ])
  })
})

describe('what nobody reads', () => {
  const fields = {
    a: { ...number, from: 'g.a' },
    b: { ...number, from: 'g.list[0].b' },
    g: { ...number, from: 'h' },
  }
  const message = { g: { a: 1, c: null, list: [{ b: 2 }] }, h: 3, k: { l: {} } }

  test('stays where it stood, unless a field has the name of its member', () => {
    expect(resultsOf(schemaWith({ fields }), message)).toEqual([
      { a: 1, b: 2, g: 3, extra: { k: { l: {} } } },
    ])
    const { g: _, ...others } = fields
    expect(resultsOf(schemaWith({ fields: others }), message)).toEqual([
      { a: 1, b: 2, extra: { g: { c: null }, h: 3, k: { l: {} } } },
    ])
    const list = [{ b: 2, x: 1 }, { b: 3 }]
    expect(resultsOf(schemaWith({ fields: others }), { g: { a: 1, list } })).toEqual([
      { a: 1, b: 2, extra: { g: { list } } },
    ])
  })

  test('is nothing where a whole item is read', () => {
    const whole = schemaWith({ fields: { all: { type: 'object', from: '$' } } })
    expect(resultsOf(whole, { a: 1 })).toEqual([{ all: { a: 1 } }])
  })

  test('is left out where a stream says so, and refused by a strict one only as a whole member', () => {
    const strict = { fields, validation: 'strict' } as const
    expect(resultsOf(schemaWith(strict), message)).toEqual(['k is not a field of this stream'])
    const { k: _, ...known } = message
    expect(resultsOf(schemaWith(strict), known)).toEqual([{ a: 1, b: 2, g: 3 }])
    expect(resultsOf(schemaWith({ ...strict, extra: 'drop' }), message)).toEqual([
      { a: 1, b: 2, g: 3 },
    ])
    const flat = { fields: { h: number }, extra: 'drop' } as const
    expect(resultsOf(schemaWith(flat), message)).toEqual([{ h: 3 }])
  })
})

describe('items', () => {
  const value = schemaWith({ fields: { v: number, device: { ...text, from: '$parent.id' } } })

  test('of a list', () => {
    const schema = { ...value, items: [{ path: 'data.list', as: 'list' as const }] }
    const message = {
      id: 'a',
      data: { list: [{ v: 1 }, { v: 2, time: '2026-01-31T09:00:00Z' }, 3] },
    }
    expect(resultsOf(schema, message)).toEqual([
      { v: 1, device: 'a' },
      { v: 2, device: 'a', at: '2026-01-31T09:00:00.000Z' },
      { device: 'a', extra: { value: 3 } },
    ])
  })

  test('of a map', () => {
    const schema = schemaWith({
      fields: { v: number, sensor: text },
      items: [{ path: '$', as: 'map', key: 'sensor', value: 'v' }],
    })
    expect(resultsOf(schema, { a: { v: 1 }, b: 2 })).toEqual([
      { v: 1, sensor: 'a' },
      { v: 2, sensor: 'b' },
    ])
  })

  test('of columns', () => {
    const schema = schemaWith({
      fields: { t: number, h: number, place: { ...text, from: '$parent.place' } },
      items: [{ path: 'hourly', as: 'columns' }],
    })
    const hourly = {
      time: ['2026-01-31T08:00:00Z', '2026-01-31T09:00:00Z'],
      t: [1, 2],
      h: [3, 4],
      unit: 'C',
    }
    expect(resultsOf(schema, { place: 'x', hourly })).toEqual([
      { t: 1, h: 3, place: 'x', at: '2026-01-31T08:00:00.000Z' },
      { t: 2, h: 4, place: 'x', at: '2026-01-31T09:00:00.000Z' },
    ])
    expect(resultsOf(schema, { hourly: { t: [1], h: [1, 2] } })).toEqual([
      'source.items.0.path has lists of two lengths: t has 1 values and h has 2 values',
    ])
  })

  test('of rows, with names that are said or sent', () => {
    const fields = { t: number, h: number }
    const said = schemaWith({
      fields,
      items: [{ path: 'obs', as: 'rows', columns: ['time', 't', null, 'h'] }],
    })
    const row = ['2026-01-31T09:00:00Z', 1, 'x', 2]
    expect(resultsOf(said, { obs: [row] })).toEqual([
      { t: 1, h: 2, at: '2026-01-31T09:00:00.000Z' },
    ])
    const sent = schemaWith({ fields, items: [{ path: 'rows', as: 'rows', columns: 'names' }] })
    expect(resultsOf(sent, { names: ['t', { name: 'h' }], rows: [[1, 2], [3]] })).toEqual([
      { t: 1, h: 2 },
      { t: 3 },
    ])
    const whole = schemaWith({ fields, items: [{ path: '$', as: 'rows', columns: ['t', 'h'] }] })
    expect(
      resultsOf(whole, [
        [1, 2],
        [3, 4],
      ]),
    ).toEqual([
      { t: 1, h: 2 },
      { t: 3, h: 4 },
    ])
  })

  test('of an event, whose type stands in each of them, in the message, or beside it', () => {
    const types = { a: { v: number }, b: { v: { ...number, required: true } } }
    const schema = schemaWith({
      fields: { type: text, v: number },
      events: { field: 'type', types },
      items: [{ path: 'list', as: 'list' }],
    })
    expect(resultsOf(schema, { type: 'a', list: [{ v: 1 }, { type: 'b' }] })).toEqual([
      { type: 'a', v: 1 },
      'v is required',
    ])
    expect(resultsOf(schema, { list: [{ v: 1 }] }, { eventType: 'b' })).toEqual([
      { type: 'b', v: 1 },
    ])
    expect(resultsOf(schema, { list: [{ v: 1 }] })).toEqual(['type is required: there are a, b'])
  })

  test('of samples whose interval is a text', () => {
    const schema = schemaWith({
      fields: { value: number },
      items: [{ path: 'v', as: 'samples', start: 't', interval: 'dt' }],
    })
    const message = { t: '2026-01-31T09:00:00Z', dt: '0.5', v: [1, 2] }
    expect(resultsOf(schema, message)).toEqual([
      { value: 1, at: '2026-01-31T09:00:00.000Z' },
      { value: 2, at: '2026-01-31T09:00:00.500Z' },
    ])
    const refusal = ['source.items.0.interval leads to no number, or to one that is too large']
    expect(resultsOf(schema, { ...message, dt: 'often' })).toEqual(refusal)
  })

  test('of samples', () => {
    const schema = schemaWith({
      fields: { x: number },
      items: [{ path: 'v', as: 'samples', start: 't0', interval: 'dt', unit: 'ms', value: 'x' }],
    })
    expect(resultsOf(schema, { t0: '2026-01-31T09:00:00Z', dt: 250, v: [1, 2] })).toEqual([
      { x: 1, at: '2026-01-31T09:00:00.000Z' },
      { x: 2, at: '2026-01-31T09:00:00.250Z' },
    ])
  })

  test('of a pivot', () => {
    const schema = schemaWith({
      fields: { t: number, h: number },
      items: [{ path: 'values', as: 'pivot', name: 'id', value: 'v', time: 'ts' }],
      timestampFormat: 'epoch_ms',
    })
    const ts = Date.UTC(2026, 0, 31, 9)
    const values = [
      { id: 't', v: 1, ts },
      { id: 'h', v: 2, ts },
      { id: 't', v: 3, ts: ts + 1_000 },
      { id: 't', v: 4, ts },
    ]
    expect(resultsOf(schema, { values })).toEqual([
      { t: 1, h: 2, at: '2026-01-31T09:00:00.000Z' },
      { t: 3, at: '2026-01-31T09:00:01.000Z' },
      { t: 4, at: '2026-01-31T09:00:00.000Z' },
    ])
  })

  test('within items', () => {
    const schema = schemaWith({
      fields: {
        v: { ...number, from: ['asDouble', 'asInt'] },
        metric: { ...text, from: '$parent.name' },
        host: { ...text, from: '$parent.$parent.host' },
        sender: { ...text, from: '$message.sender' },
      },
      items: [
        { path: 'resources', as: 'list' },
        { path: 'metrics', as: 'list' },
        { path: 'gauge.points', as: 'list' },
      ],
    })
    const metrics = [
      { name: 'a', gauge: { points: [{ asDouble: 1.5 }, { asInt: 2 }] } },
      { name: 'b', sum: {} },
    ]
    expect(resultsOf(schema, { sender: 's', resources: [{ host: 'h', metrics }] })).toEqual([
      { v: 1.5, metric: 'a', host: 'h', sender: 's' },
      { v: 2, metric: 'a', host: 'h', sender: 's' },
    ])
  })

  test('that are not there refuse the message, with the path that leads nowhere', () => {
    const schema = { ...value, items: [{ path: 'data.list', as: 'list' as const }] }
    expect(resultsOf(schema, { id: 'a' })).toEqual([
      'source.items.0.path leads nowhere: there is nothing at data.list',
    ])
    expect(resultsOf(schema, { data: { list: [] } })).toEqual([])
    expect(resultsOf(schema, { data: { list: 7 } })).toEqual([
      'source.items.0.path is not a list: data.list',
    ])
  })
})
