import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../core/errors.ts'
import { parseId, type StreamId } from '../core/ids.ts'
import { formatUs } from '../core/time.ts'
import type { CallerOf } from '../http/server.ts'
import { requireBearer } from '../http/server.ts'
import type { StoredCounts } from '../time-series/time-series-store.ts'
import type { VaultStore } from '../vaults/vault-store.ts'
import { createStream, readStreamStatus } from './data-stream-schemas.ts'
import type { DataStream, DataStreamStore, DecidedCounts } from './data-stream-store.ts'
import { parseDefinition } from './definition.ts'
import { statusBody } from './stream-status.ts'

/** What is known right of the journal about one stream. */
export interface StreamProgressSource {
  /** Waits, within bounds, until what is acknowledged by now has been counted. */
  caughtUp(): Promise<void>
  progress(id: StreamId): Promise<{
    readonly counts: StoredCounts
    readonly storedPerSecond: number
  }>
  /** What keeps readings from being kept or stored now, or nothing. */
  problem(): Promise<string | undefined>
}

export interface DataStreamRoutesNeeds {
  readonly streams: DataStreamStore
  readonly vaults: VaultStore
  readonly processing: StreamProgressSource
  readonly callerOf: CallerOf
  readonly publicUrl: string
  readonly nowUs: () => number
}

export function dataStreamRoutes(needs: DataStreamRoutesNeeds): FastifyPluginAsync {
  const { streams, vaults, callerOf } = needs
  return async (app) => {
    app.post('/streams', createStreamOptions, async (request, reply) => {
      const caller = callerOf(request)
      requireBearer(caller, 'creating a data stream')
      const definition = parseDefinition(request.body)
      if (!(await vaults.findOwn(caller.userId, definition.vaultId))) {
        throw new DomainError('not_found', `no vault ${definition.vaultId}`)
      }
      const stream = await streams.create(caller.userId, definition)
      return reply.code(201).send(streamBody(stream, needs.publicUrl))
    })

    app.get<{ Params: { streamId: string } }>(
      '/streams/:streamId/status',
      { schema: readStreamStatus, config: { scope: 'streams:read' } },
      async (request) => {
        const stream = await ownStream(needs, callerOf(request).userId, request.params.streamId)
        await needs.processing.caughtUp()
        const decided: DecidedCounts = await streams.counts(stream.id)
        const [progress, problem] = await Promise.all([
          needs.processing.progress(stream.id),
          needs.processing.problem(),
        ])
        return statusBody({ stream, decided, ...progress, problem, nowUs: needs.nowUs() })
      },
    )
  }
}

const createStreamOptions = {
  schema: createStream,
  config: { scope: 'streams:write', errors: ['not_found', 'unsupported_definition'] },
} as const

/** @throws DomainError `not_found` for an unknown stream and for somebody else's alike (D5) */
export async function ownStream(
  { streams }: { readonly streams: DataStreamStore },
  userId: DataStream['ownerId'],
  text: string,
): Promise<DataStream> {
  const id = parseId<StreamId>(text)
  const stream = id && (await streams.find(userId, id))
  if (!stream) throw new DomainError('not_found', `no stream ${text}`)
  return stream
}

function streamBody(stream: DataStream, publicUrl: string): object {
  return {
    streamId: stream.id,
    name: stream.name,
    vaultId: stream.vaultId,
    type: stream.type,
    status: 'created',
    endpoint: `${publicUrl}/streams/${stream.id}/data`,
    createdAt: formatUs(stream.createdAtUs),
  }
}
