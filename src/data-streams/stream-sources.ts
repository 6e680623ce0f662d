import type { Compilable } from 'kysely'
import type { StreamId, UserId } from '../core/ids.ts'
import type { DataStream } from './data-stream-store.ts'
import type { ParsedDefinition } from './definition.ts'
import type { Json } from './definition-problems.ts'

/** How the source of a stream is doing. */
export interface SourceStatus {
  readonly state: 'connecting' | 'running' | 'failing' | 'paused'
  /** Since when it has been in this state. */
  readonly sinceUs: number
  /** Why it failed last, without secrets; nothing when it never has. */
  readonly lastError: string | undefined
  /** Failures in a row. */
  readonly retries: number
  /** Messages that are durable, since the start of the service. */
  readonly messages: number
  readonly lastMessageAtUs: number | undefined
  /** Messages that have arrived and are not durable yet. */
  readonly unacknowledged: number
  /** It fails for a reason that does not pass by itself, or has failed for long. */
  readonly isLasting: boolean
}

/** Streams whose readings are fetched from somewhere else, as the routes see them. */
export interface StreamSources {
  /**
   * What stores the secrets of a new stream with its definition. It finds nothing to change when
   * there are too many such streams.
   *
   * @throws DomainError `invalid_request` for the mark of a secret that is nowhere kept
   */
  planned(stream: Pick<DataStream, 'id' | 'ownerId' | 'source'>): readonly Compilable[]
  /**
   * A changed definition, with marks for all secrets that stay as they are.
   *
   * @throws DomainError `invalid_request` for a mark without a secret, and for one that was given
   *   for another endpoint
   */
  settled(stream: DataStream, changed: ParsedDefinition): Promise<ParsedDefinition>
  /** What stores the secrets of a changed stream. @throws DomainError as `assertRoom` does */
  changed(stream: DataStream, source: Json): Promise<readonly Compilable[]>
  /** What forgets the secrets of a stream. */
  removed(id: StreamId): readonly Compilable[]
  /** @throws DomainError `destination_not_allowed` when a source is where nobody may connect to */
  assertAllowed(source: Json): Promise<void>
  /** @throws DomainError `conflict` when so many more streams would be too many */
  assertRoom(ownerId: UserId, count: number): Promise<void>
  /** Has a stream fetched from as its definition says now. */
  wake(id: StreamId): void
  /** Nothing when there is no such stream. */
  statusOf(id: StreamId): SourceStatus | undefined
}

/** Whether a stream with this source has to be fetched from somewhere. */
export function isFetched(source: Json): boolean {
  return source['endpoint'] !== undefined
}
