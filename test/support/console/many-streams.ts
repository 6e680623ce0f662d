import type { ApiClient } from '../api-client.ts'

/** Makes streams called `sensor 0` and so on, in a vault of their own, with a tag each; returns the vault. */
export async function makeStreams(api: ApiClient, count: number): Promise<string> {
  const vaultId = await api.createVault()
  const definition = { vaultId, type: 'iot_sensor', schema: { temperature: { type: 'number' } } }
  for (let from = 0; from < count; from += 1000) {
    const streams = Array.from({ length: Math.min(1000, count - from) }, (_, at) => ({
      name: `sensor ${from + at}`,
      tags: { hall: String((from + at) % 7) },
    }))
    const { status, body } = await api.withToken<object>('POST', '/streams/bulk', {
      definition,
      streams,
    })
    if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  }
  return vaultId
}
