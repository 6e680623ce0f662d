import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Judge } from '../../contracts/reading.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { DomainError } from '../../core/errors.ts'
import type { VaultId } from '../../core/ids.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import { parseBulk } from './bulk-creation.ts'
import { allWithConversions } from './conversions.ts'
import {
  creationRefusal,
  type DataStreamRoutesNeeds,
  subjectOf,
  wakeFetched,
} from './data-stream-routes.ts'
import { createStreams, inferStream } from './fleet-schemas.ts'
import { madeStreamBody, noticeOf } from './stream-body.ts'
import { proposeStream } from './stream-proposal.ts'
import { Samples, takeSamples } from './stream-samples.ts'

export interface FleetRoutesNeeds extends DataStreamRoutesNeeds {
  readonly judgeOf: (schema: StreamSchema) => Judge
}

type SentSamples = Samples | { readonly samples: readonly unknown[] }

interface InferStream {
  Body: SentSamples | undefined
}

/** Many streams at once, and the schema of one from what a device sends. */
export function fleetRoutes(needs: FleetRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.post('/streams/bulk', createStreamsOptions, (request, reply) =>
      createAll(needs, request, reply),
    )

    await app.register(inferRoute(needs))
  }
}

/** Its content types are samples: in a scope of its own, because others parse them. */
function inferRoute(needs: FleetRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    takeSamples(app)
    app.post<InferStream>('/streams/infer', inferStreamOptions, async (request, reply) => {
      const { posts, callerOf, judgeOf, nowUs } = needs
      const { userId } = callerOf(request)
      return await posts.answer({ request, reply, userId }, async () => {
        const samples = samplesOf(request.body)
        const proposal = proposeStream(samples, { judgeOf, nowUs: nowUs() })
        return { statusCode: 200, body: proposal, changes: [] }
      })
    })
  }
}

/** @throws DomainError `unsupported_media_type` where there is no body: without a content type nothing checks that. */
function samplesOf(body: SentSamples | undefined): Samples {
  if (body === undefined) {
    throw new DomainError('unsupported_media_type', 'there is no body, and no content type of one')
  }
  return body instanceof Samples ? body : new Samples(body.samples)
}

/** Bodies are those of readings. */
const inferStreamOptions = {
  schema: inferStream,
  bodyLimit: 4 * 1024 * 1024,
  config: { scope: 'streams:write', takesCompressed: true },
} as const

const createStreamsOptions = {
  schema: createStreams,
  config: {
    scope: 'streams:write',
    errors: ['conflict', 'destination_not_allowed', 'not_found', 'unsupported_definition'],
  },
} as const

async function createAll(
  needs: FleetRoutesNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { streams, vaults, units, sources, topics, lifecycle, posts, callerOf, publicUrl } = needs
  const actor = callerOf(request)
  const { userId, apiKeyId } = actor
  return await posts.answer({ request, reply, userId }, async () => {
    const definitions = await allWithConversions(units, await parseBulk(request.body))
    const vaultIds = new Set<VaultId>(definitions.map(({ vaultId }) => vaultId))
    for (const id of vaultIds) await ownVault(vaults, userId, id)
    for (const source of new Set(definitions.map((one) => one.source))) {
      await sources.assertAllowed(source)
    }
    const planned = definitions.map((definition) => streams.plan(userId, definition, apiKeyId))
    return {
      statusCode: 201,
      body: {
        streamIds: planned.map(({ stream }) => stream.id),
        streams: planned.map(({ stream }) => madeStreamBody(stream, needs)),
      },
      changes: planned.flatMap(({ stream, changes }) => [
        ...changes,
        ...sources.planned(stream),
        ...lifecycle.record({
          event: 'stream.created',
          ...subjectOf(stream),
          actor,
          notice: noticeOf(stream, 'created', publicUrl),
        }),
      ]),
      refusal: () => creationRefusal(needs, userId, definitions),
      async afterwards() {
        topics.forget(userId)
        wakeFetched(
          sources,
          planned.map(({ stream }) => stream),
        )
      },
    }
  })
}
