import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import type { ApiClient } from './api-client.ts'
import { imported } from './imports.ts'
import type { RunningService } from './running-service.ts'

export type Reading = Readonly<Record<string, unknown>>

/** Formats of a body, with how a client writes readings in them. */
export const bodies: Readonly<Record<string, (readings: readonly Reading[]) => Uint8Array>> = {
  'application/json': (readings) => Buffer.from(JSON.stringify(readings)),
  'application/x-ndjson': (readings) => Buffer.from(linesOf(readings)),
  'application/cbor': (readings) => encodeCbor(readings),
  'application/vnd.msgpack': (readings) => encodeMsgpack(readings),
}

export function linesOf(readings: readonly Reading[]): string {
  return readings.map((reading) => `${JSON.stringify(reading)}\n`).join('')
}

/** Sends readings in one body. */
export async function push(
  api: ApiClient,
  path: string,
  type: string,
  body: Uint8Array,
): Promise<Reading> {
  const response = await fetch(api.base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${await api.token()}`, 'content-type': type },
    body: body as Uint8Array<ArrayBuffer>,
  })
  return { status: response.status, ...((await response.json()) as Reading) }
}

/** What is stored of a stream, as text of a type. */
export async function queried(api: ApiClient, streamId: string, type: string): Promise<string> {
  const response = await fetch(`${api.base}/streams/${streamId}/data`, {
    headers: { authorization: `Bearer ${await api.token()}`, accept: type },
  })
  // `text` would leave out a byte order mark.
  return Buffer.from(await response.arrayBuffer()).toString()
}

/** Brings a file back to where it came from, and answers how many of its rows were there already. */
export async function duplicatesOf(
  service: RunningService,
  streamId: string,
  file: Parameters<typeof imported>[2],
): Promise<Reading> {
  const { state, refused, duplicates, refusals } = await imported(service, streamId, file)
  return { state, refused, duplicates, refusals }
}
