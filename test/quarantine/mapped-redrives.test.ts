import { encode } from 'cborg'
import { expect, test } from 'vitest'
import type { ItemsLevel } from '../../src/contracts/mapping.ts'
import { everything } from '../../src/ingest/quarantine/quarantine-store.ts'
import { LocalPipeline, type LocalVersion } from '../support/local-pipeline.ts'

interface Form {
  readonly items: readonly ItemsLevel[]
  /** A message whose readings have numbers from there on, one for each second. */
  readonly message: (first: number) => object
}

const places = [0, 1, 2, 3, 4, 5]

function timeOf(number: number): string {
  return `${new Date(Date.UTC(2026, 0, 31, 9, 0, number)).toISOString().slice(0, -1)}000Z`
}

/** Every third value is a text. */
function valueOf(number: number): string | number {
  return number % 3 === 1 ? 'x' : number
}

function reading(number: number): object {
  return { v: valueOf(number), i: number, timestamp: timeOf(number) }
}

function readingsFrom(first: number): readonly object[] {
  return places.map((place) => reading(first + place))
}

const long = 'y'.repeat(20_000)

const keys = ['constructor', '1', 'a.b', '', 'x', '0']

const forms: Readonly<Record<string, Form>> = {
  list: {
    items: [{ path: 'd', as: 'list' }],
    message: (first) => ({ d: readingsFrom(first), long }),
  },
  nested: {
    items: [
      { path: 'a', as: 'list' },
      { path: 'd[1]', as: 'list' },
    ],
    message: (first) => {
      const all = readingsFrom(first)
      return { a: [{ d: [0, all.slice(0, 3)] }, { d: [1, all.slice(3), 2] }], long }
    },
  },
  map: {
    items: [{ path: '$', as: 'map' }],
    message: (first) => Object.fromEntries(keys.map((key, at) => [key, reading(first + at)])),
  },
  columns: {
    items: [{ path: '$', as: 'columns' }],
    message: (first) => {
      const numbers = places.map((place) => first + place)
      return { v: numbers.map(valueOf), i: numbers, timestamp: numbers.map(timeOf), unit: 'C' }
    },
  },
  samples: {
    items: [{ path: 'd', as: 'samples', start: 't', interval: 1, columns: ['v', 'i'] }],
    message: (first) => ({
      t: timeOf(first),
      d: places.map((place) => [valueOf(first + place), first + place]),
    }),
  },
  pivot: {
    items: [{ path: 'd', as: 'pivot', time: 't' }],
    message: (first) => ({
      d: places.flatMap((place) => {
        const t = timeOf(first + place)
        return [
          { name: 'v', value: valueOf(first + place), t },
          { name: 'i', value: first + place, t },
        ]
      }),
    }),
  },
}

const i = { type: 'integer', required: true } as const
const text = { type: 'string', required: true } as const
const number = { type: 'number', required: true } as const
const flat: LocalVersion = { fields: { other: number } }

const cases = Object.keys(forms).flatMap((form) => [
  [form, 'alone', 'json'] as const,
  [form, 'in a list', form === 'list' ? 'cbor' : 'json'] as const,
])

test.each(cases)(
  'brings in each reading of a %s once, with its time, after several definitions: %s, as %s',
  async (name, how, format) => {
    const { items, message } = forms[name] as Form
    const written = (body: unknown) =>
      format === 'cbor' ? encode(body) : Buffer.from(JSON.stringify(body))
    await using real = await LocalPipeline.open({ ...flat, format })
    const messages = [message(0), message(99)]
    for (const body of how === 'alone' ? messages : [messages]) await real.push(written(body))

    const versions: readonly LocalVersion[] = [
      { fields: { v: number, i }, items },
      { fields: { v: { type: 'boolean', required: true }, i }, items },
      flat,
      { fields: { v: text, i }, items },
    ]
    for (const version of versions) {
      real.change({ ...version, format })
      await real.parts.reviews.redrive(real.streamId, everything)
    }
    await real.ship()

    const stored = (await real.stored()).map(({ timestampUs, values }) => [
      new Date(timestampUs / 1_000).toISOString(),
      values,
    ])
    const wanted = [0, 99].flatMap((first) =>
      places.map((place) => [
        new Date(timeOf(first + place)).toISOString(),
        { v: valueOf(first + place), i: first + place },
      ]),
    )
    expect(stored).toEqual(wanted)
    const counts = { received: 12, stored: 12, duplicates: 0, quarantined: 0, pending: 0 }
    expect(await real.counters()).toMatchObject(counts)
  },
)

test('takes each element of a list for a message where no list can have the readings', async () => {
  const { items, message } = forms['columns'] as Form
  await using real = await LocalPipeline.open({ fields: { v: text, i }, items })
  await real.push(Buffer.from(JSON.stringify([message(0), message(99)])))
  await real.ship()

  expect(await real.counters()).toMatchObject({ received: 12, stored: 4, duplicates: 0 })
})

test('keeps only what its stream reads of long headers with 9,000 readings that it has refused', async () => {
  const fields = { v: number, topic: { type: 'string', from: '$topic' } } as const
  await using real = await LocalPipeline.open({ fields })
  const stream = { ...real.stream(), reads: new Set(['topic'] as const) }
  const payload = Buffer.from(JSON.stringify(Array.from({ length: 9_000 }, () => 1)))
  const headers = { 'x-long': 'x'.repeat(16_000) }
  const message = { stream, source: 'http', topic: 'a/b', headers }
  for (const sent of [Buffer.from('[1]'), payload]) {
    await new Promise<void>((resolve, reject) => {
      real.parts.intake.accept({ ...message, payload: sent }, (error) => {
        if (error === undefined) resolve()
        else reject(error)
      })
    })
  }
  await real.decide()

  const held = await real.held()
  const contexts = new Set(held.map(({ context }) => JSON.stringify(context)))
  expect([...contexts]).toEqual([JSON.stringify({ topic: 'a/b', headers }), '{"topic":"a/b"}'])
})
