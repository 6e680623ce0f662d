import { formatUs } from '../core/time.ts'
import type { DataStream, ListedStream } from './data-stream-store.ts'

/** The stream as creating and listing it show it. */
export function streamBody(stream: ListedStream, publicUrl: string): object {
  return {
    streamId: stream.id,
    name: stream.name,
    vaultId: stream.vaultId,
    type: stream.type,
    status: stream.hasReceived ? 'active' : 'created',
    endpoint: `${publicUrl}/streams/${stream.id}/data`,
    createdAt: formatUs(stream.createdAtUs),
  }
}

/** The stream with its definition, as its owner gave it, without the secrets. */
export function definitionBody(
  stream: DataStream,
  { publicUrl, hasReceived }: { readonly publicUrl: string; readonly hasReceived: boolean },
): object {
  return {
    ...streamBody({ ...stream, hasReceived }, publicUrl),
    version: stream.version,
    source: withoutSecrets(stream.source),
    schema: stream.schema,
    processing: stream.processing,
  }
}

type Json = Readonly<Record<string, unknown>>

/** Parts of a source that hold secrets, and what in them is none. */
const secretParts: readonly string[] = ['credentials', 'authentication', 'headers']
const openKeys: readonly string[] = ['type', 'username']

/** Secrets are empty for everybody (D13): whoever set them knows them, and nobody else needs to. */
export function withoutSecrets(source: Json): Json {
  const members = Object.entries(source).map(([key, value]) => [
    key,
    secretParts.includes(key) ? emptied(value) : value,
  ])
  return Object.fromEntries(members) as Json
}

function emptied(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ''
  const members = Object.entries(value).map(([key, member]) => [
    key,
    openKeys.includes(key) && typeof member === 'string' ? member : '',
  ])
  return Object.fromEntries(members) as Json
}
