import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { type Downloads, downloadErrors } from '../../files/downloads/downloads.ts'
import {
  type SignedPaths,
  type SignedQuery,
  signedQuery,
} from '../../files/signing/signed-paths.ts'
import { fileAnswers } from '../../requests/http/sent-bytes.ts'
import type { UserStore } from './user-store.ts'

export interface UserPictureRouteNeeds {
  readonly users: UserStore
  readonly downloads: Downloads
  readonly signed: SignedPaths
}

interface OneUser {
  Params: { userId: string }
  Querystring: SignedQuery
}

export function picturePath(id: UserId): string {
  return `/users/${id}/image`
}

/** The picture of a user, for those whom the user has given its address. */
export function userPictureRoute(needs: UserPictureRouteNeeds): FastifyPluginAsync {
  const { users, downloads, signed } = needs
  return async (app) => {
    app.get<OneUser>('/users/:userId/image', { schema, config }, async (request, reply) => {
      const id = parseId<UserId>(request.params.userId)
      const path = id === undefined ? '' : picturePath(id)
      const refusal = signed.refusalOf({ method: 'GET', path }, request.query)
      if (id === undefined || refusal !== undefined) {
        throw new DomainError('download_refused', `the address ${refusal ?? 'was changed'}`)
      }
      const cid = (await users.find(id))?.imageCid ?? ''
      return await downloads.sendContent({ cid, name: 'picture' }, { request, reply })
    })
  }
}

const config = { errors: ['download_refused', 'not_found', ...downloadErrors] } as const

const schema = {
  operationId: 'downloadUserPicture',
  summary: "Load a user's picture.",
  description:
    'The address, with its signature, is the only credential: it is `image_download_url` of the user, and good for 15 minutes.',
  tags: ['Users'],
  params: {
    type: 'object',
    properties: { userId: { type: 'string', format: 'uuid' } },
    required: ['userId'],
  },
  querystring: signedQuery,
  response: fileAnswers,
} as const
