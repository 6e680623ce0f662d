import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import {
  type RemoteWriteVersion,
  remoteWriteRecords,
  writtenOf,
} from '../../processors/remote-write.ts'
import { DomainError } from '../../src/core/errors.ts'
import { type ErrorForm, errorsIn } from '../../src/requests/http/error-handler.ts'
import { recordsByDevice } from '../fleet-push/device-parts.ts'
import { fleetOptions } from '../fleet-push/fleet-push.ts'
import { type FleetNames, targetFleet } from '../fleet-push/fleet-target.ts'
import { type KeptPartsNeeds, keepParts } from '../fleet-push/kept-parts.ts'
import { withRemedies } from '../fleet-push/protocol-remedies.ts'
import { takeAnyBytes } from '../http/http-readings.ts'
import { remoteWriteOperation } from './remote-write-api.ts'

export type RemoteWriteNeeds = KeptPartsNeeds

/** Samples that one answer names of those that were refused. */
const namedMax = 10

type WriteRequest = FastifyRequest<{ Querystring: FleetNames }>

/** Prometheus, and agents that speak its protocol, write their samples here. */
export function remoteWrite(needs: RemoteWriteNeeds): FastifyPluginAsync {
  return async (app) => {
    takeAnyBytes(app)
    app.setErrorHandler(errorsIn(errorForm))
    app.post<{ Querystring: FleetNames }>(
      '/api/v1/write',
      {
        ...fleetOptions,
        schema: remoteWriteOperation,
        config: { ...fleetOptions.config, passesSnappy: true },
      },
      (request, reply) => write(needs, request, reply),
    )
  }
}

async function write(
  needs: RemoteWriteNeeds,
  request: WriteRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const version = versionOf(request)
  const fleet = await targetFleet(needs, request, request.query)
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const sent = remoteWriteRecords(body, version)
  if (!sent.ok) throw new DomainError('malformed_body', sent.problem)
  const format = 'prometheus-remote-write'
  const message = recordsByDevice(sent.records, { deviceField: fleet.deviceField, format })
  const { rejected } = await keepParts(needs, request, { fleet, message })
  const refused = new Set(rejected.map(({ index }) => index))
  if (version === 2)
    void reply.headers(countHeaders(writtenOf(sent, (index) => !refused.has(index))))
  if (rejected.length === 0) return await reply.code(204).send()
  const named = rejected
    .slice(0, namedMax)
    .map(({ index, message: problem }) => `sample ${index + 1}: ${problem}`)
  const text = `${rejected.length} of ${message.rows} samples were refused: ${named.join('; ')}\n`
  return reply.code(400).header('content-type', 'text/plain; charset=utf-8').send(text)
}

/**
 * The version that the content type says (remote write 2.0, "Protobuf message"): a sender of a type that is not taken
 * has to be answered 415.
 *
 * @throws DomainError `unsupported_media_type`
 */
function versionOf({ headers }: WriteRequest): RemoteWriteVersion {
  const type = headers['content-type'] ?? ''
  const [mediaType = ''] = type.split(';')
  const proto = /;\s*proto\s*=\s*"?([\w.]+)/i.exec(type)?.[1] ?? 'prometheus.WriteRequest'
  if (mediaType.trim().toLowerCase() === 'application/x-protobuf') {
    if (proto === 'prometheus.WriteRequest') return 1
    if (proto === 'io.prometheus.write.v2.Request') return 2
  }
  throw new DomainError('unsupported_media_type', 'samples come by remote write 1.0 or 2.0', {
    remedy:
      'Send Content-Type: application/x-protobuf, with proto=io.prometheus.write.v2.Request for 2.0, in Snappy.',
  })
}

function countHeaders({ samples, histograms, exemplars }: ReturnType<typeof writtenOf>) {
  return {
    'x-prometheus-remote-write-samples-written': String(samples),
    'x-prometheus-remote-write-histograms-written': String(histograms),
    'x-prometheus-remote-write-exemplars-written': String(exemplars),
  }
}

const errorForm: ErrorForm = withRemedies(
  ({ statusCode, message, remedy }) => ({
    statusCode,
    contentType: 'text/plain; charset=utf-8',
    payload: `${message}. ${remedy}\n`,
  }),
  {
    malformed_body:
      'Send a WriteRequest of remote write in Protobuf, with at most 10,000 samples, compressed with the block format of Snappy.',
  },
)
