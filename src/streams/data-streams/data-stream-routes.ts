import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { changedMeanwhile, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type StreamId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { versionTag } from '../../requests/http/if-match.ts'
import { describedOnly } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import { type AddTwoHalves, halfOf, twoHalvesOf } from '../../requests/operations/two-halves.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import type { AssetStreamHalves } from '../../twins/asset-streams/asset-stream-routes.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import type { Units } from '../units/units.ts'
import { withConversions } from './conversions.ts'
import * as api from './data-stream-api.ts'
import {
  type DataStream,
  type DataStreamStore,
  type DecidedCounts,
  serviceStreamsMax,
} from './data-stream-store.ts'
import { parseDefinition, type StreamDefinition } from './definition.ts'
import {
  dataStream,
  type definition as definitionSchema,
  newDataStream,
} from './definition-schemas.ts'
import { isInbound, ownTopicOf } from './source-kinds.ts'
import { definitionBody, madeStreamBody, noticeOf, webhookUrlOf } from './stream-body.ts'
import { isFailing, isFetched, keepsSecrets, type StreamSources } from './stream-sources.ts'
import { statusBody } from './stream-status.ts'

/** What is known right of the journal about one stream. */
export interface StreamProgressSource {
  /** Waits, within bounds, until what is acknowledged by now has been counted; whether it was. */
  caughtUp(): Promise<boolean>
  progress(id: StreamId): Promise<{
    readonly counts: StoredCounts
    readonly storedPerSecond: number
  }>
  /** The problem that keeps readings from being kept or stored now, or nothing. */
  problem(): Promise<string | undefined>
}

export interface DataStreamRoutesNeeds {
  /** What the operations of both interfaces mean to a key. */
  readonly assetHalves: AssetStreamHalves
  readonly streams: DataStreamStore
  readonly vaults: VaultStore
  readonly lifecycle: Pick<LifecycleEvents, 'record' | 'forget'>
  readonly units: Units
  /** To be told of a user whose streams may have other topics from now on. */
  readonly topics: { forget(userId: UserId): void }
  readonly sources: StreamSources
  readonly processing: StreamProgressSource
  readonly posts: Posts
  readonly callerOf: CallerOf
  readonly publicUrl: string
  readonly nowUs: () => number
}

/** What a stream is made with. */
export type CreationNeeds = Omit<
  DataStreamRoutesNeeds,
  'assetHalves' | 'callerOf' | 'nowUs' | 'posts' | 'processing'
>

export function dataStreamRoutes(needs: DataStreamRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })

    const addBoth = twoHalvesOf(app, { ...needs, tags: ['Streams'] })
    addCollection(addBoth, needs)
    addReading(addBoth, needs)
    addStatus(add, needs)
  }
}

function addCollection(add: AddTwoHalves, needs: DataStreamRoutesNeeds): void {
  add('POST /streams', {
    operationId: 'createStream',
    summary: 'Create a data stream, or an asset stream.',
    scope: 'streams:write',
    key: needs.assetHalves.create,
    bearer: halfOf<'POST /streams'>()({
      description:
        'A data stream. All of the definition is checked before anything of it is stored.',
      body: describedOnly(newDataStream),
      answers: { 201: dataStream },
      errors: ['conflict', 'destination_not_allowed', 'not_found', 'unsupported_definition'],
      effect: ({ caller, body }) => creation(needs, caller, body),
    }),
  })
}

function addReading(add: AddTwoHalves, needs: DataStreamRoutesNeeds): void {
  add('GET /streams/:streamId', {
    operationId: 'readStream',
    summary: 'Read the definition of a data stream, or an asset stream.',
    scope: 'streams:read',
    key: needs.assetHalves.read,
    bearer: halfOf<'GET /streams/:streamId'>()({
      description:
        'The definition of a data stream. In place of the secrets of its source there are marks.',
      answers: { 200: api.versionedAnswer },
      handler: async ({ caller, params, reply }) => {
        const stream = await ownStream(needs, caller.userId, params.streamId)
        void reply.header('etag', versionTag(stream.version))
        return await shownDefinition(needs, stream)
      },
    }),
  })
}

function addStatus(add: AddOperation, needs: DataStreamRoutesNeeds): void {
  add('GET /streams/:streamId/status', {
    operationId: 'readStreamStatus',
    summary: 'Read how a data stream is doing.',
    scope: 'streams:read',
    answers: { 200: api.streamStatus },
    handler: async ({ caller, params }) =>
      shownStatus(needs, await ownStream(needs, caller.userId, params.streamId)),
  })
}

