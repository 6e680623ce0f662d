import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { changedMeanwhile, conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { ownStream, subjectOf } from './data-stream-routes.ts'
import type { DataStream, DataStreamStore } from './data-stream-store.ts'
import { rotatedSchema, rotationSchema, usualOverlapS } from './secret-rotation-api.ts'
import { inboundRulesOf } from './source-kinds.ts'
import type { StreamSources } from './stream-sources.ts'

export interface SecretRotationNeeds {
  readonly streams: DataStreamStore
  readonly sources: Pick<StreamSources, 'rotated' | 'wake'>
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** Replaces the secret that messages to a stream are signed with, while the old one stays good for a time. */
export function secretRotationRoute(needs: SecretRotationNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Data streams'] })
    add('POST /streams/:streamId/source/rotate-secret', {
      operationId: 'rotateSourceSecret',
      summary: 'Replace the secret of the webhook of a stream, with a time of overlap.',
      description:
        'Messages that are signed with the old secret are taken until the overlap ends. At most two secrets are good at a time: rotating again ends the older one.',
      scope: 'streams:write',
      body: rotationSchema,
      answers: { 200: rotatedSchema },
      errors: ['conflict'],
      effect: async ({ caller, params, body }) => {
        const stream = await ownStream(needs, caller.userId, params.streamId)
        return await rotation(needs, { stream, actor: caller }, body)
      },
    })
  }
}

interface Rotating {
  readonly stream: DataStream
  readonly actor: ReturnType<CallerOf>
}

/** @throws DomainError `conflict`, or `invalid_request` for a secret that does not suit the scheme */
async function rotation(
  { sources, lifecycle, nowUs }: SecretRotationNeeds,
  { stream, actor }: Rotating,
  { secret, overlapSeconds = usualOverlapS }: Static<typeof rotationSchema>,
) {
  const rules = inboundRulesOf(stream.source)
  if (rules === undefined)
    throw conflict(
      'the stream has no webhook',
      'Name a stream whose source has the protocol webhook; docs/inbound-webhooks.md shows how to make one.',
    )
  const problem = rules.secretProblem(rules.schemeOf(stream.source), secret)
  if (problem !== undefined) {
    const details = [{ path: 'secret', message: problem }]
    throw new DomainError('invalid_request', 'the secret is not valid', { details })
  }
  const untilUs = nowUs() + overlapSeconds * 1_000_000
  const change = await sources.rotated(stream, secret, untilUs)
  const event = { event: 'stream.updated', ...subjectOf(stream), actor } as const
  const previousUntil = overlapSeconds === 0 ? null : formatUs(untilUs)
  return {
    statusCode: 200,
    body: { streamId: stream.id, previousUntil },
    changes: [change, ...lifecycle.record(event)],
    refusal: async () => changedMeanwhile('the source', 'GET /streams/{streamId}'),
    afterwards: async () => sources.wake(stream.id),
  }
}
