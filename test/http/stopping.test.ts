import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { RemoteError, ThreadEnded } from '../../src/core/threads/rpc.ts'
import { handleError } from '../../src/requests/http/error-handler.ts'

test.each([
  ['503, to be asked again, when its thread was told to end', new ThreadEnded('over'), 503],
  ['500 when its thread has failed', new RemoteError('over'), 500],
])('a request that goes on while the service stops is answered %s', async (_, error, status) => {
  const app = Fastify()
  app.setErrorHandler(handleError)
  app.get('/', async () => {
    throw error
  })

  const { statusCode } = await app.inject('/')

  expect(statusCode).toBe(status)
})
