import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { chooseType } from '../../requests/http/accept.ts'
import { rememberBody } from '../../requests/http/json-body.ts'
import { actorOf } from '../../requests/http/server.ts'
import { parseDevices } from './device-bulk.ts'
import { createDevices } from './device-bulk-schemas.ts'
import { type CsvRow, deviceTable, parseDeviceTable, type ShownDevice } from './device-csv.ts'
import { grantedSettings } from './device-rights.ts'
import {
  bodyWithSecret,
  changedMeanwhile,
  type DeviceRoutesNeeds,
  secretPost,
} from './device-routes.ts'
import { devicesOfUserMax } from './device-store.ts'

/** A table as it came. */
class Table {
  readonly rows: readonly CsvRow[]

  constructor(bytes: Buffer) {
    this.rows = parseDeviceTable(bytes)
  }
}

/** Many devices at once: all of them, or none. */
export function deviceBulkRoutes(needs: DeviceRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.addContentTypeParser(
      'text/csv',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, bytes: Buffer) => {
        rememberBody(request, bytes)
        return new Table(bytes)
      },
    )

    app.post(
      '/devices/bulk',
      {
        schema: createDevices,
        config: { scope: 'keys:admin', errors: ['conflict', 'not_acceptable'] },
      },
      (request, reply) => createAll(needs, request, reply),
    )
  }
}

async function createAll(
  needs: DeviceRoutesNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { state, devices, directory, clock, posts, callerOf } = needs
  const caller = callerOf(request)
  const { userId: ownerId } = caller
  const type = chooseType(request.headers.accept, ['application/json', 'text/csv'])
  const post = secretPost(needs, request, reply)
  const presented = type === 'text/csv' ? { ...post, present: asTable } : post
  return await posts.answer(presented, async () => {
    const nowUs = clock.nowUs()
    const wanted = await parseDevices({ state, devices, caller, nowUs }, itemsOf(request.body))
    const settings = wanted.map((one) => grantedSettings(directory, caller, one))
    const { made, changes } = devices.plan(actorOf(request, callerOf), ownerId, settings)
    return {
      statusCode: 201,
      body: { devices: made.map((one) => bodyWithSecret(one, nowUs)) },
      changes,
      async refusal() {
        if (await devices.hasRoom(ownerId, settings.length)) return changedMeanwhile()
        return new DomainError('conflict', `a user can have ${devicesOfUserMax} devices`)
      },
    }
  })
}

function itemsOf(body: unknown): readonly CsvRow[] {
  if (body instanceof Table) return body.rows
  if (!Array.isArray(body)) {
    throw new DomainError('invalid_request', 'the body must be an array of devices, or CSV')
  }
  return body.map((value: CsvRow['value'], index) => ({ place: String(index), value }))
}

function asTable(body: object, reply: FastifyReply): string {
  void reply.type('text/csv; charset=utf-8; header=present')
  return deviceTable((body as { readonly devices: readonly ShownDevice[] }).devices)
}
