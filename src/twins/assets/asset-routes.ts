import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { type ConfiguredNetworks, chosenNetwork } from '../../anchors/intents/chosen-network.ts'
import { changedMeanwhile, conflict } from '../../core/conflict.ts'
import { type AssetId, parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { pageOf, pageQuery, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { AssetStream, SeenAssetStream } from '../asset-streams/asset-stream.ts'
import { ownAssetStream, visibleAssetStream } from '../asset-streams/asset-stream-routes.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { completedStatus } from '../progress/progress.ts'
import { type Asset, assetsMax } from './asset.ts'
import * as api from './asset-api.ts'
import { assetBody } from './asset-body.ts'
import { eventOfAsset } from './asset-events.ts'
import type { AssetStore } from './asset-store.ts'

export interface AssetRoutesNeeds {
  readonly assetStreams: AssetStreamStore
  readonly assets: AssetStore
  readonly networks: ConfiguredNetworks
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** What is issued for asset streams. */
export function assetRoutes(needs: AssetRoutesNeeds): FastifyPluginAsync {
  const { assetStreams, assets } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Streams'] })
    addCreation(add, needs)

    add('GET /streams/:streamId/assets', {
      operationId: 'listAssets',
      summary: 'List the assets of an asset stream.',
      description: 'The oldest first. One of them is alive at most; the others have failed.',
      scope: 'streams:read',
      query: query(pageQuery),
      answers: { 200: pageOf(api.assetSchema) },
      handler: async ({ caller, params, query: asked }) => {
        const stream = await visibleAssetStream(assetStreams, caller.userId, params.streamId)
        const page = pageRequest(asked)
        const { items, total } = await assets.listPage(stream.id, sliceOf(page))
        return envelope(items.map(assetBody), total, page)
      },
    })

    add('GET /streams/:streamId/assets/:assetId', {
      operationId: 'readAsset',
      summary: 'Read an asset.',
      scope: 'streams:read',
      answers: { 200: api.assetSchema },
      handler: async ({ caller, params }) => {
        return assetBody((await visibleAsset(needs, caller.userId, params)).asset)
      },
    })
  }
}

function addCreation(add: AddOperation, needs: AssetRoutesNeeds): void {
  add('POST /streams/:streamId/assets', {
    operationId: 'createAsset',
    summary: 'Issue the asset of an asset stream.',
    description:
      'All of it is issued at once, and never more, by the owner of the stream alone. A stream has one asset; where that has failed, another one can be made.',
    scope: 'streams:write',
    body: api.newAssetSchema,
    answers: { 201: api.assetSchema },
    errors: ['conflict'],
    effect: async ({ caller, params, body }) => {
      const find = () => ownAssetStream(needs.assetStreams, caller.userId, params.streamId)
      const stream = await find()
      await assertIssuable(needs, stream)
      return await creation(needs, { caller, stream, body, find })
    },
  })
}

const anotherStream =
  'Make another asset stream with POST /streams; GET /streams/{streamId}/assets shows what this one has issued.'

interface Creation {
  readonly caller: ReturnType<CallerOf>
  readonly stream: AssetStream
  readonly body: Static<typeof api.newAssetSchema>
  /** The asset stream as it is now. */
  readonly find: () => Promise<AssetStream>
}

async function creation(needs: AssetRoutesNeeds, { caller, stream, body, find }: Creation) {
  const { assets, lifecycle } = needs
  const { ledger = stream.ledger, ...wanted } = api.newAsset(body)
  const network = chosenNetwork(caller.apiKeyId, ledger, needs.networks)
  const { asset, changes } = await assets.plan(stream, { ...wanted, ledger, network })
  const event = eventOfAsset(asset, { word: 'created', name: stream.assetCode, actor: caller })
  return {
    statusCode: 201,
    body: assetBody(asset),
    changes: [...changes, ...lifecycle.record(event)],
    refusal: async () => {
      const now = await find()
      await assertIssuable(needs, now)
      return (await assets.hasRoom(now.id))
        ? changedMeanwhile('the asset stream', 'GET /streams/{streamId}')
        : conflict(`an asset stream can have ${assetsMax} assets at most`, anotherStream)
    },
  }
}

/**
 * Whether an asset can be issued of a stream, as far as it can be told before.
 *
 * @throws DomainError `conflict`
 */
async function assertIssuable(
  { assets }: AssetRoutesNeeds,
  { id, status }: AssetStream,
): Promise<void> {
  if (status !== completedStatus) {
    throw conflict(
      `its status is ${status}: an asset is issued of one that is ${completedStatus}`,
      `Wait until GET /streams/{streamId} says ${completedStatus}; after ERROR, POST /streams/{streamId}/retry tries again.`,
    )
  }
  if (await assets.isAliveOf(id)) throw conflict('it has an asset already', anotherStream)
}

/** @throws DomainError `not_found` */
export async function visibleAsset(
  { assetStreams, assets }: Pick<AssetRoutesNeeds, 'assetStreams' | 'assets'>,
  userId: UserId,
  params: { readonly streamId: string; readonly assetId: string },
): Promise<{ readonly stream: SeenAssetStream; readonly asset: Asset }> {
  const stream = await visibleAssetStream(assetStreams, userId, params.streamId)
  const id = parseId<AssetId>(params.assetId)
  const asset = id && (await assets.find(stream.id, id))
  if (!asset) throw notFound('asset', params.assetId)
  return { stream, asset }
}
