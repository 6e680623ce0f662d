import { setImmediate as nextTurn } from 'node:timers/promises'
import { isSelfDescribing, textMemberOf } from '../../processors/decode.ts'
import { readingsPerMessageMax } from '../../processors/decode-batch.ts'
import type { MessageContext } from '../../src/contracts/mapping.ts'
import type { CompiledStream, DecodedMessage } from '../../src/contracts/reading.ts'
import { remedyOf } from '../../src/core/errors.ts'
import { passSources } from '../../src/core/number-sources.ts'
import type { Rejection } from './http-push-api.ts'
import { mapElements, newRoom } from './mapped-elements.ts'

/** Streams that are looked up in one go: others wait that long for their turn. */
const lookUpsPerTurn = 100

/** The readings of one stream, with their places in the message that they came in. */
export interface StreamBatch {
  readonly stream: CompiledStream
  readonly decoded: DecodedMessage
  /** What is known of the message beside its bytes. */
  readonly context: MessageContext
  /** The place in the message of the element that each reading comes from. */
  readonly elementOf: readonly number[]
}

export interface SortedReadings<Receipt> {
  readonly batches: readonly StreamBatch[]
  readonly receipt: Receipt
  /** Readings that are none of a stream. */
  readonly rejected: readonly Rejection[]
}

export type Refusal = Omit<Rejection, 'index'>

interface Addressed {
  readonly places: number[]
  readonly readings: unknown[]
  /** What is wrong with those of them that cannot be read, by their index here. */
  readonly unreadable: Map<number, string>
}

/** How an element of a message says whose it is. */
export interface Addressing {
  /** The name of its stream in a reading, and the reading as the stream takes it; undefined: it names none. */
  readonly addressed: (
    reading: object,
  ) => { readonly name: string; readonly reading: object } | undefined
  /** The member that has the name, where it is one: it is looked for in what cannot be read as well. */
  readonly member: string | undefined
  /** What is wrong with an element that names no stream. */
  readonly problem: string
  readonly remedy: string
  /** Why nothing was taken of an element. */
  readonly refusal: (name: string, stream: CompiledStream | undefined) => Refusal
}

interface SortingNeeds<Receipt> {
  readonly addressing: Addressing
  /** What has to be done before streams are looked up by their names. */
  readonly prepare?: (names: readonly string[]) => Promise<void>
  /** A stream of the caller by its name. */
  readonly find: (name: string) => Promise<CompiledStream | undefined>
  /**
   * Takes a time of receipt.
   *
   * @param spare readings more that there may turn out to be
   */
  readonly receive: (spare: number) => Promise<Receipt>
  /** It may wait for the disk. */
  readonly mayWait: boolean
  readonly contextFor: (stream: CompiledStream) => MessageContext
}

/**
 * Takes a message apart by the stream that each element names. One that cannot be read, but says
 * so once, is refused by that stream, and kept there. Of a stream that has a mapping each element is a message, which may
 * hold several readings.
 */
export async function sortedByStream<Receipt>(
  { decoded: message, payload }: { readonly decoded: DecodedMessage; readonly payload: Uint8Array },
  { addressing, prepare, find, receive, mayWait, contextFor }: SortingNeeds<Receipt>,
): Promise<SortedReadings<Receipt>> {
  const elementsOf = onlyOnce(message.elements)
  const { addressed, rejected } = byAddress(message, addressing, () => elementsOf(payload))
  await prepare?.([...addressed.keys()])
  const isMapped = await loadInTurns([...addressed.keys()], find)
  const receipt = await receive(isMapped ? Math.min(payload.byteLength, readingsPerMessageMax) : 0)
  if (mayWait) await loadInTurns([...addressed.keys()], find)
  const batches: StreamBatch[] = []
  const places = new Places(message.readings.length)
  for (const [streamId, of] of addressed) {
    const stream = await find(streamId)
    if (stream === undefined || stream.isInternal || stream.isPaused) {
      const refusal = addressing.refusal(streamId, stream)
      rejected.push(...of.places.map((index) => ({ index, ...refusal })))
      continue
    }
    const batch = { ...of, message, elementsOf }
    const context = stream.map === undefined ? nothing : contextFor(stream)
    batches.push({ stream, context, ...places.placed(batchOf(batch), { stream, context }) })
  }
  return { batches, rejected, receipt }
}

const nothing: MessageContext = {}

function batchOf({
  places,
  readings,
  unreadable,
  message: { format },
  elementsOf,
}: Addressed & {
  readonly message: DecodedMessage
  readonly elementsOf: (payload: Uint8Array) => readonly Uint8Array[]
}) {
  const elements = (bytes: Uint8Array) => {
    const all = elementsOf(bytes)
    return places.map((place) => all[place] ?? bytes)
  }
  return { ok: true, isBatch: true, format, readings, unreadable, places, elements } as const
}

/** Places of all readings of a message, by which their times of receipt stay distinct. */
class Places {
  readonly #room = newRoom()
  /** The next one behind those of the elements: there are the second and further readings of one. */
  #next: number

