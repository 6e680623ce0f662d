import type { Compilable } from 'kysely'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { type ConfiguredNetworks, chosenNetwork } from '../../anchors/intents/chosen-network.ts'
import { conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { type AssetStreamId, parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf, pageQuery, query } from '../../requests/http/schema.ts'
import { type AnyHalf, halfOf } from '../../requests/operations/two-halves.ts'
import { assertOwned, assertWritable } from '../rights/right.ts'
import {
  type AssetStream,
  assetLedger,
  assetStreamsMax,
  type SeenAssetStream,
} from './asset-stream.ts'
import * as api from './asset-stream-api.ts'
import { assetStreamBody } from './asset-stream-body.ts'
import type { AssetStreamStore } from './asset-stream-store.ts'

export interface AssetStreamHalvesNeeds {
  readonly assetStreams: AssetStreamStore
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly networks: ConfiguredNetworks
  /** What goes with an asset stream that is deleted. */
  readonly removedWith: (id: AssetStreamId) => readonly Compilable[]
}

/**
 * What `/streams` means to a key. Whoever adds these operations has the other half: data streams, which is what they
 * mean to a bearer token.
 */
export interface AssetStreamHalves {
  readonly create: AnyHalf<'POST /streams'>
  readonly list: AnyHalf<'GET /streams'>
  readonly read: AnyHalf<'GET /streams/:streamId'>
  readonly change: AnyHalf<'PUT /streams/:streamId'>
  readonly remove: AnyHalf<'DELETE /streams/:streamId'>
}

export function assetStreamHalves(needs: AssetStreamHalvesNeeds): AssetStreamHalves {
  return { ...collectionHalves(needs), ...memberHalves(needs) }
}

function collectionHalves(needs: AssetStreamHalvesNeeds) {
  const { assetStreams, lifecycle } = needs
  return {
    create: halfOf<'POST /streams'>()({
      description: 'An asset stream. No two of a user have the same code.',
      body: api.newAssetStreamSchema,
      answers: { 201: api.assetStreamSchema },
      errors: ['conflict'],
      effect: async ({ caller, body }) => {
        const wanted = api.newAssetStream(body)
        const network = chosenNetwork(caller.apiKeyId, assetLedger, needs.networks)
        const { stream, changes } = await assetStreams.plan(caller.userId, wanted, network)
        const event = { event: 'asset_stream.created', ...toldOf(stream), actor: caller } as const
        return {
          statusCode: 201,
          body: assetStreamBody(stream),
          changes: [...changes, ...lifecycle.record(event)],
          refusal: () => creationRefusal(needs, stream),
        }
      },
    }),
    list: halfOf<'GET /streams'>()({
      description: "One's own asset streams and those that others share, oldest first, in pages.",
      query: query(pageQuery),
      answers: { 200: pageOf(api.assetStreamSchema) },
      handler: async ({ caller, query: asked }) => {
        const page = pageRequest(asked)
        const { items, total } = await assetStreams.listPage(caller.userId, sliceOf(page))
        return envelope(items.map(assetStreamBody), total, page)
      },
    }),
  }
}

function memberHalves(needs: AssetStreamHalvesNeeds) {
  const { assetStreams } = needs
  return {
    read: halfOf<'GET /streams/:streamId'>()({
      description: 'An asset stream.',
      answers: { 200: api.assetStreamSchema },
      handler: async ({ caller, params }) =>
        assetStreamBody(await visibleAssetStream(assetStreams, caller.userId, params.streamId)),
    }),
    change: halfOf<'PUT /streams/:streamId'>()({
      description:
        'The description of an asset stream. The code is what gets anchored: it stays. A permission to WRITE is enough.',
      body: api.assetStreamChangeSchema,
      answers: { 200: api.assetStreamSchema },
      handler: async ({ caller, params, body }) => {
        const { userId } = caller
        const stream = await writableAssetStream(assetStreams, userId, params.streamId)
        const { description = stream.description } = body
        if (description === stream.description) return assetStreamBody(stream)
        const event = {
          event: 'asset_stream.updated',
          ...subjectOf(stream),
          actor: caller,
        } as const
        const also = needs.lifecycle.record(event)
        await assetStreams.change(userId, stream, { change: { description }, also })
        // It may be gone by now, or the right to change it.
        return assetStreamBody(await writableAssetStream(assetStreams, userId, stream.id))
      },
    }),
    remove: halfOf<'DELETE /streams/:streamId'>()({
      description:
        'An asset stream that no vault lists, nothing is attached to, and no asset is issued of.',
      answers: { 204: noContent },
      errors: ['conflict'],
      handler: async ({ caller, params }) => {
        const stream = await ownAssetStream(assetStreams, caller.userId, params.streamId)
        return await remove(needs, stream, caller)
      },
    }),
  }
}

/**
 * @throws DomainError `not_found` for an unknown one and for somebody else's alike
 *   (decisions.md#what-is-unknown)
 */
export async function visibleAssetStream(
  assetStreams: AssetStreamStore,
  userId: UserId,
  text: string,
): Promise<SeenAssetStream> {
  const id = parseId<AssetStreamId>(text)
  const stream = id && (await assetStreams.findVisible(userId, id))
  if (!stream) throw notFound('asset stream', text)
  return stream
}

/**
 * An asset stream for whatever its owner alone may do.
 *
 * @throws DomainError `not_found`, or `insufficient_permissions` for one that is shared with the user
 */
export async function ownAssetStream(
  assetStreams: AssetStreamStore,
  userId: UserId,
  text: string,
): Promise<SeenAssetStream> {
  const stream = await visibleAssetStream(assetStreams, userId, text)
  assertOwned(stream, 'asset stream')
  return stream
}

/**
 * An asset stream for what somebody with a permission to WRITE may do, too.
 *
 * @throws DomainError `not_found`, or `insufficient_permissions` for one that the user can only see
 */
export async function writableAssetStream(
  assetStreams: AssetStreamStore,
  userId: UserId,
  text: string,
): Promise<SeenAssetStream> {
  const stream = await visibleAssetStream(assetStreams, userId, text)
  assertWritable(stream, 'asset stream')
  return stream
}

/** Why a new one could not be made. */
async function creationRefusal(
  { assetStreams }: AssetStreamHalvesNeeds,
  { ownerId, assetCode }: AssetStream,
): Promise<DomainError> {
  if (await assetStreams.hasRoom(ownerId)) {
    return new DomainError('conflict', `you have an asset stream with the code ${assetCode}`, {
      details: [{ path: 'asset_code', message: 'is the code of another asset stream of yours' }],
      remedy:
        'Choose another asset_code, or use the asset stream that has it: GET /streams lists them.',
    })
  }
  return noRoom(
    `a user can have ${assetStreamsMax} asset streams at most`,
    'DELETE /streams/{streamId}',
  )
}

async function remove(
  { assetStreams, lifecycle, removedWith }: AssetStreamHalvesNeeds,
  stream: AssetStream,
  actor: AuthenticatedCaller,
): Promise<null> {
  const event = { event: 'asset_stream.deleted', ...toldOf(stream), actor } as const
  const also = [...removedWith(stream.id), ...lifecycle.record(event)]
  if (await assetStreams.remove(stream, ...also)) return null
  await ownAssetStream(assetStreams, stream.ownerId, stream.id)
  const { message, remedy } = uses[(await assetStreams.useOf(stream)) ?? 'issued']
  throw conflict(message, remedy)
}

/** Why an asset stream cannot be deleted. */
const uses = {
  listed: {
    message: 'a vault lists the asset stream: delete that first',
    remedy:
      'Delete the vault first with DELETE /vaults/{vaultId}; GET /vaults shows which one lists it.',
  },
  attached: {
    message: 'the asset stream has attachments: delete these first',
    remedy:
      'Delete its attachments first with DELETE /attachments/{attachmentId}; GET /streams/{streamCode}/attachments lists them.',
  },
  issued: {
    message: 'the asset stream has an asset, which stays on the ledger permanently',
    remedy:
      'Keep the asset stream: what it has issued cannot be taken back. GET /streams/{streamId}/assets shows it.',
  },
} as const

/** What an event of an asset stream is about. */
function subjectOf({ ownerId, id, assetCode }: AssetStream) {
  return { ownerId, resourceId: id, name: assetCode }
}

/** What an event is about, with what receivers get to know. */
function toldOf(stream: AssetStream) {
  return {
    ...subjectOf(stream),
    notice: { streamId: stream.id, data: assetStreamBody(stream) },
  }
}
