import type { FastifyPluginAsync } from 'fastify'
import type { Judge } from '../../contracts/reading.ts'
import type { StreamSchema } from '../../contracts/stream-schema.ts'
import { DomainError } from '../../core/errors.ts'
import type { VaultId } from '../../core/ids.ts'
import { type Exchange, operationsOf } from '../../requests/operations/operation.ts'
import { ownVault } from '../../twins/vaults/vault-routes.ts'
import * as api from './bulk-api.ts'
import { parseBulk } from './bulk-creation.ts'
import { allWithConversions } from './conversions.ts'
import {
  creationRefusal,
  type DataStreamRoutesNeeds,
  subjectOf,
  wakeFetched,
} from './data-stream-routes.ts'
import { samplesOfMessages, sentMessages } from './message-samples.ts'
import { madeStreamBody, noticeOf } from './stream-body.ts'
import { proposeStream } from './stream-proposal.ts'
import { Samples, takeSamples } from './stream-samples.ts'

export interface BulkRoutesNeeds extends DataStreamRoutesNeeds {
  readonly judgeOf: (schema: StreamSchema) => Judge
}

type SentSamples =
  | Samples
  | { readonly samples?: readonly unknown[]; readonly messages?: readonly api.SampleMessage[] }

/** Bodies of samples are those of readings. */
const samplesBytesMax = 4 * 1024 * 1024

/** Many streams at once, and the schema of one from what a device sends. */
export function bulkRoutes(needs: BulkRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })

    add('POST /streams/bulk', {
      operationId: 'createStreams',
      summary: 'Create many data streams at once.',
      description:
        'One definition for many streams, or one for each: at most 1,000. All are made, or none. Tags of the definition are given to each of its streams.',
      scope: 'streams:write',
      body: api.newStreamsSchema,
      answers: { 201: api.madeStreamsSchema },
      errors: ['conflict', 'destination_not_allowed', 'not_found', 'unsupported_definition'],
      effect: (exchange) => creation(needs, exchange),
    })

    await app.register(inferRoute(needs))
  }
}

/** Its content types are samples: in a scope of its own, because others parse them. */
function inferRoute(needs: BulkRoutesNeeds): FastifyPluginAsync {
  const { judgeOf, nowUs } = needs
  return async (app) => {
    takeSamples(app)
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })

    add('POST /streams/infer', {
      operationId: 'inferStream',
      summary: 'Propose the definition of a stream from what a device sends.',
      description: [
        'Takes messages with their topics, and finds where in them readings, fields and times are. The proposal takes',
        'every message that is not named under misfits, and the next ones of the device, too: it has no limits that are',
        'only those of the samples. It can be sent to `POST /streams` with a name and a vault. Nothing is stored. In CBOR,',
        'MessagePack, NDJSON and CSV the body is what the device sends, one reading or several; the first line of',
        'CSV names its columns. Of messages a payload may be in any of these formats, or one value.',
      ].join(' '),
      scope: 'streams:write',
      takesCompressed: true,
      bodyLimit: samplesBytesMax,
      body: api.samplesBody,
      answers: { 200: api.proposalSchema },
      effect: async ({ request }) => {
        const samples = samplesOf(request.body as SentSamples | undefined, nowUs())
        const proposal = proposeStream(samples, { judgeOf, nowUs: nowUs() })
        return { statusCode: 200, body: proposal, changes: [] }
      },
    })
  }
}

/**
 * @throws DomainError `unsupported_media_type` where there is no body: without a content type nothing checks that;
 *   `invalid_request`
 */
function samplesOf(body: SentSamples | undefined, latestUs: number): Samples {
  if (body === undefined) {
    throw new DomainError('unsupported_media_type', 'there is no body, and no content type of one')
  }
  if (body instanceof Samples) return body
  const { samples, messages } = body
  if ((samples === undefined) === (messages === undefined)) {
    const message = 'either messages or samples are needed'
    throw new DomainError('invalid_request', message, { details: [{ path: 'samples', message }] })
  }
  return messages === undefined
    ? new Samples(samples ?? [])
    : samplesOfMessages(sentMessages(messages), latestUs)
}

async function creation(needs: BulkRoutesNeeds, { caller, body }: Exchange) {
  const { streams, vaults, units, sources, topics, lifecycle, publicUrl } = needs
  const { userId, apiKeyId } = caller
  const definitions = await allWithConversions(units, await parseBulk(body))
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
        actor: caller,
        notice: noticeOf(stream, 'created', publicUrl),
      }),
    ]),
    refusal: () => creationRefusal(needs, userId, definitions),
    afterwards: async () => {
      topics.forget(userId)
      wakeFetched(
        sources,
        planned.map(({ stream }) => stream),
      )
    },
  }
}
