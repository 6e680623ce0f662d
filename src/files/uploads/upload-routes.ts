import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import { endWithAnswer } from '../../requests/http/unread-bodies.ts'
import { type SignedPaths, type SignedQuery, signedUploadQuery } from '../signing/signed-paths.ts'
import { parseUploadId, type UploadId } from '../store/upload-id.ts'
import { takenUploadBody, takenUploadSchema } from './upload-api.ts'
import { pathOf } from './upload-urls.ts'
import type { ArrivingBody, Uploads } from './uploads.ts'

export interface UploadRoutesNeeds {
  readonly uploads: Uploads
  readonly signed: SignedPaths
}

interface OneUpload {
  Params: { uploadId: string }
  Querystring: SignedQuery
}

const config = {
  spoolsBody: true,
  takesAnyContent: true,
  errors: [
    'body_too_large',
    'conflict',
    'disk_full',
    'file_rejected',
    'files_full',
    'malformed_body',
    'overloaded',
    'rate_limited',
    'upload_refused',
  ],
} as const

const schema = {
  operationId: 'uploadFile',
  summary: 'Upload the file that a resource waits for.',
  description: [
    'The address, with its signature, is the only credential: it comes from `presigned_url`, `upload_url` or',
    '`image_upload_url` of the resource, is good for 15 minutes, and takes one file. The body is the file itself, as',
    '`curl -T FILE URL` sends it; its content type is of no matter. An upload that breaks off can be made again.',
  ].join(' '),
  tags: ['Files'],
  params: { type: 'object', properties: { uploadId: { type: 'string' } }, required: ['uploadId'] },
  querystring: signedUploadQuery,
  body: { type: 'string', format: 'binary', 'x-checked-by-handler': true },
  response: { 200: takenUploadSchema },
} as const

/** Where files come in, when they come to us and not to an object store. */
export function uploadRoutes({ uploads, signed }: UploadRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.removeAllContentTypeParsers()
    // It is read by the handler, as a stream.
    app.addContentTypeParser('*', (_request, body, done) => done(null, body))
    app.route({
      method: ['GET', 'POST', 'PATCH', 'DELETE'],
      url: '/uploads/:uploadId',
      config: { undocumented: true, takesAnyContent: true, spoolsBody: true },
      onRequest(request, reply, done) {
        void reply.header('connection', 'close')
        done(refusalOf(request, reply))
      },
      handler: async () => undefined,
    })
    app.put<OneUpload>('/uploads/:uploadId', {
      schema,
      config,
      bodyLimit: Number.MAX_SAFE_INTEGER,
      // Before anything is read of the body.
      async onRequest(request, reply) {
        // What the sender says of its type is of no matter, even if it is none.
        request.raw.headers['content-type'] = 'application/octet-stream'
        try {
          await uploads.open(admitted(signed, request))
        } catch (error) {
          uploads.noteRefusal(error)
          endWithAnswer(reply)
          throw error
        }
      },
      async handler(request, reply) {
        const id = admitted(signed, request)
        const received = await uploads.receive(id, bodyOf(request)).catch((error: unknown) => {
          // What has not arrived yet is not waited for.
          endWithAnswer(reply)
          throw asDomainError(error)
        })
        return takenUploadBody(received)
      },
    })
  }
}

/** What another method than PUT is answered: with a signature it is an attempt to use that for something else. */
function refusalOf({ method, url, query }: FastifyRequest, reply: FastifyReply): DomainError {
  const { signature } = query as SignedQuery
  if (signature !== undefined) {
    return new DomainError('upload_refused', 'the address of the upload takes PUT alone')
  }
  void reply.header('allow', 'PUT')
  return new DomainError('method_not_allowed', `there is no ${method} ${url}`)
}

/** @throws DomainError `upload_refused` */
function admitted(signed: SignedPaths, request: FastifyRequest<OneUpload>): UploadId {
  const { id } = parseUploadId(request.params.uploadId) ?? {}
  const path = id === undefined ? '' : pathOf(id)
  const refusal = signed.refusalOf({ method: 'PUT', path }, request.query)
  if (id !== undefined && refusal === undefined) return id
  throw new DomainError('upload_refused', `the address of the upload ${refusal ?? 'was changed'}`)
}

function bodyOf({ body, raw, headers, query }: FastifyRequest<OneUpload>): ArrivingBody {
  const { 'content-length': length } = headers
  return {
    bytes: (body as AsyncIterable<Uint8Array> | undefined) ?? streamOf([]),
    length: length === undefined ? undefined : Number(length),
    limit: Number(query.limit),
    breakOff: () => raw.destroy(),
  }
}

function asDomainError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new DomainError('malformed_body', 'the body was cut off', { cause: error })
  }
  return error
}
