import type { FastifyRequest } from 'fastify'
import { readingsPerMessageMax } from '../../processors/decode-batch.ts'
import type { Acceptor, RawMessage, Settled } from '../../src/contracts/connector.ts'
import type { DecodedMessage, Verdict } from '../../src/contracts/reading.ts'
import { DomainError } from '../../src/core/errors.ts'
import { type HttpPushNeeds, receiptOf, spend } from '../http/http-push.ts'
import type { Rejection } from '../http/http-push-api.ts'
import { rejectionOf } from '../http/http-readings.ts'
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
  assertTakenApart(parts)
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
  const kept = parts.map((part): Promise<readonly Rejection[]> => {
    const found = streams.get(part.device)
    const stream = found?.stream
    if (stream === undefined || stream.isInternal || stream.isPaused) {
      const refusal = deviceRefusal(fleet, part.device, found)
      return Promise.resolve(part.places.map((index) => ({ index, ...refusal })))
    }
    const context = requestContext(request, stream)
    return keptPart(needs.intake, part, { stream, source, receivedAtUs, ...context })
  })
  const refused = (await Promise.all(kept)).flat()
  return {
    rows,
    isRepeated,
    rejected: [...rejected, ...refused].toSorted((left, right) => left.index - right.index),
  }
}

const nothing = new Uint8Array()

/**
 * Refuses a message before anything of it is kept, where the rows of a device are too many for one message of its stream.
 *
 * @throws DomainError `body_too_large`
 */
function assertTakenApart(parts: readonly DevicePart[]): void {
  const large = parts.find(({ places }) => places.length > readingsPerMessageMax)
  if (large === undefined) return
  const message = `more than ${readingsPerMessageMax} readings of the device ${large.device} in one message`
  throw new DomainError('body_too_large', message)
}

/**
 * Keeps the rows of one device. No function waits here that would hold their readings until they are on disk: there are
 * thousands, and young objects that stay for so long cost the collector more than all that is done with them.
 */
function keptPart(
  intake: Acceptor,
  part: DevicePart,
  message: Omit<RawMessage, 'payload'>,
): Promise<readonly Rejection[]> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const settled: Settled = (error) => {
    if (error === undefined) resolve()
    else reject(error)
  }
  const rejections = rejectionsIn(intake, { part, message, settled })
  return promise.then(() => rejections)
}

function rejectionsIn(
  intake: Acceptor,
  {
    part,
    message,
    settled,
  }: {
    readonly part: DevicePart
    readonly message: Omit<RawMessage, 'payload'>
    readonly settled: Settled
  },
): readonly Rejection[] {
  const { payload, decoded: rows } = part.read(message.stream)
  const raw = { ...message, payload }
  if (!rows.ok) {
    // The quarantine has them as one message.
    const { verdicts } = intake.refuse(raw, rows.problem, settled)
    return part.places.flatMap((place) => rejectionsAt(() => place, verdicts))
  }
  const { map } = message.stream
  // A mapping does not say which row each of its readings comes from.
  const decoded: DecodedMessage = map ? map(rows, raw) : { ...rows, places: part.places }
  const { verdicts } = intake.acceptDecoded(raw, decoded, settled)
  return rejectionsAt((index) => part.places[map ? 0 : index] ?? 0, verdicts)
}

function rejectionsAt(
  placeOf: (index: number) => number,
  verdicts: readonly Verdict[],
): readonly Rejection[] {
  return verdicts.flatMap((verdict, index) =>
    verdict.accepted ? [] : [rejectionOf(placeOf(index), verdict)],
  )
}
