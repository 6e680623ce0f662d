import { describe, expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const schema = {
  celsius: { type: 'number', unit: 'degC' },
  rpm: { type: 'integer', required: true },
}

function created(transform: readonly object[], fields: object = schema): Promise<string> {
  return service.api.createStream(fields, { processing: { transform } })
}

async function refusalOf(transform: unknown, fields: object = schema): Promise<unknown> {
  const { status, body } = await service.api.withToken<{ details: unknown }>('POST', '/streams', {
    name: 'boiler',
    // There is no such vault: the definition is checked before.
    vaultId: '00000000-0000-4000-8000-000000000000',
    type: 'iot_sensor',
    schema: fields,
    processing: { transform },
  })
  expect(status).toBe(400)
  return body.details
}

describe('a transform', () => {
  test('decides what is stored', async () => {
    const streamId = await created([
      { rename: { from: 'celsius', to: 'temperature' } },
      { convert: { field: 'temperature', to: 'K' } },
      { derive: { field: 'hot', type: 'boolean', expression: 'temperature > 350.0' } },
      { scale: { field: 'rpm', factor: 0.5 } },
    ])
    const timestamp = '2026-01-31T10:00:00.000000Z'
    await service.api.withToken('POST', `/streams/${streamId}/data`, [
      { timestamp, celsius: 100, rpm: 3 },
    ])
    await service.api.settled(streamId, 1)

    expect(await service.api.readAll(streamId)).toEqual([
      { timestamp, temperature: 373.15, hot: true, rpm: 1.5 },
    ])
    const { body } = await service.api.withToken<{ data: readonly unknown[] }>(
      'GET',
      `/streams/${streamId}/data?fields=temperature,hot`,
    )
    expect(body.data).toEqual([{ timestamp, temperature: 373.15, hot: true }])
  })

  test('converts as before after a change of something else', async () => {
    const streamId = await created([{ convert: { field: 'celsius', to: 'degF' } }])
    const { body: shown } = await service.api.withToken<{ processing: object }>(
      'GET',
      `/streams/${streamId}`,
    )
    const { status, body } = await service.api.withToken('PUT', `/streams/${streamId}`, {
      name: 'renamed',
      processing: shown.processing,
    })
    expect([status, body]).toMatchObject([200, { version: 2 }])
    const timestamp = '2026-01-31T10:00:00.000000Z'
    await service.api.withToken('POST', `/streams/${streamId}/data`, [
      { timestamp, celsius: 100, rpm: 3 },
    ])
    await service.api.settled(streamId, 1)

    expect(await service.api.readAll(streamId)).toEqual([{ timestamp, celsius: 212, rpm: 3 }])
  })

  test('is shown in the form in which it counts', async () => {
    const streamId = await created([{ convert: { field: 'celsius', to: 'K' } }])
    const { body } = await service.api.withToken('GET', `/streams/${streamId}`)

    expect(body).toMatchObject({
      schema,
      processing: { transform: [{ convert: { field: 'celsius', from: 'degC', to: 'K' } }] },
    })
  })

  test('counts what it filters, what it fails at, and what it stores', async () => {
    const streamId = await created([
      { filter: { expression: 'rpm > 0' } },
      { derive: { field: 'perTurn', expression: 'celsius / double(rpm - 7)' } },
    ])
    const push = (body: unknown) => service.api.withToken('POST', `/streams/${streamId}/data`, body)
    const timestamp = '2026-01-31T10:00:00Z'

    const stored = await push({ timestamp, celsius: 20, rpm: 5 })
    const again = await push({ timestamp, celsius: 20, rpm: 5 })
    const filtered = await push({ timestamp, celsius: 20, rpm: 0 })
    const failed = await push({ timestamp, celsius: 20, rpm: 7 })
    const batch = await push([
      { timestamp, celsius: 21, rpm: 0 },
      { timestamp, rpm: 4 },
    ])

    expect([stored.status, again.status, filtered.status]).toEqual([202, 202, 202])
    expect(filtered.body).toMatchObject({ status: 'accepted' })
    expect(failed.status).toBe(422)
    expect(failed.body).toMatchObject({
      reason: 'transform_failed',
      details: [{ path: 'processing.transform.1.derive' }],
    })
    expect(batch.body).toMatchObject({ accepted: 1, rejected: [{ index: 1 }] })
    expect(await service.api.settled(streamId, 6)).toEqual({
      received: 6,
      stored: 1,
      duplicates: 1,
      unchanged: 0,
      filtered: 2,
      quarantined: 2,
      discarded: 0,
      pending: 0,
    })
  })

  test('that fails leaves the reading in quarantine as it was sent', async () => {
    const streamId = await created([{ derive: { field: 'x', expression: '1 / (rpm - rpm)' } }])
    const payload = '{ "rpm":  5, "timestamp": "2026-01-31T10:00:00Z" }'
    await service.api.withToken('POST', `/streams/${streamId}/data`, payload)
    await service.api.settled(streamId, 1)

    const { body } = await service.api.withToken('GET', `/streams/${streamId}/quarantine`)
    expect(body).toMatchObject({
      entries: [
        {
          reason: 'transform_failed',
          message: 'step 0 of the transform (derive): int divide by zero',
          payload,
          timestamp: '2026-01-31T10:00:00.000000Z',
        },
      ],
    })
  })
})

describe('a transform that cannot be run is refused', () => {
  const path = 'processing.transform'

  test.each([
    ['no list', {}, [{ path }]],
    ['too many steps', Array.from({ length: 33 }, () => ({ drop: { field: 'rpm' } })), [{ path }]],
    ['no step', [5], [{ path: `${path}.0` }]],
    ['an unknown step', [{ explode: {} }], [{ path: `${path}.0` }]],
    ['two steps in one', [{ drop: { field: 'rpm' }, filter: {} }], [{ path: `${path}.0` }]],
    ['no options', [{ drop: 'rpm' }], [{ path: `${path}.0` }]],
    ['an unknown option', [{ drop: { field: 'rpm', x: 1 } }], [{ path: `${path}.0.drop.x` }]],
    ['an unknown field', [{ drop: { field: 'x' } }], [{ path: `${path}.0.drop.field` }]],
    ['an inherited field', [{ drop: { field: 'toString' } }], [{ path: `${path}.0.drop.field` }]],
    [
      'a field that is gone',
      [{ rename: { from: 'rpm', to: 'turns' } }, { scale: { field: 'rpm', factor: 2 } }],
      [{ path: `${path}.1.scale.field` }],
    ],
    [
      'a name that is taken',
      [{ rename: { from: 'rpm', to: 'Celsius' } }],
      [{ path: `${path}.0.rename.to` }],
    ],
    [
      'a reserved name',
      [{ derive: { field: 'count', expression: '1' } }],
      [{ path: `${path}.0.derive.field` }],
    ],
    [
      'a type that cannot be derived',
      [{ derive: { field: 'x', type: 'array', expression: '1' } }],
      [{ path: `${path}.0.derive.type` }],
    ],
    ['scaling by nothing', [{ scale: { field: 'rpm' } }], [{ path: `${path}.0.scale.factor` }]],
    [
      'scaling by a text',
      [{ scale: { field: 'rpm', factor: '2' } }],
      [{ path: `${path}.0.scale.factor` }],
    ],
    [
      'a conversion from no unit',
      [{ convert: { field: 'rpm', to: 'K' } }],
      [{ path: `${path}.0.convert.from` }],
    ],
    [
      'units that do not fit',
      [{ convert: { field: 'celsius', to: 'kPa' } }],
      [{ path: `${path}.0.convert`, message: 'degC cannot be converted to kPa' }],
    ],
    [
      'an expression that is none',
      [{ filter: { expression: 'rpm >' } }],
      [{ path: `${path}.0.filter.expression` }],
    ],
    [
      'an expression about an unknown field',
      [{ filter: { expression: 'x > 1' } }],
      [{ path: `${path}.0.filter.expression`, message: 'there is no field x' }],
    ],
    ['nothing left', [{ drop: { field: 'rpm' } }, { drop: { field: 'celsius' } }], [{ path }]],
  ])('%s', async (_, transform, details) => {
    expect(await refusalOf(transform)).toMatchObject(details)
  })

  test('a text that is scaled', async () => {
    const transform = [{ scale: { field: 'name', factor: 2 } }]
    expect(await refusalOf(transform, { name: { type: 'string' } })).toMatchObject([
      { path: `${path}.0.scale.field`, message: 'must be a number, not string' },
    ])
  })
})
