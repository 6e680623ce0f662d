import { vi } from 'vitest'
import type { ApiClient } from '../api-client.ts'

/** For what hangs, and not for what is slow. */
const patienceMs = 60_000

/** The id of the first alert of a stream, as soon as there is one. */
export async function firedAlert(
  api: Pick<ApiClient, 'withToken'>,
  streamId: string,
): Promise<string> {
  return await vi.waitFor(
    async () => {
      const path = `/alerts?streamId=${streamId}`
      const { body } = await api.withToken<readonly { alertId: string }[]>('GET', path)
      const [first] = body
      if (!first) throw new Error(`stream ${streamId} has no alert`)
      return first.alertId
    },
    { timeout: patienceMs, interval: 50 },
  )
}
