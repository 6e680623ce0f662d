import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { attributesOfHeaders } from '../../processors/mapping/cloud-events.ts'
import { type DeviceNamed, deviceNamed } from '../../processors/mapping/device-name.ts'
import { contextTexts } from '../../src/contracts/context-texts.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { conflict } from '../../src/core/conflict.ts'
import { DomainError } from '../../src/core/errors.ts'
import { notFound } from '../../src/core/not-found.ts'
import { type HttpPushNeeds, openStream, pushSorted, pushTo } from '../http/http-push.ts'
import { answerMany, readingsOptions, takeBytes } from '../http/http-readings.ts'
import type { Addressing } from '../http/sorted-readings.ts'
import { withoutDevice } from './device-parts.ts'
import { deviceRefusal } from './device-refusals.ts'
import { pushToFleet, pushToFleetDevice } from './fleet-push-api.ts'
import {
  type FleetTargetNeeds,
  type FoundStream,
  streamsOfDevices,
  type TargetFleet,
  targetFleet,
} from './fleet-target.ts'
import { keepParts } from './kept-parts.ts'
import { partsOfBody } from './part-formats.ts'

export type FleetPushNeeds = FleetTargetNeeds & HttpPushNeeds & Pick<FleetTargetNeeds, 'callerOf'>

/** Options of every route that takes readings of fleets. */
export const fleetOptions = {
  ...readingsOptions,
  config: {
    ...readingsOptions.config,
    callers: ['user', 'device', 'registration'],
    errors: [...readingsOptions.config.errors, 'not_found'],
  },
} as const

interface OneDevice {
  Params: { fleetId: string; device: string }
}

/** HTTP pushes readings of the devices of a fleet. */
export function fleetPush(needs: FleetPushNeeds): FastifyPluginAsync {
  return async (app) => {
    takeBytes(app)
    const { config } = fleetOptions
    app.post<{ Params: { fleetId: string }; Querystring: { precision?: string } }>(
      '/fleets/:fleetId/data',
      { ...fleetOptions, schema: pushToFleet },
      async (request, reply) => {
        const fleet = await targetFleet(needs, request, { fleet: request.params.fleetId })
        const message = partsOfBody(request, fleet, request.query.precision)
        if (message === undefined) return await pushDocuments(needs, { request, reply }, fleet)
        const { rows, rejected, isRepeated } = await keepParts(needs, request, { fleet, message })
        if (isRepeated) void reply.header('idempotency-replayed', 'true')
        return answerMany(reply, rows, rejected)
      },
    )
    app.post<OneDevice>(
      '/fleets/:fleetId/devices/:device/data',
      {
        ...fleetOptions,
        schema: pushToFleetDevice,
        config: { ...config, errors: [...config.errors, 'conflict', 'stream_paused'] },
      },
      (request, reply) => pushToDevice(needs, request, reply),
    )
  }
}

/** Readings of one device, whose stream the address names. */
async function pushToDevice(
  needs: FleetPushNeeds,
  request: FastifyRequest<OneDevice>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { fleetId, device } = request.params
  const fleet = await targetFleet(needs, request, { fleet: fleetId })
  return await pushTo(needs, { request, reply }, async () => {
    const names = [device]
    const found = (await streamsOfDevices(needs, request, { fleet, names })).get(device)
    if (found?.stream === undefined) throw refusalError(fleet, device, found)
    return await openStream(needs, request, found.stream.streamId)
  })
}

function refusalError(
  fleet: TargetFleet,
  device: string,
  found: FoundStream | undefined,
): DomainError {
  const { error, message, remedy } = deviceRefusal(fleet, device, found)
  if (error === 'conflict') return conflict(message, remedy)
  if (error === 'not_found') return notFound('device', device)
  return new DomainError('invalid_request', message, { remedy })
}

/** Documents of any form, each of which names its device. */
async function pushDocuments(
  needs: FleetPushNeeds,
  sent: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  fleet: TargetFleet,
): Promise<FastifyReply> {
  let streams: ReadonlyMap<string, FoundStream> = new Map()
  const find = async (name: string): Promise<CompiledStream | undefined> => {
    const id = streams.get(name)?.stream?.streamId
    return id && (await needs.findStream(id))
  }
  return await pushSorted(needs, sent, {
    addressing: byDevice(fleet, nameIn(fleet, sent.request), (name) => streams.get(name)),
    async prepare(names) {
      streams = await streamsOfDevices(needs, sent.request, { fleet, names })
    },
    find,
    takesOne: true,
  })
}

/** The device that an element of a body names; of a CloudEvent in binary mode the body is the data alone. */
function nameIn({ deviceField }: TargetFleet, { headers }: FastifyRequest): DeviceNamed {
  const nameOf = deviceNamed(deviceField)
  if (headers['ce-specversion'] === undefined) return nameOf
  const event = attributesOfHeaders({ headers: contextTexts(Object.entries(headers)) })
  return (data) => nameOf(data) ?? nameOf({ ...event, data })
}

/** Each element names its device, which is a field like others. */
function byDevice(
  fleet: TargetFleet,
  nameOf: DeviceNamed,
  found: (device: string) => FoundStream | undefined,
): Addressing {
  const { message: problem, remedy } = withoutDevice(fleet.deviceField)
  return {
    addressed(reading) {
      const name = nameOf(reading)
      return name === undefined ? undefined : { name, reading }
    },
    member: fleet.deviceField,
    problem,
    remedy,
    refusal: (name, stream) => deviceRefusal(fleet, name, stream ? { stream } : found(name)),
  }
}
