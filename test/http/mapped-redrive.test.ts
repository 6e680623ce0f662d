import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

interface Definition {
  readonly source: object
  readonly schema: object
}

interface Entry {
  readonly reason: string
  readonly payload: string
}

const schema = {
  v: { type: 'number', required: true },
  w: { type: 'number' },
  device: { type: 'string', from: '$parent.device' },
}

/** The time of the reading of a number. */
function at(second: number): string {
  return `2026-01-31T09:00:${String(second).padStart(2, '0')}.000000Z`
}

function epoch(second: number): number {
  return Date.UTC(2026, 0, 31, 9, 0, second) / 1_000
}

/** Forms of messages of a device, each with five readings: the definition that fits, and the message. */
const forms: Readonly<Record<string, { readonly right: Definition; readonly message: object }>> = {
  list: {
    right: {
      source: { items: 'data.list', timestampField: 't', timestampFormat: 'epoch_s' },
      schema,
    },
    message: {
      device: 'a',
      data: { list: [0, 1, 2, 3, 4].map((s) => ({ v: s, w: s / 2, t: epoch(s) })) },
    },
  },
  map: {
    right: {
      source: {
        items: { path: 'data', as: 'map' },
        timestampField: 't',
        timestampFormat: 'epoch_s',
      },
      schema,
    },
    message: {
      device: 'a',
      data: Object.fromEntries(
        [0, 1, 2, 3, 4].map((s) => [`k${s}`, { v: s, w: s / 2, t: epoch(s) }]),
      ),
    },
  },
  columns: {
    right: {
      source: {
        items: { path: 'data', as: 'columns' },
        timestampField: 't',
        timestampFormat: 'epoch_s',
      },
      schema,
    },
    message: {
      device: 'a',
      data: {
        v: [0, 1, 2, 3, 4],
        w: [0, 0.5, 1, 1.5, 2],
        t: [0, 1, 2, 3, 4].map(epoch),
        unit: 'C',
      },
    },
  },
  rows: {
    right: {
      source: {
        items: { path: 'data', as: 'rows', columns: 'names' },
        timestampField: 't',
        timestampFormat: 'epoch_s',
      },
      schema,
    },
    message: {
      device: 'a',
      names: ['t', 'v', 'w'],
      data: [0, 1, 2, 3, 4].map((s) => [epoch(s), s, s / 2]),
    },
  },
  samples: {
    right: {
      source: {
        items: { path: 'data', as: 'samples', start: 't', interval: 1, columns: ['v', 'w'] },
        timestampFormat: 'epoch_s',
      },
      schema,
    },
    message: { device: 'a', t: epoch(0), data: [0, 1, 2, 3, 4].map((s) => [s, s / 2]) },
  },
  pivot: {
    right: {
      source: {
        items: { path: 'data', as: 'pivot', name: 'n', value: 'x', time: 't' },
        timestampFormat: 'epoch_s',
      },
      schema,
    },
    message: {
      device: 'a',
      data: [0, 1, 2, 3, 4].flatMap((s) => [
        { n: 'v', x: s, t: epoch(s) },
        { n: 'w', x: s / 2, t: epoch(s) },
      ]),
    },
  },
}

const stored = [0, 1, 2, 3, 4].map((s) => ({ timestamp: at(s), v: s, w: s / 2, device: 'a' }))

/** Definitions that refuse every reading of such messages. */
const mistakes: Readonly<Record<string, (right: Definition) => Definition>> = {
  'a path that leads nowhere': ({ source, schema: fields }) => {
    const { items } = source as { readonly items: string | object }
    const wrong = typeof items === 'string' ? 'dato.list' : { ...items, path: 'dato' }
    return { source: { ...source, items: wrong }, schema: fields }
  },
  'a field of another type': ({ source, schema: fields }) => ({
    source,
    schema: { ...fields, v: { type: 'boolean', required: true } },
  }),
  'another place of the time': ({ source, schema: fields }) => {
    const { items } = source as { readonly items: string | object }
    const { time: _, ...rest } = (typeof items === 'string' ? { path: items } : items) as Record<
      string,
      unknown
    >
    const isTimed = rest['as'] === 'samples'
    // Samples have no other place of their times: the format is another one.
    return isTimed
      ? { source: { ...source, timestampFormat: 'rfc3339' }, schema: fields }
      : { source: { ...source, items: rest, timestampField: '$parent.time' }, schema: fields }
  },
}

const cases = Object.keys(forms).flatMap((form) =>
  Object.keys(mistakes).map((mistake) => [form, mistake] as const),
)

async function held(streamId: string): Promise<readonly Entry[]> {
  const path = `/streams/${streamId}/quarantine`
  return (await service.api.withToken<{ entries: Entry[] }>('GET', path)).body.entries
}

describe('a redrive by a mended mapping', () => {
  test.each(cases)('brings in each reading of a %s with its time: %s', async (form, mistake) => {
    const { right, message } = forms[form] as (typeof forms)[string]
    const wrong = (mistakes[mistake] as (typeof mistakes)[string])(right)
    const streamId = await service.api.createStream(wrong.schema, { source: wrong.source })
    const path = `/streams/${streamId}/data`
    expect((await service.api.withToken('POST', path, message)).status).toBe(422)
    await expect.poll(() => held(streamId)).not.toEqual([])
    const source = { timestampField: null, ...right.source }
    const { status, body } = await service.api.withToken('PUT', `/streams/${streamId}`, {
      source,
      schema: right.schema,
    })
    expect(status, JSON.stringify(body)).toBe(200)

    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

    expect(await held(streamId)).toEqual([])
    await expect
      .poll(() => service.api.readAll(streamId), { timeout: 10_000 })
      .toEqual(
        stored.map((one) => ({
          ...one,
          ...(form === 'map' && { extra: expect.anything() as unknown }),
        })),
      )
    await service.api.settled(streamId, 5)
  })

  test('finds the time in what stands around a reading, which the first one did not read', async () => {
    const source = { items: 'list', timestampField: 't' }
    const fields = { v: { type: 'number' } }
    const streamId = await service.api.createStream(fields, { source })
    const message = { header: { time: at(7), id: 'x' }, list: [{ v: 1 }, { v: 2, t: at(1) }] }
    await service.api.withToken('POST', `/streams/${streamId}/data`, message)
    await expect.poll(() => held(streamId)).toMatchObject([{ reason: 'timestamp_missing' }])
    const [entry] = await held(streamId)
    expect(JSON.parse(entry?.payload ?? '')).toEqual({ header: message.header, list: [{ v: 1 }] })
    await service.api.withToken('PUT', `/streams/${streamId}`, {
      source: { timestampField: '$parent.header.time' },
    })

    await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

    await expect
      .poll(() => service.api.readAll(streamId), { timeout: 10_000 })
      .toMatchObject([
        { timestamp: at(1), v: 2 },
        { timestamp: at(7), v: 1 },
      ])
  })
})

test('a message whose list is empty is taken, and nothing of it is refused', async () => {
  const fields = { v: { type: 'number' } }
  const streamId = await service.api.createStream(fields, { source: { items: 'list' } })
  const message = { list: [] }

  const alone = await service.api.withToken('POST', `/streams/${streamId}/data`, message)
  const several = await service.api.withToken('POST', '/data', [{ streamId, ...message }])

  expect(alone).toMatchObject({ status: 202, body: { accepted: 0, rejected: [] } })
  expect(several).toMatchObject({ status: 202, body: { accepted: 0, rejected: [] } })
})
