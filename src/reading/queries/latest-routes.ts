import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { encodeCursor } from '../../core/list-cursor.ts'
import { type CursorRequest, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorQuery, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type {
  LatestPage,
  LatestQuery,
  LatestReading,
} from '../../storage/time-series/readings-query.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { pointBody } from '../../streams/data-streams/readings-text.ts'
import type { Vault } from '../../twins/vaults/vault.ts'
import { visibleVault } from '../../twins/vaults/vault-routes.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { latestSchema, vaultLatestSchema } from './latest-api.ts'
import type { QueryShare } from './query-share.ts'

/** Bytes of the readings of one answer, about. */
const bytesMax = 4 * 1024 * 1024

export interface LatestRoutesNeeds {
  readonly share: QueryShare
  readonly streams: DataStreamStore
  readonly vaults: VaultStore
  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  readonly latest: (query: LatestQuery) => Promise<LatestPage>
  readonly callerOf: CallerOf
}

const reading = {
  scope: 'data:read',
  errors: ['overloaded', 'query_too_slow', 'rate_limited', 'store_unavailable'],
} as const

/** The newest readings: of a stream, and of each stream of a vault. */
export function latestRoutes(needs: LatestRoutesNeeds): FastifyPluginAsync {
  const { share } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })

    add('GET /streams/:streamId/latest', {
      ...reading,
      takesBasic: true,
      operationId: 'readLatestReading',
      summary: 'Read the newest reading of a data stream.',
      description: 'The one with the greatest time, in any order of arrival; null without one.',
      answers: { 200: latestSchema },
      handler: async ({ caller: { userId }, params }) =>
        await share.during(userId, () => latestOfOne(needs, userId, params.streamId)),
    })

    add('GET /vaults/:vaultId/latest', {
      ...reading,
      operationId: 'readLatestOfVault',
      summary: 'Read the newest reading of each data stream of a vault.',
      description:
        'In the order in which the streams were made; those without a reading are left out.',
      query: query(cursorQuery),
      answers: { 200: vaultLatestSchema },
      handler: async ({ caller: { userId }, params, query: asked }) =>
        await share.during(userId, async () => {
          const vault = await readableVault(needs.vaults, userId, params.vaultId)
          return await latestOf(needs, vault, cursorRequest(asked))
        }),
    })
  }
}

async function latestOfOne(
  needs: LatestRoutesNeeds,
  userId: UserId,
  streamId: string,
): Promise<Static<typeof latestSchema>> {
  const stream = await ownStream(needs, userId, streamId)
  const { readings } = await needs.latest({ streamIds: [stream.id], bytesMax })
  const [newest] = readings
  return { streamId: stream.id, data: newest ? pointBody(newest.point, allOfIt) : null }
}

/**
 * A vault can be seen by whom it is shared with, or by everybody; what its streams measure is its owner's
 * (decisions.md#what-others-show).
 *
 * @throws DomainError `not_found`, `insufficient_permissions`
 */
async function readableVault(vaults: VaultStore, userId: UserId, text: string): Promise<Vault> {
  const vault = await visibleVault(vaults, userId, text)
  if (vault.ownerId === userId) return vault
  const message = 'you can see this vault, but only its owner can read the data of its streams'
  const remedy =
    'Ask its owner for the readings, or use a key of the owner; docs/sharing.md says who sees what.'
  throw new DomainError('insufficient_permissions', message, { remedy })
}

async function latestOf(
  { streams, latest }: LatestRoutesNeeds,
  vault: Vault,
  { after, limit }: CursorRequest,
): Promise<Static<typeof vaultLatestSchema>> {
  const filter = { vaultId: vault.id, tags: {} }
  const found = await streams.list(vault.ownerId, { filter, after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const { readings, covered } = await latest({ streamIds: page.map(({ id }) => id), bytesMax })
  const last = page[covered - 1]
  return {
    vaultId: vault.id,
    data: readings.map(latestBody),
    nextCursor: last && covered < found.length ? encodeCursor(last) : null,
  }
}

function latestBody({ streamId, point }: LatestReading) {
  return { streamId, ...pointBody(point, allOfIt) }
}

const allOfIt = { fields: [], withExtra: true }
