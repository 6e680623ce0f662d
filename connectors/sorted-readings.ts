import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CompiledStream, DecodedMessage } from '../src/pipeline/reading.ts'
import type { Rejection } from './http-readings.ts'

/** Streams that are looked up in one go: others wait that long for their turn. */
const lookUpsPerTurn = 100

/** The readings of one stream, with their places in the message that they came in. */
export interface StreamBatch {
  readonly stream: CompiledStream
  readonly decoded: DecodedMessage
}

export interface SortedReadings {
  readonly batches: readonly StreamBatch[]
  /** Readings that are none of a stream. */
  readonly rejected: readonly Rejection[]
}

type Refusal = Omit<Rejection, 'index'>

interface Addressed {
  readonly places: number[]
  readonly readings: unknown[]
}

/**
 * Takes a message apart by the stream that each reading names with `streamId`.
 *
 * @param find a stream of the caller by its id
 */
export async function sortedByStream(
  message: DecodedMessage,
  find: (streamId: string) => Promise<CompiledStream | undefined>,
): Promise<SortedReadings> {
  const { addressed, rejected } = byAddress(message)
  await loadInTurns([...addressed.keys()], find)
  const batches: StreamBatch[] = []
  const elementsOf = onlyOnce(message.elements)
  for (const [streamId, { places, readings }] of addressed) {
    const stream = await find(streamId)
    if (stream === undefined || stream.isInternal || stream.isPaused) {
      const refusal = refusalOf(streamId, stream)
      rejected.push(...places.map((index) => ({ index, ...refusal })))
      continue
    }
    const elements = (payload: Uint8Array) => {
      const all = elementsOf(payload)
      return places.map((place) => all[place] ?? payload)
    }
    const { format } = message
    batches.push({
      stream,
      decoded: { ok: true, isBatch: true, format, readings, places, elements },
    })
  }
  return { batches, rejected }
}

/**
 * What is not at hand takes a while to load. When all is at hand, finding it takes no turn of the event
 * loop any more: nothing comes into a stream that was deleted or paused meanwhile.
 */
async function loadInTurns(
  streamIds: readonly string[],
  find: (streamId: string) => Promise<unknown>,
): Promise<void> {
  for (const [index, streamId] of streamIds.entries()) {
    if (index % lookUpsPerTurn === lookUpsPerTurn - 1) await nextTurn()
    await find(streamId)
  }
}

/** Why nothing was taken for a stream. */
function refusalOf(streamId: string, stream: CompiledStream | undefined): Refusal {
  if (stream?.isInternal) return { error: 'conflict', message: writtenByService, details: [] }
  if (stream !== undefined) return paused
  const details = [{ path: 'streamId', message: 'is no stream of yours' }]
  return { error: 'not_found', message: `no stream ${streamId.slice(0, 100)}`, details }
}

export const writtenByService = 'only the service itself writes into this stream'

const paused: Refusal = {
  error: 'stream_paused',
  message: 'the stream is paused',
  details: [],
}

function byAddress({ readings, unreadable }: DecodedMessage) {
  const addressed = new Map<string, Addressed>()
  const rejected: Rejection[] = []
  for (const [index, reading] of readings.entries()) {
    const problem = unreadable?.get(index) ?? addressProblem(reading)
    if (problem !== undefined) {
      rejected.push({ index, error: 'malformed', message: problem, details: [] })
      continue
    }
    const { streamId, ...fields } = reading as { readonly streamId: string }
    const known = addressed.get(streamId)
    if (known === undefined) addressed.set(streamId, { places: [index], readings: [fields] })
    else {
      known.places.push(index)
      known.readings.push(fields)
    }
  }
  return { addressed, rejected }
}

function addressProblem(reading: unknown): string | undefined {
  if (typeof reading !== 'object' || reading === null || Array.isArray(reading)) {
    return 'a reading must be an object'
  }
  const isAddressed = Object.hasOwn(reading, 'streamId')
  const { streamId } = reading as { readonly streamId?: unknown }
  return isAddressed && typeof streamId === 'string' ? undefined : 'streamId must name a stream'
}

/** The elements of a message, cut out when they are first asked for. */
function onlyOnce(cut: DecodedMessage['elements']): (payload: Uint8Array) => readonly Uint8Array[] {
  let elements: readonly Uint8Array[] | undefined
  return (payload) => (elements ??= cut?.(payload) ?? [payload])
}
