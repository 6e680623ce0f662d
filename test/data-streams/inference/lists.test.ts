import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../../processors/index.ts'
import { parseRfc3339 } from '../../../src/core/time.ts'
import { proposeStream } from '../../../src/streams/data-streams/stream-proposal.ts'
import { Samples } from '../../../src/streams/data-streams/stream-samples.ts'

const nowUs = parseRfc3339('2026-03-01T12:00:00Z') as number
const start = 1_769_853_590

interface Proposed {
  readonly source: Readonly<Record<string, unknown>>
  readonly names: readonly string[]
  readonly notes: Readonly<Record<string, string>>
}

/** What is proposed of ten messages, none of which is refused. */
function proposed(message: (index: number) => unknown): Proposed {
  const samples = new Samples(Array.from({ length: 10 }, (_, index) => message(index)))
  const { proposal, notes, misfits } = proposeStream(samples, { judgeOf, nowUs })
  expect(misfits).toEqual([])
  return {
    source: proposal.source as Proposed['source'],
    names: Object.keys(proposal.schema),
    notes: Object.fromEntries(notes.map(({ path, message: why }) => [path, why])),
  }
}

describe('a list', () => {
  test.each([0, 4, 9])('that is empty in message %i is one all the same', (empty) => {
    const { source } = proposed((index) => ({
      gateway: 'g1',
      ts: start + index,
      readings: index === empty ? [] : [{ sensor: 'a', at: start + index, t: index }],
    }))

    expect(source).toMatchObject({ items: 'readings', timestampField: 'at' })
  })

  test.each([
    ['columns', (values: readonly number[]) => ({ time: values, level: values })],
    ['pivot', (values: readonly number[]) => values.map((value) => ({ name: `${value}`, value }))],
  ])('that is empty in one of its forms is of that form: %s', (as, form) => {
    const { source } = proposed((index) => {
      const values = index === 2 ? [] : [start + index, start + index + 1]
      return { id: 'g1', data: form(values) }
    })

    expect(source).toMatchObject({ items: { path: 'data', as } })
  })

  test('of two things that have names is one of readings', () => {
    const { source, names } = proposed((index) => ({
      ts: start + index,
      gw_sn: 'GW01',
      devices: [1, 2].map((id) => ({ name: `meter ${id}`, values: { Ua: 230 + index, Ia: id } })),
    }))

    expect(source).toMatchObject({ items: 'devices', timestampField: '$parent.ts' })
    expect(names).toEqual(['name', 'values_ua', 'values_ia', 'gw_sn'])
  })

  test('is a part of the reading where more stands beside it', () => {
    const { source } = proposed((index) => ({
      time: start + index,
      temperature: index,
      humidity: index,
      pressure: index,
      modules: [1, 2].map((id) => ({ id: `module ${id}`, last_seen: start, battery: id })),
    }))

    expect(source).toMatchObject({ timestampField: 'time' })
    expect(source['items']).toBeUndefined()
  })

  test('of codes and values is pivoted however short it is', () => {
    const { source } = proposed((index) => ({
      eui64: '001d129fffe00001',
      clock: start + index,
      profile: [
        { obis: '1-0:1.8.0', value: index, unit: 'kWh' },
        { obis: '1-0:2.8.0', value: 0, unit: 'kWh' },
      ],
    }))

    expect(source).toMatchObject({ items: { path: 'profile', as: 'pivot', name: 'obis' } })
  })

  test('beside the readings is named, because it is not stored', () => {
    const { source, notes } = proposed((index) => ({
      records: [
        { systemTime: start + index * 9, v: 1 },
        { systemTime: start + index * 9 + 1, v: 2 },
      ],
      storage: [{ state: 'idle' }],
      ports: [1, 2],
    }))

    expect(source).toMatchObject({ items: 'records', timestampField: 'systemTime' })
    const why = expect.stringContaining('another list') as unknown
    expect(notes).toMatchObject({ '$parent.storage': why, '$parent.ports': why })
  })
})

test('a secret of the reading itself is said to be kept', () => {
  const { names, notes } = proposed(() => ({ apikey: 'x', power: 1, wifi: { password: 'y' } }))

  expect(names).toEqual(['power'])
  expect(notes['apikey']).toContain('kept under extra')
  expect(notes['wifi.password']).toBe('left out: by its name it is a secret')
  expect(notes['wifi']).toContain('is not')
})

test('a member that fields lead into is said to be stored by them only', () => {
  const { notes } = proposed((index) => ({ state: 'on', ENERGY: { Power: index } }))

  expect(Object.keys(notes)).toEqual(['ENERGY'])
})

function at(index: number): string {
  return `31.01.2026 10:00:0${index % 10}`
}

describe('a time of a name that nobody knows', () => {
  test.each([
    ['Zeitstempel', { timestampField: 'Zeitstempel', timestampFormat: 'dd.MM.yyyy HH:mm:ss' }],
    ['EndTime', { timestampField: undefined }],
  ])('is one where it is a text, unless it is of something else: %s', (name, expected) => {
    const { source } = proposed((index) => ({ [name]: at(index), Temperatur: index }))

    const { timestampField, timestampFormat } = source
    expect({ timestampField, timestampFormat }).toEqual(expected)
  })

  test('is none where it stays the same', () => {
    const { source } = proposed((index) => ({ Geprüft: at(1), Temperatur: index }))

    expect(source['timestampField']).toBeUndefined()
  })
})

test('a version is a text, also while it looks like a number', () => {
  const samples = new Samples([{ ver: '0.14', power: 1 }])

  const { proposal } = proposeStream(samples, { judgeOf, nowUs })

  expect(proposal.schema['ver']).toEqual({ type: 'string' })
})

test.each([
  ['one topic', 1, true],
  ['several topics', 2, undefined],
])('an identifier that all have is required on %s', (_, topics, required) => {
  const readings = Array.from({ length: 10 }, (__, index) => ({ name: 'x', rssi: index }))
  const contexts = readings.map((__, index) => ({ topic: `home/BTtoMQTT/${index % topics}` }))

  const { proposal } = proposeStream(new Samples(readings, { contexts }), { judgeOf, nowUs })

  expect(proposal.schema['name']?.required).toBe(required)
})
