import { type RawAnswer, sendRaw } from './raw-http.ts'
import type { RunningService } from './running-service.ts'

export type SentHeaders = Readonly<Record<string, string>>

/** Sends bodies as they are, with exactly these headers and the credentials of the bootstrap user. */
export function bodiesTo(service: RunningService) {
  async function post(
    path: string,
    headers: SentHeaders,
    body: string | Uint8Array,
  ): Promise<RawAnswer> {
    const authorization = `Bearer ${await service.api.token()}`
    return sendRaw(service.process.http, {
      method: 'POST',
      path,
      headers: Object.entries({ authorization, ...headers }).flat(),
      body,
    })
  }
  return {
    post,
    push: (streamId: string, headers: SentHeaders, body: string | Uint8Array) =>
      post(`/streams/${streamId}/data`, headers, body),
  }
}
