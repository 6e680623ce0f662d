import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { errorsIn } from '../../src/requests/http/error-handler.ts'
import { fleetOptions } from '../fleet-push/fleet-push.ts'
import { type FleetNames, targetFleet } from '../fleet-push/fleet-target.ts'
import { type KeptPartsNeeds, type KeptRows, keepParts } from '../fleet-push/kept-parts.ts'
import { partsOfLines } from '../fleet-push/part-formats.ts'
import { takeAnyBytes } from '../http/http-readings.ts'
import { errorOfV1, errorOfV2 } from './influx-errors.ts'
import { writeV1, writeV2 } from './influx-write-api.ts'

export type InfluxWriteNeeds = KeptPartsNeeds

/** Lines that one answer names of those that were refused. */
const namedMax = 10

interface WriteQuery extends FleetNames {
  readonly precision?: string
}

/** Clients of InfluxDB write lines here, as they would there. */
export function influxWrite(needs: InfluxWriteNeeds): FastifyPluginAsync {
  return async (app) => {
    await app.register(async (v1) => {
      takeAnyBytes(v1)
      v1.setErrorHandler(errorsIn(errorOfV1))
      v1.post<{ Querystring: WriteQuery }>(
        '/write',
        { ...fleetOptions, schema: writeV1 },
        async (request, reply) => {
          const kept = await write(needs, request)
          if (kept.rejected.length === 0) return await reply.code(204).send()
          return partial(reply, { error: partialWrite(kept) })
        },
      )
    })
    await app.register(async (v2) => {
      takeAnyBytes(v2)
      v2.setErrorHandler(errorsIn(errorOfV2))
      v2.post<{ Querystring: WriteQuery }>(
        '/api/v2/write',
        { ...fleetOptions, schema: writeV2 },
        async (request, reply) => {
          const kept = await write(needs, request)
          if (kept.rejected.length === 0) return await reply.code(204).send()
          return partial(reply, { code: 'invalid', message: partialWrite(kept) })
        },
      )
    })
  }
}

async function write(
  needs: InfluxWriteNeeds,
  request: FastifyRequest<{ Querystring: WriteQuery }>,
): Promise<KeptRows> {
  const fleet = await targetFleet(needs, request, request.query)
  const payload = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const message = partsOfLines(payload, { ...fleet, precision: request.query.precision })
  return await keepParts(needs, request, { fleet, message })
}

function partial(reply: FastifyReply, body: object): FastifyReply {
  return reply.code(400).header('content-type', 'application/json').send(JSON.stringify(body))
}

/** As InfluxDB says it: clients look for the first words, and for how many lines were dropped. */
function partialWrite({ rows, rejected }: KeptRows): string {
  const named = rejected
    .slice(0, namedMax)
    .map(({ index, message }) => `line ${index + 1}: ${message}`)
  const more = rejected.length > namedMax ? `; and ${rejected.length - namedMax} more` : ''
  return `partial write: ${named.join('; ')}${more} dropped=${rejected.length} of ${rows}`
}
