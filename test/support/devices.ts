import type { Answer, ApiClient } from './api-client.ts'
import type { Person } from './people.ts'

/** A device with its secret, as it was shown once. */
export interface MadeDevice {
  readonly id: string
  readonly apiKey: string
  readonly apiSecret: string
  readonly streamIds: readonly string[]
  readonly commandTopic: string
  readonly [field: string]: unknown
}

/** Makes a template, a vault and streams of one field; returns the ids. */
export async function newStreams(
  person: Person,
  count = 1,
): Promise<{ readonly vaultId: string; readonly streamIds: readonly string[] }> {
  const body = { name: 'boiler', hint: '', required_streams: [] }
  const template = await person.withKey<{ id: string }>('POST', '/templates', body)
  const vault = await person.withKey<{ id: string }>('POST', '/vaults', {
    template_id: template.body.id,
    name: 'boiler 7',
  })
  const schema = { temperature: { type: 'number' } }
  const definition = { vaultId: vault.body.id, type: 'iot_sensor', schema }
  const streams = Array.from({ length: count }, (_, index) => ({ name: `heat ${index}` }))
  const made = await person.withToken<{ streamIds: string[] }>('POST', '/streams/bulk', {
    definition,
    streams,
  })
  return { vaultId: vault.body.id, streamIds: made.body.streamIds }
}

export async function newDevice(person: Person, body: object): Promise<MadeDevice> {
  const answer = await person.withKey<MadeDevice>('POST', '/devices', { name: 'a device', ...body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** Sends a request with the key of a device. */
export function asDevice<Body>(
  api: ApiClient,
  { apiKey, apiSecret }: Pick<MadeDevice, 'apiKey' | 'apiSecret'>,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
): Promise<Answer<Body>> {
  const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
  return api.request<Body>(method, path, { headers, body })
}
