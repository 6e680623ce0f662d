import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyPluginAsync } from 'fastify'
import { type Preview, previewOf } from '../../../processors/preview.ts'
import type { TransformStep } from '../../contracts/transform-step.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import { idParams, keyHeaders, listOf, record, text, uuid } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Units } from '../units/units.ts'
import { findConversions, runnableSteps } from './conversions.ts'
import { ownStream } from './data-stream-routes.ts'
import type { DataStream, DataStreamStore } from './data-stream-store.ts'
import { schemaOf } from './definition.ts'
import { parseTransform, transformOf } from './transform-definition.ts'

/** Readings of one preview: each step of each is shown. */
const readingsMax = 100

/** How far ahead of the server a reading's clock may be (decisions.md#times-of-readings). */
const futureToleranceUs = 5 * 60 * 1_000_000

export interface PreviewRouteNeeds {
  readonly streams: DataStreamStore
  readonly units: Units
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

interface PreviewRequest {
  Params: { streamId: string }
  Body: { readonly readings: readonly unknown[]; readonly transform?: unknown }
}

const fieldsAfterStep = { type: 'object', additionalProperties: true } as const

const previewTransform = {
  operationId: 'previewTransform',
  summary: 'See what the transform of a data stream makes of readings.',
  description:
    'Stores nothing. A transform that is given takes the place of that of the stream, which stays as it is.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  headers: keyHeaders,
  body: record(
    {
      readings: { type: 'array', minItems: 1, maxItems: readingsMax, items: {} },
      transform: { type: 'array', description: 'As in `processing`.', items: {} },
    },
    {
      optional: ['transform'],
      examples: [{ readings: [{ timestamp: '2026-01-31T10:00:00Z', temperature: 21.5 }] }],
    },
  ),
  response: {
    200: record({
      streamId: uuid,
      results: listOf(
        record(
          {
            status: { enum: ['stored', 'filtered', 'refused'] },
            steps: listOf(fieldsAfterStep, { description: 'The fields after each step.' }),
            reason: { ...text, description: 'Of a refused reading; as in the quarantine.' },
            message: text,
            details: listOf(errorDetail),
          },
          { optional: ['reason', 'message', 'details'] },
        ),
      ),
    }),
  },
} as const

/** `POST /streams/{streamId}/transform/preview` */
export function previewRoute(needs: PreviewRouteNeeds): FastifyPluginAsync {
  const { posts, nowUs, callerOf } = needs
  return async (app) => {
    app.post<PreviewRequest>(
      '/streams/:streamId/transform/preview',
      { schema: previewTransform, config: { scope: 'streams:read', errors: ['invalid_request'] } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const stream = await ownStream(needs, userId, request.params.streamId)
          const { readings, transform } = request.body
          const preview = previewOf(schemaOf(stream), await stepsFor(needs, stream, transform))
          const receipt = { receivedAtUs: nowUs(), futureToleranceUs }
          const results: Preview[] = []
          for (const reading of readings) {
            results.push(preview(reading, receipt))
            // Each may take some milliseconds, and others have a turn in between.
            await nextTurn()
          }
          return { statusCode: 200, body: { streamId: stream.id, results }, changes: [] }
        })
      },
    )
  }
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
