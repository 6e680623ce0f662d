import { readingsPerMessageMax, tooManyReadings } from '../../processors/decode-batch.ts'
import { mappingFailed } from '../../processors/mapping/item.ts'
import type { MessageContext } from '../../src/contracts/mapping.ts'
import type {
  DecodedMessage,
  KeptReading,
  Mapper,
  RefusedReading,
} from '../../src/contracts/reading.ts'

/** Readings that the elements of one request may still lead to, all together. */
export interface ReadingRoom {
  left: number
}

export function newRoom(): ReadingRoom {
  return { left: readingsPerMessageMax }
}

/** What a mapping has found in elements, each of which is a message. */
export interface MappedElements {
  readonly decoded: DecodedMessage
  /** The element of each reading, by its index among these. */
  readonly elementOf: readonly number[]
}

/** Maps elements of a batch, each for itself: what is wrong with one is no matter of the others. */
export function mapElements(
  batch: DecodedMessage,
  map: Mapper,
  { context, room }: { readonly context: MessageContext; readonly room: ReadingRoom },
): MappedElements {
  const { format, unreadable = new Map<number, string>() } = batch
  const found = batch.readings.map((reading, element) =>
    unreadable.has(element) ? notRead : mapOne({ reading, format }, map, { context, room }),
  )
  const readings: unknown[] = []
  const elementOf: number[] = []
  /** The first reading of each element. */
  const firsts: number[] = []
  const problems = new Map<number, string>()
  const refused = new Map<number, RefusedReading>()
  for (const [element, one] of found.entries()) {
    const first = readings.length
    firsts.push(first)
    const problem = unreadable.get(element)
    if (problem !== undefined) problems.set(first, problem)
    for (const [index, refusal] of one.refused ?? []) refused.set(first + index, refusal)
    for (const reading of one.readings) {
      readings.push(reading)
      elementOf.push(element)
    }
  }
  let cut: readonly Uint8Array[] | undefined
  const bytesOf = (element: number, payload: Uint8Array) => {
    cut ??= batch.elements?.(payload) ?? []
    return cut[element] ?? payload
  }
  const elements = (payload: Uint8Array) => elementOf.map((element) => bytesOf(element, payload))
  const kept = (index: number, payload: Uint8Array): KeptReading => {
    const element = elementOf[index] ?? 0
    const bytes = bytesOf(element, payload)
    const own = found[element]?.kept?.(index - (firsts[element] ?? 0), bytes)
    // What is kept as it came has the name of its stream in it, as an element has.
    if (own === undefined || own.payload === bytes)
      return { payload: bytes, format, isElement: true }
    return own
  }
  const decoded = { ...batch, readings, unreadable: problems, refused, elements, kept }
  return { decoded, elementOf }
}

type Found = Pick<DecodedMessage, 'readings' | 'refused' | 'kept'>

const notRead: Found = { readings: [undefined] }

const tooMany = mappingFailed('source.items', `leads to ${tooManyReadings}`)

function mapOne(
  { reading, format }: { readonly reading: unknown; readonly format: DecodedMessage['format'] },
  map: Mapper,
  { context, room }: { readonly context: MessageContext; readonly room: ReadingRoom },
): Found {
  const found = map({ ok: true, readings: [reading], isBatch: false, format }, context)
  const isTooMany = found.readings.length > room.left
  room.left -= isTooMany ? 1 : found.readings.length
  return isTooMany ? { readings: [reading], refused: new Map([[0, tooMany]]) } : found
}
