import type { FastifyPluginAsync } from 'fastify'
import type { RouteRegister } from '../route-description.ts'
import { openApiDocument } from './document.ts'

export interface OpenApiRoutesNeeds {
  readonly routes: RouteRegister
  readonly version: string
  readonly publicUrl: string
}

/** `GET /openapi.json`: the description of every route, this one included. */
export function openApiRoutes({ routes, ...rest }: OpenApiRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    let document = ''
    // Only then are all routes known; a route that cannot be described stops the start.
    app.addHook('onReady', async () => {
      document = JSON.stringify(openApiDocument({ routes: routes.all, ...rest }))
    })
    app.get('/openapi.json', { schema: readOpenApi }, async (_, reply) =>
      reply.type('application/json').send(document),
    )
  }
}

const readOpenApi = {
  operationId: 'readOpenApi',
  summary: 'Read this description.',
  tags: ['Operations'],
  response: {
    200: {
      description: 'An OpenAPI 3.1 document.',
      type: 'object',
      required: ['openapi', 'info', 'paths'],
      additionalProperties: true,
      examples: [{ openapi: '3.1.0', info: { title: 'Streamvault', version: '0.1.0' }, paths: {} }],
    },
  },
} as const
