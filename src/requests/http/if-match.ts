import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { text } from './schema.ts'

/** The header of a change that is meant for one version, as a part of what an operation takes. */
export const ifMatchHeaders = {
  type: 'object',
  properties: {
    'if-match': {
      ...text,
      description:
        '`ETag` of the version that is to be changed, several of them, or `*` for any (RFC 9110, section 13.1.1).',
      examples: ['"3"'],
    },
  },
} as const

/** The header of an answer that tells the version. */
export const versionHeaders = {
  ETag: { description: 'The version, for `If-Match`.', schema: { ...text, examples: ['"3"'] } },
} as const

/** The ETag of a version: what goes by it is the definition, and not how its stream is doing. */
export function versionTag(version: number): string {
  return `"${version}"`
}

/** An entity tag of RFC 9110, section 8.8.3, between commas of which some may have nothing between them. */
const listedTag = /[ \t,]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?:,[ \t,]*|$)/y

/**
 * The tags of a header `If-Match` that can match at all: weak ones never do, as they are compared
 * strongly there. `*` where anything does.
 *
 * @throws DomainError `invalid_request`
 */
export function strongTags(header: string): '*' | readonly string[] {
  const given = header.trim()
  if (given === '*') return '*'
  const tags: string[] = []
  listedTag.lastIndex = 0
  while (listedTag.lastIndex < given.length) {
    const found = listedTag.exec(given)
    const [, weak, tag = ''] = found ?? []
    if (!found) break
    if (weak === undefined) tags.push(tag)
    if (listedTag.lastIndex === given.length) return tags
  }
  throw invalidParameter('If-Match', 'must be * or a list of ETags in double quotes')
}

/**
 * Lets a change go on that is meant for this version, or for any.
 *
 * @throws DomainError `precondition_failed`, with the version as ETag of the answer; and as `strongTags`
 */
export function assertMatch(
  version: number,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): void {
  const header = request.headers['if-match']
  if (header === undefined) return
  const tags = strongTags(header)
  const current = versionTag(version)
  if (tags === '*' || tags.includes(current)) return
  void reply.header('etag', current)
  const message = `is not of version ${version}, which is the current one`
  throw new DomainError('precondition_failed', `the If-Match header ${message}`, {
    details: [{ path: 'If-Match', message }],
  })
}
