import type { Compilable } from 'kysely'
import type { Json } from '../../contracts/definitions/problems.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { DataStream } from './data-stream-store.ts'
import type { ParsedDefinition } from './definition.ts'
import { isInbound } from './source-kinds.ts'

export const sourceStates = ['connecting', 'running', 'waiting', 'failing', 'paused'] as const

export type SourceState = (typeof sourceStates)[number]

/** How the source of a stream is doing. */
export interface SourceStatus {
  readonly state: SourceState
  /** Since when it has been in this state. */
  readonly sinceUs: number
  /** Why it failed last, without secrets; nothing when it never has. */
  readonly lastError: string | undefined
  /** What to do about it, as a sentence. */
  readonly remedy: string | undefined
  /** Failures in a row. */
  readonly retries: number
  /** Messages that are durable, since the start of the service. */
  readonly messages: number
  /** Messages that were left out on purpose, since the start of the service. */
  readonly skipped: number
  readonly lastMessageAtUs: number | undefined
  /** Messages that have arrived and are not durable yet. */
  readonly unacknowledged: number
  /** It fails for a reason that does not pass by itself, or has failed for long. */
  readonly isLasting: boolean
  /** Rounds since the start of the service, of a source that is asked from time to time. */
  readonly rounds: SourceRounds | undefined
  readonly lastRound:
    | { readonly dueAtUs: number; readonly startedAtUs: number; readonly endedAtUs: number }
    | undefined
  /** When the next round is due, or the one under way was. */
  readonly nextRoundAtUs: number | undefined
  /** For how long a round has been due that is not done. */
  readonly lagUs: number | undefined
}

export interface SourceRounds {
  readonly count: number
  /** Times that have passed while a round was under way. */
  readonly overlapped: number
  /** Times that have passed while nobody could take care of them. */
  readonly missed: number
}

/** The outcome of a try of a source. */
export interface SourceTrial {
  /** Whether the other side has answered. */
  readonly isReached: boolean
  /** The problem that kept the try from coming to its end, without secrets. */
  readonly problem: string | undefined
  /** What to do about the problem, as a sentence. */
  readonly remedy: string | undefined
  /** The first ones. */
  readonly messages: readonly {
    readonly payload: Uint8Array
    readonly source: string
    readonly eventType?: string
    readonly problem?: string
  }[]
  /** How many there were. */
  readonly count: number
}

/** Streams whose readings are fetched from somewhere else, as the routes see them. */
export interface StreamSources {
  /**
   * Statements that store the secrets of a new stream with its definition. They find nothing to
   * change when there are too many such streams.
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
  completed(stream: DataStream, changed: ParsedDefinition): Promise<ParsedDefinition>
  /**
   * Statements that store the secrets of a changed stream.
   *
   * @throws DomainError as `assertRoom` does
   */
  changed(stream: DataStream, source: Json): Promise<readonly Compilable[]>
  /**
   * The statement that puts a new secret in the place of the one that messages to a stream are
   * signed with.
   *
   * @param previousUntilUs until when the old one is good, too
   * @throws DomainError `conflict` for a stream that has no webhook
   */
  rotated(stream: DataStream, secret: string, previousUntilUs: number): Promise<Compilable>
  /** Statements that forget the secrets of a stream. */
  removed(id: StreamId): readonly Compilable[]
  /** @throws DomainError `destination_not_allowed` when a source is where nobody may connect to */
  assertAllowed(source: Json): Promise<void>
  /** @throws DomainError `conflict` when so many more streams would be too many */
  assertRoom(ownerId: UserId, count: number): Promise<void>
  /**
   * Connects to a source that is nobody's yet, and keeps nothing of what it sends.
   *
   * @throws DomainError `overloaded`, `unsupported_definition`
   */
  tried(source: Json, userId: UserId): Promise<SourceTrial>
  /** Has a stream fetched from as its definition says now. */
  wake(id: StreamId): void
  /** Has a source do at once what it would do later. False where there is none. */
  hurry(id: StreamId): boolean
  /** Nothing when there is no such stream. */
  statusOf(id: StreamId): SourceStatus | undefined
  /** Streams of everybody whose source fails for a reason that does not pass by itself, or has failed for long. */
  failing(): readonly StreamId[]
  /** The last part of the address of a stream that others send to, which nobody can guess. */
  hookIdOf(id: StreamId): string
  /** What has come to the address of a stream. */
  hookStatusOf(id: StreamId): HookStatus
}

/** What has come to a webhook since the start of the service. */
export interface HookStatus {
  /** Messages that are durable. */
  readonly messages: number
  /** Messages that were known already. */
  readonly repeated: number
  readonly lastMessageAtUs: number | undefined
  /** Messages whose signature was not good. */
  readonly refused: number
  readonly lastRefusedAtUs: number | undefined
  readonly lastRefusal: string | undefined
}

/** Whether the source of a stream fails, and not for a moment only. */
export function isFailing(sources: Pick<StreamSources, 'statusOf'>, id: StreamId): boolean {
  return sources.statusOf(id)?.isLasting === true
}

/** Whether there are secrets to be kept for a stream with this source. */
export function keepsSecrets(source: Json): boolean {
  return isFetched(source) || isInbound(source)
}

/** Whether a stream with this source has to be fetched from somewhere. */
export function isFetched(source: Json): boolean {
  return source['endpoint'] !== undefined
}
