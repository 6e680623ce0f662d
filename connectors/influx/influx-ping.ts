import type { FastifyPluginAsync } from 'fastify'

/** The version whose writes are accepted here as they are there: clients choose by it what they send. */
const spokenVersion = '1.8'

const pingOperation = {
  operationId: 'ping',
  summary: 'Find out whether the service answers, as clients of InfluxDB do.',
  description: 'Needs no credentials. `GET /health` says more.',
  tags: ['Operations'],
  querystring: { type: 'object', additionalProperties: { type: 'string' } },
  response: { 204: { description: 'It answers.', type: 'null' } },
} as const

/** Clients of InfluxDB ask whether it is there, some of them before they write. */
export const influxPing: FastifyPluginAsync = async (app) => {
  app.get('/ping', { schema: pingOperation }, async (_, reply) => {
    return await reply.code(204).header('x-influxdb-version', spokenVersion).send()
  })
}
