import type { FastifyRequest } from 'fastify'
import type { Acceptor, MessageOutcome, RawMessage } from '../../src/contracts/connector.ts'
import type { DecodedMessage, Verdict } from '../../src/contracts/reading.ts'
import { type HttpPushNeeds, receiptOf, spend } from '../http/http-push.ts'
import type { Rejection } from '../http/http-push-api.ts'
import { durable, rejectionOf } from '../http/http-readings.ts'
import { requestContext } from '../http/request-context.ts'
import type { DevicePart, MessageParts } from './device-parts.ts'
import { deviceRefusal } from './device-refusals.ts'
import { type FleetTargetNeeds, streamsOfDevices, type TargetFleet } from './fleet-target.ts'

export type KeptPartsNeeds = FleetTargetNeeds & HttpPushNeeds

/** What became of the rows of a message: all that are not rejected are on disk. */
export interface KeptRows {
  readonly rows: number
  /** In the order of their places. */
  readonly rejected: readonly Rejection[]
  /** Whether the request came before: its rows have the times of receipt that they had then. */
  readonly isRepeated: boolean
}

/**
 * Keeps a message, each device's part of it in the stream of the device. Resolves when all of it is on disk.
 *
 * @throws DomainError when it is not
 */
export async function keepParts(
  needs: KeptPartsNeeds,
  request: FastifyRequest,
  { fleet, message }: { readonly fleet: TargetFleet; readonly message: MessageParts },
): Promise<KeptRows> {
  const { parts, rejected, rows } = message
  needs.assertReady()
  spend(needs, request, rows)
  const { receivedAtUs, isRepeated } = await receiptOf(needs, request, {
    payload: Buffer.isBuffer(request.body) ? request.body : nothing,
    readings: message.placesEnd,
    streamId: 'several',
  })
  const names = new Set(parts.map(({ device }) => device))
  const streams = await streamsOfDevices(needs, request, { fleet, names })
  const source = `http ${request.ip}`
  // All are accepted in one turn, so that they are committed together.
  const kept = parts.map(async (part): Promise<readonly Rejection[]> => {
    const found = streams.get(part.device)
    const stream = found?.stream
    if (stream === undefined || stream.isInternal || stream.isPaused) {
      const refusal = deviceRefusal(fleet, part.device, found)
      return part.places.map((index) => ({ index, ...refusal }))
    }
    const { payload, decoded } = part.read(stream)
    const context = requestContext(request, stream)
    const raw = { stream, payload, source, receivedAtUs, ...context }
    return await keptPart(needs.intake, { part, raw, decoded })
  })
  const refused = (await Promise.all(kept)).flat()
  return {
    rows,
    isRepeated,
    rejected: [...rejected, ...refused].toSorted((left, right) => left.index - right.index),
  }
}

const nothing = new Uint8Array()

async function keptPart(
  intake: Acceptor,
  {
    part: { places },
    raw,
    decoded: rows,
  }: {
    readonly part: DevicePart
    readonly raw: RawMessage
    readonly decoded: ReturnType<DevicePart['read']>['decoded']
  },
): Promise<readonly Rejection[]> {
  if (!rows.ok) {
    const { verdicts } = await refused(intake, raw, rows.problem)
    return rejectionsOf(verdicts, (index) => places[index] ?? 0)
  }
  const { map } = raw.stream
  // A mapping does not say which row each of its readings comes from.
  const decoded: DecodedMessage = map ? map(rows, raw) : { ...rows, places }
  const { verdicts } = await durable(intake, raw, decoded)
  return rejectionsOf(verdicts, (index) => (map ? places[0] : places[index]) ?? 0)
}

async function refused(
  intake: Acceptor,
  message: RawMessage,
  problem: string,
): Promise<MessageOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const outcome = intake.refuse(message, problem, (error) => {
    if (error === undefined) resolve()
    else reject(error)
  })
  await promise
  return outcome
}

function rejectionsOf(
  verdicts: readonly Verdict[],
  placeOf: (index: number) => number,
): readonly Rejection[] {
  return verdicts.flatMap((verdict, index) =>
    verdict.accepted ? [] : [rejectionOf(placeOf(index), verdict)],
  )
}
