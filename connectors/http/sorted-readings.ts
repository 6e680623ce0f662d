import { setImmediate as nextTurn } from 'node:timers/promises'
import { isSelfDescribing, textMemberOf } from '../../processors/decode.ts'
import type { CompiledStream, DecodedMessage } from '../../src/contracts/reading.ts'
import { passSources } from '../../src/core/number-sources.ts'
import type { Rejection } from './http-push-api.ts'

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
  /** What is wrong with those of them that cannot be read, by their index here. */
  readonly unreadable: Map<number, string>
}

/**
 * Takes a message apart by the stream that each reading names with `streamId`. One that cannot be read, but says
 * so once, is refused by that stream, and kept there.
 *
 * @param payload the bytes of the message
 * @param find a stream of the caller by its id
 */
export async function sortedByStream(
  { decoded: message, payload }: { readonly decoded: DecodedMessage; readonly payload: Uint8Array },
  find: (streamId: string) => Promise<CompiledStream | undefined>,
): Promise<SortedReadings> {
  const elementsOf = onlyOnce(message.elements)
  const { addressed, rejected } = byAddress(message, () => elementsOf(payload))
  await loadInTurns([...addressed.keys()], find)
  const batches: StreamBatch[] = []
  for (const [streamId, { places, readings, unreadable }] of addressed) {
    const stream = await find(streamId)
    if (stream === undefined || stream.isInternal || stream.isPaused) {
      const refusal = refusalOf(streamId, stream)
      rejected.push(...places.map((index) => ({ index, ...refusal })))
      continue
    }
    const elements = (bytes: Uint8Array) => {
      const all = elementsOf(bytes)
      return places.map((place) => all[place] ?? bytes)
    }
    const { format } = message
    batches.push({
      stream,
      decoded: { ok: true, isBatch: true, format, readings, unreadable, places, elements },
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

function byAddress(
  { readings, unreadable, format }: DecodedMessage,
  elements: () => readonly Uint8Array[],
) {
  const addressed = new Map<string, Addressed>()
  const rejected: Rejection[] = []
  const add = (streamId: string, index: number, reading: unknown, problem?: string) => {
    const known = addressed.get(streamId) ?? nothingYet()
    addressed.set(streamId, known)
    if (problem !== undefined) known.unreadable.set(known.places.length, problem)
    known.places.push(index)
    known.readings.push(reading)
  }
  for (const [index, reading] of readings.entries()) {
    const unread = unreadable?.get(index)
    const problem = unread ?? addressProblem(reading)
    if (problem === undefined) {
      const { streamId, ...fields } = reading as { readonly streamId: string }
      passSources(reading as object, fields)
      add(streamId, index, fields)
      continue
    }
    const element = unread === undefined ? undefined : elements()[index]
    const streamId = element && isSelfDescribing(format) && textMemberOf(format, element, address)
    if (typeof streamId === 'string') add(streamId, index, undefined, problem)
    else rejected.push({ index, error: 'malformed', message: problem, details: [] })
  }
  return { addressed, rejected }
}

function nothingYet(): Addressed {
  return { places: [], readings: [], unreadable: new Map() }
}

/** The member of a reading that names its stream. */
const address = 'streamId'

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
