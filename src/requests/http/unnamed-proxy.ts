import type {
  FastifyBaseLogger,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'

/**
 * An onRequest hook that says once that requests come through a proxy which the settings do not name.
 * All callers behind it then have one address, so that ten wrong secrets of one of them close a key to
 * all of them.
 */
export function noticeUnnamedProxy(logger: FastifyBaseLogger) {
  let isLogged = false
  return (
    { headers, ip, socket }: FastifyRequest,
    _: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void => {
    // An address that is trusted is never taken for that of the caller.
    if (!isLogged && headers['x-forwarded-for'] !== undefined && ip === socket.remoteAddress) {
      isLogged = true
      logger.warn(
        { address: ip },
        'X-Forwarded-For comes from an address that STREAMVAULT_TRUST_PROXY does not name: if that is your proxy, name it, as all callers behind it count as one for the limits of failed logins',
      )
    }
    done()
  }
}
