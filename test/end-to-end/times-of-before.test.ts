import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { newDataDir, startServiceProcess } from '../support/service-process.ts'

/** Definitions that were made before there were rules for times. */

const dataDir = newDataDir()
afterAll(() => rmSync(dataDir, { recursive: true }))

const schema = { value: { type: 'number' } }
const source = { timestampField: 'ts', timestampFormat: 'epoch_s' }

/** What an earlier release has stored: the same definition, without what it was checked by. */
function forgetRules(): void {
  using state = new DatabaseSync(join(dataDir, 'state.db'))
  const { changes } = state
    .prepare("UPDATE data_stream_versions SET definition = json_remove(definition, '$.rules')")
    .run()
  expect(changes).toBe(1)
}

interface Held {
  readonly entries: readonly { readonly reason: string }[]
}

test('read times as they did, until they are changed', async () => {
  const first = await startServiceProcess(dataDir)
  const streamId = await new ApiClient(first.http).createStream(schema, { source })
  await first.end('SIGTERM')
  forgetRules()

  const service = await startServiceProcess(dataDir)
  const api = new ApiClient(service.http)
  const push = async (reading: object) =>
    await api.withToken('POST', `/streams/${streamId}/data`, reading)
  const reasons = async () =>
    (await api.withToken<Held>('GET', `/streams/${streamId}/quarantine`)).body.entries.map(
      ({ reason }) => reason,
    )
  await push({ value: 1 })
  await push({ value: 2, ts: 12 })
  await push({ value: 3, ts: '1769853598' })
  expect(await api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
  expect(await reasons()).toEqual(['timestamp_invalid'])

  const change = { schema: { other: { type: 'number' } } }
  expect(await api.withToken('PUT', `/streams/${streamId}`, change)).toMatchObject({ status: 200 })
  await push({ value: 1 })
  await push({ value: 2, ts: 12 })
  await push({ value: 3, ts: '1769853598' })
  expect(await api.settled(streamId, 6)).toMatchObject({ stored: 3, quarantined: 3 })
  expect((await reasons()).toSorted()).toEqual([
    'timestamp_implausible',
    'timestamp_invalid',
    'timestamp_missing',
  ])
  await api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
  expect((await reasons()).toSorted()).toEqual(['timestamp_implausible', 'timestamp_missing'])
  await service.end('SIGTERM')
})
