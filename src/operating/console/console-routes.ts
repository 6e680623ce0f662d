import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { dataPolicy } from '../../requests/http/answer-headers.ts'
import { acceptedCoding } from './accepted-coding.ts'
import { type ConsoleFile, type ConsoleFiles, isFileName } from './console-files.ts'
import { missingPage, missingPagePolicy } from './missing-page.ts'

export interface ConsoleRoutesNeeds {
  readonly files: Pick<ConsoleFiles, 'all'>
}

/** Nothing but files of this service, and no text that becomes markup or a script. */
const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** Names of assets have a digest of their content in them: such a file is never another one. */
const forever = 'public, max-age=31536000, immutable'

/** May be kept, and has to be asked for each time: it names the assets of its build. */
const askedAnew = 'no-cache'

/** Paths below /console/ that are no pages: operations of the interface, with whatever method, and the folder of assets. */
const noPage = /^(?:assets|sessions?|settings)(?:\/|$)/

/**
 * The console: its page at `/` and at every path below `/console/`, and the files that it is made of. There is nothing
 * to be known in them, so that they need no credentials.
 */
export function consoleRoutes({ files }: ConsoleRoutesNeeds): FastifyPluginAsync {
  const config = { undocumented: true, contentPolicy: consolePolicy }
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const built = await files.all()
    const index = built?.get('index.html')
    if (index === undefined) return answerUnbuilt(reply)
    return await send(index, { request, reply, cacheControl: askedAnew })
  }
  const find = async (path: string) => (await files.all())?.get(path)

  return async (app) => {
    app.get('/', { config }, page)
    app.get('/console', { config }, page)
    app.get<Rest>('/console/*', { config }, async (request, reply) => {
      const path = request.params['*']
      if (noPage.test(path)) return notFound(reply)
      if (!isFileName(path) || path === 'index.html') return await page(request, reply)
      const file = await find(path)
      if (file === undefined) return notFound(reply)
      return await send(file, { request, reply, cacheControl: askedAnew })
    })
    app.get<Rest>('/console/assets/*', { config }, async (request, reply) => {
      const file = await find(`assets/${request.params['*']}`)
      if (file === undefined) return notFound(reply)
      return await send(file, { request, reply, cacheControl: forever })
    })
  }
}

interface Rest {
  readonly Params: { readonly '*': string }
}

/** Says so as every unknown path does: what a page may do is left out of it. */
function notFound(reply: FastifyReply): FastifyReply {
  void reply.header('content-security-policy', dataPolicy)
  reply.callNotFound()
  return reply
}

function answerUnbuilt(reply: FastifyReply): FastifyReply {
  return reply
    .code(503)
    .header('content-security-policy', missingPagePolicy)
    .type('text/html; charset=utf-8')
    .send(missingPage)
}

interface Sending {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly cacheControl: string
}

async function send(
  file: ConsoleFile,
  { request, reply, cacheControl }: Sending,
): Promise<FastifyReply> {
  const { etag, mediaType } = file
  // Where pages of other origins may ask, that is said already.
  const vary = [reply.getHeader('vary'), 'accept-encoding'].filter((name) => name !== undefined)
  void reply.headers({ etag, vary: vary.join(', '), 'cache-control': cacheControl })
  // Browsers warn of it where it has no effect: without TLS.
  if (request.protocol === 'https') void reply.header('cross-origin-opener-policy', 'same-origin')
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  const coding = acceptedCoding(request.headers['accept-encoding'], file.has)
  if (coding !== 'identity') void reply.header('content-encoding', coding)
  return reply.type(mediaType).send(await file.read(coding))
}

/** Whether the sender has it already (RFC 9110, section 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim())
  return tags.some((tag) => tag === '*' || `W/${tag.replace(/^W\//, '')}` === etag)
}
