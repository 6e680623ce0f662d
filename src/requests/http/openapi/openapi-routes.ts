import type { FastifyPluginAsync } from 'fastify'
import type { RouteRegister } from '../route-description.ts'
import { docsPage } from './docs-page.ts'
import { docsStyle } from './docs-style.ts'
import { openApiDocument } from './document.ts'

export interface OpenApiRoutesNeeds {
  readonly routes: RouteRegister
  readonly version: string
  readonly publicUrl: string
}

/** `GET /openapi.json` and `GET /docs`: the description of every route, these included. */
export function openApiRoutes({ routes, ...rest }: OpenApiRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    let document = ''
    let page = ''
    // Only then are all routes known; a route that cannot be described stops the start.
    app.addHook('onReady', async () => {
      const described = openApiDocument({ routes: routes.all, ...rest })
      document = JSON.stringify(described)
      page = docsPage(described)
    })
    app.get('/openapi.json', { schema: readOpenApi }, async (_, reply) =>
      reply.type('application/json').send(document),
    )
    app.get(
      '/docs',
      { schema: readDocs, config: { contentPolicy: docsPolicy } },
      async (_, reply) => reply.type('text/html').send(page),
    )
    app.get('/docs/style.css', { config: { undocumented: true } }, async (_, reply) =>
      reply.type('text/css').send(docsStyle),
    )
  }
}

/** Nothing but our own style sheet. */
const docsPolicy =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
      properties: {
        openapi: { const: '3.1.0' },
        info: { type: 'object' },
        paths: { type: 'object' },
      },
      examples: [{ openapi: '3.1.0', info: { title: 'Streamvault', version: '0.1.0' }, paths: {} }],
    },
  },
} as const

const readDocs = {
  operationId: 'readDocs',
  summary: 'Read this description as a page.',
  tags: ['Operations'],
  response: {
    200: {
      description: 'A page of HTML.',
      content: { 'text/html': { schema: { type: 'string', examples: ['<!doctype html>'] } } },
    },
  },
} as const
