import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { ownStream, subjectOf } from './data-stream-routes.ts'
import type { DataStreamStore } from './data-stream-store.ts'
import { rotateSourceSecret, usualOverlapS } from './secret-rotation-schema.ts'
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

interface Rotate {
  Params: { streamId: string }
  Body: { secret: string; overlapSeconds?: number }
}

/** Replaces the secret that messages to a stream are signed with, while the old one stays good for a time. */
export function secretRotationRoute(needs: SecretRotationNeeds): FastifyPluginAsync {
  return async (app) => {
    app.post<Rotate>(
      '/streams/:streamId/source/rotate-secret',
      {
        schema: rotateSourceSecret,
        config: { scope: 'streams:write', errors: ['conflict'] },
      },
      (request, reply) => rotate(needs, request, reply),
    )
  }
}

async function rotate(
  { streams, sources, lifecycle, posts, nowUs, callerOf }: SecretRotationNeeds,
  request: FastifyRequest<Rotate>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const actor = callerOf(request)
  const { userId } = actor
  const { secret, overlapSeconds = usualOverlapS } = request.body
  return await posts.answer({ request, reply, userId }, async () => {
    const stream = await ownStream({ streams }, userId, request.params.streamId)
    const rules = inboundRulesOf(stream.source)
    if (rules === undefined) throw new DomainError('conflict', 'the stream has no webhook')
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
      refusal: async () =>
        new DomainError('conflict', 'the source was changed meanwhile: try again'),
      afterwards: async () => sources.wake(stream.id),
    }
  })
}
