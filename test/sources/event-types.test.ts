import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { runningService } from '../support/running-service.ts'
import { SsePeer } from '../support/sse-peer.ts'

const port = await freePort()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}` })
const opened = { door: { type: 'string', required: true } }
const counted = { people: { type: 'integer' } }
let peer: SsePeer

beforeAll(async () => {
  peer = await SsePeer.start(port)
})

afterAll(async () => {
  await peer[Symbol.asyncDispose]()
})

describe('a stream of events of several types', () => {
  test('takes the name that its source gives an event, and keeps it for a later judgement', async () => {
    const { api } = service
    const definition = {
      name: 'doors',
      vaultId: await api.createVault(),
      type: 'event_stream',
      source: { ...peer.source, eventTypes: { opened } },
    }
    const { body } = await api.withToken<{ streamId: string }>('POST', '/streams', definition)
    const { streamId } = body
    const shown = await api.withToken<{ schema: object }>('GET', `/streams/${streamId}`)
    expect(shown.body).toMatchObject({
      schema: { type: { type: 'string' }, door: { type: 'string' } },
    })
    await peer.publish([Buffer.from('{"door":"north"}')], 'opened')
    await peer.publish([Buffer.from('{"people":7}')], 'counted')
    await peer.publish([Buffer.from('{"type":"opened","door":"south"}')])
    expect(await api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
    expect(await api.readAll(streamId)).toMatchObject([
      { type: 'opened', door: 'north' },
      { type: 'opened', door: 'south' },
    ])
    const quarantine = await api.withToken('GET', `/streams/${streamId}/quarantine`)
    expect(quarantine.body).toMatchObject({
      entries: [{ reason: 'schema_mismatch', payload: '{"type":"counted","people":7}' }],
    })

    // As it was read, but for the types: the schema that goes with those before is sent back, too.
    const { schema } = shown.body
    const changed = { schema, source: { eventTypes: { opened, counted } } }
    expect(await api.withToken('PUT', `/streams/${streamId}`, changed)).toMatchObject({
      status: 200,
    })
    await api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
    await expect
      .poll(async () => (await api.status(streamId)).counters)
      .toMatchObject({ stored: 3, quarantined: 0 })
    expect(await api.readAll(streamId)).toContainEqual(
      expect.objectContaining({ type: 'counted', people: 7 }),
    )
  })
})