  constructor(elements: number) {
    this.#next = elements
  }

  placed(
    batch: ReturnType<typeof batchOf>,
    {
      stream: { map },
      context,
    }: { readonly stream: CompiledStream; readonly context: MessageContext },
  ): Pick<StreamBatch, 'decoded' | 'elementOf'> {
    if (map === undefined) return { decoded: batch, elementOf: batch.places }
    const { decoded, elementOf } = mapElements(batch, map, { context, room: this.#room })
    const elements = elementOf.map((element) => batch.places[element] ?? 0)
    const places = elements.map((place, index) =>
      index > 0 && elements[index - 1] === place ? this.#next++ : place,
    )
    return { decoded: { ...decoded, places }, elementOf: elements }
  }
}

/**
 * What is not at hand takes a while to load. When all is at hand, finding it takes no turn of the event
 * loop any more: nothing comes into a stream that was deleted or paused meanwhile.
 *
 * @returns whether one of the streams has a mapping
 */
async function loadInTurns(
  streamIds: readonly string[],
  find: (streamId: string) => Promise<CompiledStream | undefined>,
): Promise<boolean> {
  let isMapped = false
  for (const [index, streamId] of streamIds.entries()) {
    if (index % lookUpsPerTurn === lookUpsPerTurn - 1) await nextTurn()
    if ((await find(streamId))?.map !== undefined) isMapped = true
  }
  return isMapped
}

/** Why nothing was taken for a stream by its id. */
function refusalOf(streamId: string, stream: CompiledStream | undefined): Refusal {
  if (stream !== undefined) return closedRefusal(stream)
  const details = [{ path: 'streamId', message: 'is not a stream of yours' }]
  const message = `no stream ${streamId.slice(0, 100)}`
  return { error: 'not_found', message, remedy: remedyOf('not_found'), details }
}

/** Why nothing was taken for a stream that there is. */
export function closedRefusal({ isInternal }: CompiledStream): Refusal {
  return isInternal ? internal : paused
}

export const writtenByService = 'only the service itself writes into this stream'

const internal: Refusal = {
  error: 'conflict',
  message: writtenByService,
  remedy: 'Send to another stream of yours, such as a new one of POST /streams.',
  details: [],
}

const paused: Refusal = {
  error: 'stream_paused',
  message: 'the stream is paused',
  remedy: remedyOf('stream_paused'),
  details: [],
}

function byAddress(
  { readings, unreadable, format }: DecodedMessage,
  { addressed: addressOf, member, problem: noAddress, remedy }: Addressing,
  elements: () => readonly Uint8Array[],
) {
  const addressed = new Map<string, Addressed>()
  const rejected: Rejection[] = []
  const add = (name: string, index: number, reading: unknown, problem?: string) => {
    const known = addressed.get(name) ?? nothingYet()
    addressed.set(name, known)
    if (problem !== undefined) known.unreadable.set(known.places.length, problem)
    known.places.push(index)
    known.readings.push(reading)
  }
  for (const [index, reading] of readings.entries()) {
    const unread = unreadable?.get(index)
    const found = unread === undefined && isObject(reading) ? addressOf(reading) : undefined
    if (found !== undefined) {
      passSources(reading as object, found.reading)
      add(found.name, index, found.reading)
      continue
    }
    const problem = unread ?? (isObject(reading) ? noAddress : 'a reading must be an object')
    const element = unread === undefined ? undefined : elements()[index]
    const isReadable = element !== undefined && member !== undefined && isSelfDescribing(format)
    const name = isReadable ? textMemberOf(format, element, member) : undefined
    if (typeof name === 'string') add(name, index, undefined, problem)
    else rejected.push({ index, error: 'malformed', message: problem, remedy, details: [] })
  }
  return { addressed, rejected }
}

function isObject(reading: unknown): reading is object {
  return typeof reading === 'object' && reading !== null && !Array.isArray(reading)
}

function nothingYet(): Addressed {
  return { places: [], readings: [], unreadable: new Map() }
}

/** Each element names its stream with `streamId`, which is none of its fields. */
export const byStreamId: Addressing = {
  addressed(reading) {
    if (!Object.hasOwn(reading, 'streamId')) return undefined
    const { streamId: name, ...fields } = reading as { readonly streamId: unknown }
    return typeof name === 'string' ? { name, reading: fields } : undefined
  },
  member: 'streamId',
  problem: 'streamId must name a stream',
  // What is sent to no stream is in no quarantine.
  remedy: 'Give each reading the id of its stream in streamId, as GET /streams has it.',
  refusal: refusalOf,
}

/** The elements of a message, cut out when they are first asked for. */
function onlyOnce(cut: DecodedMessage['elements']): (payload: Uint8Array) => readonly Uint8Array[] {
  let elements: readonly Uint8Array[] | undefined
  return (payload) => (elements ??= cut?.(payload) ?? [payload])
}
