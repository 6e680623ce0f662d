import { encode as inMessagePack } from '@msgpack/msgpack'
import { encode } from 'cborg'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

let vaultId = ''

beforeAll(async () => {
  const streamId = await service.api.createStream()
  const { body } = await service.api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
  vaultId = body.vaultId
})

interface Proposed {
  readonly proposal: {
    readonly source: Readonly<Record<string, unknown>>
    readonly schema: Readonly<Record<string, object>>
  }
  readonly samples: number
  readonly notes: readonly { readonly path: string; readonly message: string }[]
  readonly misfits: readonly { readonly index: number; readonly error: string }[]
}

async function infer(messages: readonly object[]) {
  const answer = await service.api.withToken<Proposed>('POST', '/streams/infer', { messages })
  expect(answer.status).toBe(200)
  return answer.body
}

async function refused(body: object) {
  const { status, body: error } = await service.api.withToken<ErrorBody>(
    'POST',
    '/streams/infer',
    body,
  )
  return { status, paths: error.details?.map(({ path }) => path) }
}

function plug(index: number) {
  return {
    topic: `tele/plug${index % 2}/SENSOR`,
    payload: {
      Time: `2026-01-31T10:00:0${index}`,
      ENERGY: { Power: 84 + index, Total: 196.7, Factor: index === 3 ? null : 0.9 },
    },
  }
}

const plugs = Array.from({ length: 10 }, (_, index) => plug(index))

describe('POST /streams/infer of messages', () => {
  test('finds fields, the time and the device', async () => {
    const { proposal, samples, misfits } = await infer(plugs)

    expect([samples, misfits]).toEqual([10, []])
    expect(proposal).toEqual({
      type: 'iot_sensor',
      source: {
        topic: 'tele/+/SENSOR',
        timestampField: 'Time',
        timestampFormat: 'local',
        timezone: 'UTC',
        missing: [null],
      },
      schema: {
        Time: { type: 'string' },
        energy_power: { type: 'number', from: 'ENERGY.Power' },
        energy_total: { type: 'number', from: 'ENERGY.Total' },
        energy_factor: { type: 'number', from: 'ENERGY.Factor' },
        device: { type: 'string', from: '$topic[1]' },
      },
    })
  })

  test('proposes what POST /streams takes, and the stream takes what is published', async () => {
    const { proposal } = await infer(plugs)
    const made = await service.api.withToken<{ streamId: string }>('POST', '/streams', {
      ...proposal,
      name: 'plugs',
      vaultId,
    })
    const { streamId } = made.body

    const pushed = await service.api.withToken('POST', `/streams/${streamId}/data`, [
      plugs[0]?.payload,
    ])
    await service.api.settled(streamId, 1)

    expect([made.status, pushed.body]).toEqual([201, { accepted: 1, rejected: [] }])
    expect((await service.api.readAll(streamId))[0]).toMatchObject({
      timestamp: '2026-01-31T10:00:00.000000Z',
      energy_power: 84,
    })
  })

  test.each([
    ['a text that is JSON', '{"level":1}', undefined, {}],
    ['a value', { level: 1 }, undefined, {}],
    ['lines', '{"level":1}\n{"level":2}\n', undefined, { format: 'ndjson' }],
    ['JSON in base64', Buffer.from('{"level":1}').toString('base64'), 'base64', {}],
    ['CBOR', Buffer.from(encode({ level: 1 })).toString('base64'), 'base64', { format: 'cbor' }],
    [
      'MessagePack',
      Buffer.from(inMessagePack({ level: 1 })).toString('base64'),
      'base64',
      { format: 'msgpack' },
    ],
  ])('reads %s', async (_, payload, encoding, source) => {
    const { proposal, misfits } = await infer([{ payload, encoding }])

    expect(misfits).toEqual([])
    expect(proposal.source).toEqual({ ...source, missing: [null] })
    expect(proposal.schema).toEqual({ level: { type: 'number' } })
  })

  test('takes payloads that are one value for plain ones, and expects words for none', async () => {
    const { proposal, misfits } = await infer(
      ['21.5', '22', '-3'].map((payload) => ({ topic: 'greenhouse/temperature', payload })),
    )

    expect(misfits).toEqual([])
    expect(proposal.source).toEqual({
      topic: 'greenhouse/temperature',
      format: 'plain',
      field: 'temperature',
    })
    expect(proposal.schema['temperature']).toMatchObject({
      type: 'number',
      missing: expect.arrayContaining(['nan', 'unavailable']) as unknown,
    })
  })

  test('takes lines of values for CSV', async () => {
    const payloads = ['1769853590;21.5;40', '1769853600;22;41']

    const { proposal, misfits } = await infer(payloads.map((payload) => ({ payload })))

    expect(misfits).toEqual([])
    expect(proposal.source).toEqual({
      format: 'csv',
      columns: ['time', 'value_2', 'value_3'],
      delimiter: ';',
      timestampField: 'time',
      timestampFormat: 'epoch_s',
    })
  })

  test('names messages that are in no format, or in another than the others', async () => {
    const { samples, misfits } = await infer([
      { payload: { level: 1 } },
      { payload: '{"level":' },
      { payload: { level: 2 } },
      { payload: Buffer.from([0xff, 0xfe]).toString('base64'), encoding: 'base64' },
    ])

    expect(samples).toBe(4)
    expect(misfits.map(({ index, error }) => [index, error])).toEqual([
      [1, 'malformed'],
      [3, 'malformed'],
    ])
  })

  test('says that topics of several kinds are better kept apart', async () => {
    const { proposal, notes } = await infer([
      { topic: 'tele/plug/STATE', payload: { Uptime: 1, Heap: 2 } },
      { topic: 'tele/plug/SENSOR', payload: { Power: 1 } },
    ])

    expect(proposal.source).toMatchObject({ topic: 'tele/plug/+' })
    expect(proposal.schema['kind']).toEqual({ type: 'string', from: '$topic[2]' })
    expect(notes.map(({ path }) => path)).toContain('source.topic')
  })

  test('proposes no secret', async () => {
    const { proposal, notes } = await infer([
      { payload: { level: 1, wifi_password: 'x', auth: { token: 'y', accessKey: 'z' } } },
    ])

    expect(Object.keys(proposal.schema)).toEqual(['level'])
    expect(JSON.stringify({ proposal, notes })).not.toMatch(/"[xyz]"/)
    expect(notes).toHaveLength(3)
  })

  test.each([
    ['neither messages nor samples', {}, ['samples']],
    ['both', { samples: [{ a: 1 }], messages: [{ payload: { a: 1 } }] }, ['samples']],
    ['no message', { messages: [] }, ['messages']],
    ['too many', { messages: Array.from({ length: 1_001 }, () => ({ payload: 1 })) }, ['messages']],
    ['a message without a payload', { messages: [{ topic: 'a' }] }, ['messages.0.payload']],
    [
      'what is no base64',
      { messages: [{ payload: 'a!', encoding: 'base64' }] },
      ['messages.0.payload'],
    ],
    [
      'a value that is no text',
      { messages: [{ payload: 1, encoding: 'utf8' }] },
      ['messages.0.payload'],
    ],
  ])('refuses %s', async (_, body, paths) => {
    expect(await refused(body)).toEqual({ status: 400, paths })
  })
})
