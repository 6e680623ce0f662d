import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Content-Security-Policy of a page, in place of the one that allows nothing. */
    readonly contentPolicy?: string
  }
}

/** An answer is data: were a browser to take it for a page, it could do nothing. */
export const dataPolicy = "default-src 'none'; frame-ancestors 'none'"

/** A year, which is the least that browsers' preload lists ask for. */
const strictTransport = 'max-age=31536000'

/**
 * Headers that every answer has; a handler that knows better sets its own.
 *
 * @param isTls whether to tell browsers never to come without TLS again
 */
export function answerHeaders(isTls: boolean) {
  const common = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    ...(isTls && { 'strict-transport-security': strictTransport }),
  }
  const ofData = { ...common, 'content-security-policy': dataPolicy }
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    const { contentPolicy } = request.routeOptions.config
    reply.headers(
      contentPolicy === undefined
        ? ofData
        : { ...common, 'content-security-policy': contentPolicy },
    )
    done()
  }
}
