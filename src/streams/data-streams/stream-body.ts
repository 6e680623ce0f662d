import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { streamDeletion } from './data-stream-api.ts'
import type { DataStream } from './data-stream-store.ts'
import type { dataStream, definition, streamVersion } from './definition-schemas.ts'
import { isInbound } from './source-kinds.ts'
import { withoutSecrets } from './source-secrets.ts'
import type { PastVersion } from './stream-changes.ts'
import type { StreamDeletion } from './stream-deletions.ts'
import type { ListedStream } from './stream-list.ts'
import type { shownStream } from './stream-list-api.ts'
import { stateOf } from './stream-state.ts'
import { definitionWarnings } from './timestamp-field.ts'

type StreamBody = Static<typeof dataStream>

/** What lists tell, and what only the running service knows. */
export type ShownStream = ListedStream & { readonly isFailing: boolean }

/** The stream as creating it shows it. */
function streamBody(stream: ShownStream, publicUrl: string): StreamBody {
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

/** Where others send messages of a stream to, if they do. */
export function webhookUrlOf(
  { id, source }: Pick<DataStream, 'id' | 'source'>,
  { sources, publicUrl }: WebhookUrlNeeds,
): string | undefined {
  return isInbound(source) ? `${publicUrl}/hooks/${sources.hookIdOf(id)}` : undefined
}

export interface WebhookUrlNeeds {
  readonly sources: { hookIdOf(id: DataStream['id']): string }
  readonly publicUrl: string
}

/** A stream that has just been made, for who has made it. */
export function madeStreamBody(stream: DataStream, needs: WebhookUrlNeeds): StreamBody {
  const webhookUrl = webhookUrlOf(stream, needs)
  const body = newStreamBody(stream, needs.publicUrl)
  return {
    ...body,
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...warningsOf(stream),
  }
}

/** Warnings that its owner should have, if there are any. */
function warningsOf(stream: DataStream): { warnings?: readonly string[] } {
  const warnings = definitionWarnings(stream)
  return warnings.length > 0 ? { warnings } : {}
}

/** A stream that has just been made. */
function newStreamBody(stream: DataStream, publicUrl: string): StreamBody {
  return streamBody({ ...stream, hasReceived: false, isFailing: false }, publicUrl)
}

/**
 * What whoever is told of a new or a deleted stream gets to know. Receivers tell events apart by the
 * `id` of what they are about, whatever else it calls it.
 */
export function noticeOf(stream: DataStream, status: 'created' | 'deleted', publicUrl: string) {
  const { id, vaultId, tags } = stream
  const data = { id, ...newStreamBody(stream, publicUrl), status, tags }
  return { vaultId, streamId: id, data }
}

/** The stream as lists show it, without its health. */
export function listedBody(stream: ShownStream, publicUrl: string): Static<typeof shownStream> {
  return { ...streamBody(stream, publicUrl), ...stream.fleet, tags: stream.tags }
}

/** The stream with its definition, as its owner gave it, without the secrets. */
export function definitionBody(
  stream: DataStream,
  {
    publicUrl,
    webhookUrl,
    ...known
  }: {
    readonly publicUrl: string
    readonly webhookUrl: string | undefined
  } & Pick<ShownStream, 'hasReceived' | 'isFailing'>,
): Static<typeof definition> {
  return {
    ...listedBody({ ...stream, ...known }, publicUrl),
    ...(webhookUrl !== undefined && { webhookUrl }),
    version: stream.version,
    source: withoutSecrets(stream.source),
    schema: stream.schema,
    processing: stream.processing,
    ...warningsOf(stream),
  }
}

/** A version of the stream as it was, without the secrets. */
export function versionBody(version: PastVersion): Static<typeof streamVersion> {
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
export function deletionBody(deletion: StreamDeletion): Static<typeof streamDeletion> {
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