/** What makes a stream of a definition, with the event of it. */
export async function creation(needs: CreationNeeds, caller: AuthenticatedCaller, body: unknown) {
  const { streams, vaults, units, sources, topics, lifecycle, publicUrl } = needs
  const { userId, apiKeyId } = caller
  const definition = await withConversions(units, parseDefinition(body))
  await ownVault(vaults, userId, definition.vaultId)
  await sources.assertAllowed(definition.source)
  const { stream, changes } = streams.plan(userId, definition, apiKeyId)
  const notice = noticeOf(stream, 'created', publicUrl)
  const event = { event: 'stream.created', ...subjectOf(stream), actor: caller, notice } as const
  return {
    statusCode: 201,
    body: madeStreamBody(stream, needs),
    changes: [...changes, ...sources.planned(stream), ...lifecycle.record(event)],
    refusal: () => creationRefusal(needs, userId, [definition]),
    afterwards: async () => {
      topics.forget(userId)
      wakeFetched(sources, [stream])
    },
  }
}

/** Why new streams could not be made of good definitions. */
export async function creationRefusal(
  { vaults, streams, sources }: Pick<DataStreamRoutesNeeds, 'vaults' | 'streams' | 'sources'>,
  userId: UserId,
  definitions: readonly StreamDefinition[],
): Promise<DomainError> {
  for (const id of new Set(definitions.map(({ vaultId }) => vaultId))) {
    await ownVault(vaults, userId, id)
  }
  if (definitions.some(({ source }) => ownTopicOf(source) !== undefined)) {
    await streams.assertTopicRoom(userId)
  }
  const fetched = definitions.filter(({ source }) => keepsSecrets(source))
  if (fetched.length > 0) await sources.assertRoom(userId, fetched.length)
  const isService = definitions.some(({ type }) => type === 'service')
  if (!isService) return changedMeanwhile('the vault', 'GET /vaults/{vaultId}')
  const reason = `a user can have ${serviceStreamsMax} streams of the type service`
  return noRoom(reason, 'DELETE /streams/{streamId}')
}

/** Has new streams fetched from, where they are to be. */
export function wakeFetched(sources: StreamSources, made: readonly DataStream[]): void {
  for (const { id, source } of made) if (isFetched(source)) sources.wake(id)
}

/** What an event of a stream is about. */
export function subjectOf({ ownerId, id, name }: DataStream) {
  return { ownerId, resourceId: id, name }
}

/** The definition as its owner sees it. */
export async function shownDefinition(
  { streams, sources, publicUrl }: Pick<DataStreamRoutesNeeds, 'streams' | 'sources' | 'publicUrl'>,
  stream: DataStream,
): Promise<Static<typeof definitionSchema>> {
  const { received } = await streams.counts(stream.id)
  const known = { hasReceived: received > 0, isFailing: isFailing(sources, stream.id) }
  const webhookUrl = webhookUrlOf(stream, { sources, publicUrl })
  return definitionBody(stream, { publicUrl, webhookUrl, ...known })
}

type StatusNeeds = Pick<DataStreamRoutesNeeds, 'streams' | 'processing' | 'sources' | 'nowUs'>

/** How the stream is doing, with all that was acknowledged by now. */
export async function shownStatus(
  { streams, processing, sources, nowUs }: StatusNeeds,
  stream: DataStream,
): Promise<Static<typeof api.streamStatus>> {
  await processing.caughtUp()
  const decided: DecidedCounts = await streams.counts(stream.id)
  const [progress, problem, retention, firing] = await Promise.all([
    processing.progress(stream.id),
    processing.problem(),
    streams.retention(stream.id),
    streams.firing(stream.id),
  ])
  const source = sources.statusOf(stream.id)
  const webhook = isInbound(stream.source) ? sources.hookStatusOf(stream.id) : undefined
  const known = { stream, decided, ...progress, problem, source, webhook, retention, firing }
  return statusBody({ ...known, nowUs: nowUs() })
}

/**
 * @throws DomainError `not_found` for an unknown stream and for somebody else's alike
 *   (decisions.md#what-is-unknown)
 */
export async function ownStream(
  { streams }: { readonly streams: DataStreamStore },
  userId: DataStream['ownerId'],
  text: string,
): Promise<DataStream> {
  const id = parseId<StreamId>(text)
  const stream = id && (await streams.find(userId, id))
  if (!stream) throw notFound('stream', text)
  return stream
}
