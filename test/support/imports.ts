import type { Answer } from './api-client.ts'
import { type JobBody, jobIn } from './exports.ts'
import type { RunningService } from './running-service.ts'

export interface ImportBody extends JobBody {
  readonly accepted: number
  readonly refused: number
  readonly duplicates: number
  readonly refusals: readonly { readonly row: number; readonly error: string }[]
}

export const importTypes = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
} as const

type Format = keyof typeof importTypes

/** Sends a file to a stream, as the bootstrap user. */
export async function sendImport(
  { api, process }: Pick<RunningService, 'api' | 'process'>,
  streamId: string,
  {
    format,
    content,
  }: { readonly format: Format; readonly content: string | Uint8Array<ArrayBuffer> },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<ImportBody>> {
  const response = await fetch(`${process.http}/streams/${streamId}/import`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await api.token()}`,
      'content-type': importTypes[format],
      ...headers,
    },
    body: content,
  })
  const body = (await response.json()) as ImportBody
  return { status: response.status, headers: response.headers, body }
}

/** Imports a file and waits for the end of it. */
export async function imported(
  service: Pick<RunningService, 'api' | 'process'>,
  streamId: string,
  file: { readonly format: Format; readonly content: string | Uint8Array<ArrayBuffer> },
): Promise<ImportBody> {
  const { status, body } = await sendImport(service, streamId, file)
  if (status !== 202) throw new Error(JSON.stringify(body))
  return (await jobIn(service.api, `/imports/${body.importId}`)) as ImportBody
}
