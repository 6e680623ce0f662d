import { beforeAll, describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const schema = { a: { type: 'number', required: true }, b: { type: 'number' } }
const transform = [
  { scale: { field: 'a', factor: 2 } },
  { filter: { expression: 'a > 2.0' } },
  { derive: { field: 'sum', expression: 'a + b' } },
]

let streamId: string

beforeAll(async () => {
  streamId = await service.api.createStream(schema, { processing: { transform } })
})

function preview(body: object) {
  return service.api.withToken<object>('POST', `/streams/${streamId}/transform/preview`, body)
}

function previewOfKilometres(to: string) {
  const convert = { field: 'a', from: 'km', to }
  return preview({ readings: [{ a: 2 }], transform: [{ convert }] })
}

describe('a preview', () => {
  test('shows readings after each step, and why they end', async () => {
    const readings = [{ a: 3, b: 1 }, { a: 1, b: 1 }, { a: 3 }, { a: 'x' }, 7]
    const { status, body } = await preview({ readings })

    expect(status).toBe(200)
    expect(body).toMatchObject({
      streamId,
      results: [
        {
          status: 'stored',
          steps: [
            { a: 6, b: 1 },
            { a: 6, b: 1 },
            { a: 6, b: 1, sum: 7 },
          ],
        },
        { status: 'filtered', steps: [{ a: 2, b: 1 }] },
        {
          status: 'refused',
          steps: [{ a: 6 }, { a: 6 }],
          reason: 'transform_failed',
          details: [{ path: 'processing.transform.2.derive' }],
        },
        { status: 'refused', steps: [], reason: 'schema_mismatch' },
        { status: 'refused', steps: [], reason: 'malformed' },
      ],
    })
  })

  test('judges by a change of the definition that is not made yet', async () => {
    const definition = {
      schema: { a: { type: 'string' }, c: { type: 'boolean', required: true }, b: null },
      processing: { transform: [{ rename: { from: 'a', to: 'z' } }] },
    }
    const readings = [{ a: 'x', c: true }, { a: 3 }]
    const { status, body } = await preview({ readings, definition })

    expect(status).toBe(200)
    expect(body).toMatchObject({
      results: [
        { status: 'stored', steps: [{ z: 'x', c: true }] },
        { status: 'refused', details: [{ path: 'c' }, { path: 'a' }] },
      ],
    })
    const { body: after } = await service.api.withToken<object>('GET', `/streams/${streamId}`)
    expect(after).toMatchObject({ version: 1, schema })
  })

  test('says what is wrong with a change', async () => {
    const definition = { schema: { c: { type: 'numbr' } } }

    expect(await preview({ readings: [{}], definition })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'schema.c.type' }] },
    })
  })

  test('converts, or says which units do not fit', async () => {
    expect((await previewOfKilometres('m')).body).toMatchObject({
      results: [{ steps: [{ a: 2000 }] }],
    })
    expect(await previewOfKilometres('s')).toMatchObject({
      status: 400,
      body: {
        details: [{ path: 'transform.0.convert', message: 'km cannot be converted to s' }],
      },
    })
  })

  test('tries another transform, and changes and stores nothing', async () => {
    const before = (await service.api.withToken('GET', `/streams/${streamId}`)).body
    const { body } = await preview({
      readings: [{ a: 3 }],
      transform: [{ rename: { from: 'a', to: 'c' } }],
    })

    expect(body).toMatchObject({ results: [{ status: 'stored', steps: [{ c: 3 }] }] })
    expect((await service.api.withToken('GET', `/streams/${streamId}`)).body).toEqual(before)
    expect((await service.api.settled(streamId)).received).toBe(0)
  })

  test.each([
    ['no readings', { readings: [] }, 'readings'],
    ['too many readings', { readings: Array.from({ length: 101 }, () => ({})) }, 'readings'],
    [
      'a transform that cannot be run',
      { readings: [{}], transform: [{ drop: { field: 'x' } }] },
      'transform.0.drop.field',
    ],
  ])('of %s is refused', async (_, body, path) => {
    const answer = await preview(body)

    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ details: [{ path }] })
  })

  test('of an unknown stream is 404', async () => {
    const path = '/streams/00000000-0000-4000-8000-000000000000/transform/preview'
    const { status } = await service.api.withToken('POST', path, { readings: [{ a: 1 }] })

    expect(status).toBe(404)
  })
})
