import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import { type Preview, previewOf, refusedPreview } from '../../../processors/preview.ts'
import type { Mapper, RefusedReading } from '../../contracts/reading.ts'
import type { TransformStep } from '../../contracts/transform-step.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type { Units } from '../units/units.ts'
import { findConversions, runnableSteps } from './conversions.ts'
import { ownStream } from './data-stream-routes.ts'
import type { DataStream, DataStreamStore } from './data-stream-store.ts'
import { schemaOf } from './definition.ts'
import { previewedSchema, previewSchema } from './preview-api.ts'
import { draftOf } from './stream-draft.ts'
import { parseTransform, transformOf } from './transform-definition.ts'

/** How far ahead of the server a reading's clock may be (decisions.md#times-of-readings). */
const futureToleranceUs = 5 * 60 * 1_000_000

/** Readings that the messages of one preview may hold together. */
const resultsMax = 1_000

export interface PreviewRouteNeeds {
  readonly streams: DataStreamStore
  readonly units: Units
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** `POST /streams/{streamId}/transform/preview` */
export function previewRoute(needs: PreviewRouteNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })
    add('POST /streams/:streamId/transform/preview', {
      operationId: 'previewTransform',
      summary: 'See what the transform of a data stream makes of readings.',
      description:
        'Stores nothing. A transform that is given takes the place of that of the stream, which stays as it is; with a `definition` ' +
        'the readings are judged as they would be after that change. Where the ' +
        'definition says where the readings of a message are, or its fields (`items`, `from`), each of the `readings` is a ' +
        'message, without a topic, headers and the like: of one that holds several readings there are several results, one behind the other.',
      scope: 'streams:read',
      body: previewedSchema,
      answers: { 200: previewSchema },
      errors: ['invalid_request', 'unsupported_definition'],
      effect: async ({ caller, params, body }) => {
        const stream = await ownStream(needs, caller.userId, params.streamId)
        const draft = await draftOf(needs.units, stream, body.definition)
        const results = await previews(needs, draft, body)
        return { statusCode: 200, body: { streamId: stream.id, results }, changes: [] }
      },
    })
  }
}

async function previews(
  needs: PreviewRouteNeeds,
  stream: DataStream,
  { readings, transform }: Static<typeof previewedSchema>,
): Promise<readonly Preview[]> {
  const schema = schemaOf(stream)
  const map = mapperOf(schema)
  const preview = previewOf(schema, await stepsFor(needs, stream, transform))
  const receipt = { receivedAtUs: needs.nowUs(), futureToleranceUs }
  const results: Preview[] = []
  for (const message of readings) {
    for (const { reading, refusal } of map === undefined
      ? [{ reading: message }]
      : found(message, map)) {
      if (results.length === resultsMax) throw tooMany()
      results.push(refusal === undefined ? preview(reading, receipt) : refusedPreview(refusal))
      // Each may take some milliseconds, and others have a turn in between.
      await nextTurn()
    }
  }
  return results
}

interface Found {
  readonly reading: unknown
  readonly refusal?: RefusedReading | undefined
}

/** What the mapping of a stream finds in a message, of which no more is known than what is in it. */
function found(message: unknown, map: Mapper): readonly Found[] {
  const decoded = { ok: true, readings: [message], isBatch: false, format: 'json' } as const
  const { readings, refused } = map(decoded, {})
  return readings.map((reading, index) => ({ reading, refusal: refused?.get(index) }))
}

function tooMany(): DomainError {
  const message = `they hold more than ${resultsMax.toLocaleString('en')} readings together`
  return new DomainError('invalid_request', message, { details: [{ path: 'readings', message }] })
}

/** @throws DomainError `invalid_request` naming what is wrong with the proposed steps */
async function stepsFor(
  { units }: PreviewRouteNeeds,
  stream: DataStream,
  proposed: unknown,
): Promise<readonly TransformStep[]> {
  if (proposed === undefined) {
    return runnableSteps(transformOf(stream.processing), stream.conversions)
  }
  const details: ErrorDetail[] = []
  const steps = parseTransform(proposed, { schema: stream.schema, path: 'transform' }, details)
  if (details.length > 0) {
    throw new DomainError('invalid_request', 'the transform is not valid', { details })
  }
  const conversions = await findConversions(units, [{ steps, path: 'transform' }])
  return runnableSteps(steps, conversions)
}
