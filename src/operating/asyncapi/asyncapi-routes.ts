import type { FastifyPluginAsync } from 'fastify'
import { type AsyncApiNeeds, asyncApiDocument } from './asyncapi-document.ts'

/** `GET /asyncapi.json`: the description of all that is not HTTP. */
export function asyncApiRoutes(needs: AsyncApiNeeds): FastifyPluginAsync {
  const document = JSON.stringify(asyncApiDocument(needs))
  return async (app) => {
    app.get('/asyncapi.json', { schema: readAsyncApi }, async (_, reply) =>
      reply.type('application/json').send(document),
    )
  }
}

const readAsyncApi = {
  operationId: 'readAsyncApi',
  summary: 'Read the description of MQTT and WebSockets.',
  tags: ['Operations'],
  response: {
    200: {
      description: 'An AsyncAPI 3.0 document.',
      type: 'object',
      required: ['asyncapi', 'info', 'channels'],
      additionalProperties: true,
      properties: {
        asyncapi: { const: '3.0.0' },
        info: { type: 'object' },
        channels: { type: 'object' },
      },
      examples: [
        { asyncapi: '3.0.0', info: { title: 'Streamvault', version: '0.1.0' }, channels: {} },
      ],
    },
  },
} as const
