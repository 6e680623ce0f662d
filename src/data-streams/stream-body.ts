import { formatUs } from '../core/time.ts'
import type { DataStream, ListedStream } from './data-stream-store.ts'
import type { PastVersion } from './stream-changes.ts'
import type { StreamDeletion } from './stream-deletions.ts'

/** The states that a stream shows (D22). */
export const streamStates = ['created', 'active', 'paused', 'error'] as const

/** `error` is for streams that fetch, which come with their connectors. */
export function stateOf(stream: {
  readonly isPaused: boolean
  readonly hasReceived: boolean
}): (typeof streamStates)[number] {
  if (stream.isPaused) return 'paused'
  return stream.hasReceived ? 'active' : 'created'
}

/** The stream as creating it shows it. */
export function streamBody(stream: ListedStream, publicUrl: string): object {
  return {
    streamId: stream.id,
    name: stream.name,
    vaultId: stream.vaultId,
    type: stream.type,
    status: stateOf(stream),
    endpoint: `${publicUrl}/streams/${stream.id}/data`,
    createdAt: formatUs(stream.createdAtUs),
  }
}

/** The stream as lists show it. */
export function listedBody(stream: ListedStream, publicUrl: string): object {
  return { ...streamBody(stream, publicUrl), tags: stream.tags }
}

/** The stream with its definition, as its owner gave it, without the secrets. */
export function definitionBody(
  stream: DataStream,
  { publicUrl, hasReceived }: { readonly publicUrl: string; readonly hasReceived: boolean },
): object {
  return {
    ...listedBody({ ...stream, hasReceived }, publicUrl),
    version: stream.version,
    source: withoutSecrets(stream.source),
    schema: stream.schema,
    processing: stream.processing,
  }
}

/** A version of the stream as it was, without the secrets. */
export function versionBody(version: PastVersion): object {
  return {
    version: version.version,
    createdAt: formatUs(version.createdAtUs),
    createdBy: version.createdBy ?? null,
    name: version.name,
    tags: version.tags,
    source: withoutSecrets(version.source),
    schema: version.schema,
    processing: version.processing,
  }
}

/** What is left to know of a stream that was deleted. */
export function deletionBody(deletion: StreamDeletion): object {
  const { streamId, name, deletedAtUs, removedAtUs } = deletion
  return {
    streamId,
    name,
    status: 'deleted',
    deletedAt: formatUs(deletedAtUs),
    removedAt: removedAtUs === undefined ? null : formatUs(removedAtUs),
    removed: { readings: deletion.removedReadings, quarantined: deletion.removedQuarantine },
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
