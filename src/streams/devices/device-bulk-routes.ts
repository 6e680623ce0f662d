import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { chooseType } from '../../requests/http/accept.ts'
import { rememberBody } from '../../requests/http/json-body.ts'
import { keyHeaders } from '../../requests/http/schema.ts'
import { actorOf } from '../../requests/http/server.ts'
import { type Exchange, operationsOf, secretPostOf } from '../../requests/operations/operation.ts'
import { bulkMax } from './device.ts'
import * as api from './device-api.ts'
import { parseDevices } from './device-bulk.ts'
import { type CsvRow, deviceTable, parseDeviceTable, type ShownDevice } from './device-csv.ts'
import { grantedSettings } from './device-rights.ts'
import { changedMeanwhile, type DeviceRoutesNeeds } from './device-routes.ts'
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

    const add = operationsOf(app, { ...needs, tags: ['Devices'] })

    add('POST /devices/bulk', {
      operationId: 'createDevices',
      summary: 'Make credentials for many devices at once, as JSON or as CSV.',
      description: [
        `At most ${bulkMax}. All are made, or none; then every line that is wrong is named. With`,
        '`Accept: text/csv` the answer is a table, too. In JSON each may have `streamName` in place of',
        '`streamIds`.',
      ].join(' '),
      scope: 'keys:admin',
      headers: keyHeaders,
      body: api.newDevicesBody,
      answers: { 201: api.madeDevices },
      errors: ['conflict', 'not_acceptable'],
      handler: (exchange) => createAll(needs, exchange),
    })
  }
}

async function createAll(needs: DeviceRoutesNeeds, exchange: Exchange): Promise<FastifyReply> {
  const { state, devices, directory, clock, posts, callerOf } = needs
  const { caller, request } = exchange
  const { userId: ownerId } = caller
  const type = chooseType(request.headers.accept, ['application/json', 'text/csv'])
  const post = secretPostOf(exchange)
  const presented = type === 'text/csv' ? { ...post, present: asTable } : post
  return await posts.answer(presented, async () => {
    const nowUs = clock.nowUs()
    const wanted = await parseDevices({ state, devices, caller, nowUs }, itemsOf(request.body))
    const settings = wanted.map((one) => grantedSettings(directory, caller, one))
    const { made, changes } = devices.plan(actorOf(request, callerOf), ownerId, settings)
    return {
      statusCode: 201,
      body: { devices: made.map((one) => api.bodyWithSecret(one, nowUs)) },
      changes,
      async refusal() {
        if (await devices.hasRoom(ownerId, settings.length)) return changedMeanwhile()
        return noRoom(`a user can have ${devicesOfUserMax} devices`, 'DELETE /devices/{deviceId}')
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
