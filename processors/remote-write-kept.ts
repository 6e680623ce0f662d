import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { UnreadableItem } from './decode-binary.ts'
import { tagOf, WireCursor, wireType } from './remote-write-wire.ts'

/** Requests of one series, which the quarantine keeps of one that is refused. */

/** Fields of requests, and of their series. */
const fieldOf = { series1: 1, symbols2: 4, series2: 5, labels2: 1 } as const

/** A request of remote write 1.0. */
export function requestOfSeries(series: Buffer): Uint8Array {
  return new BinaryWriter().uint32(tagOf(fieldOf.series1, wireType.bytes)).bytes(series).finish()
}

/**
 * A request of remote write 2.0, with the symbols of this series and no others.
 *
 * @param symbolAt the bytes of a symbol; undefined where there is no such symbol
 */
export function requestOfSymbols(
  series: Buffer,
  symbolAt: (index: number) => Uint8Array | undefined,
): Uint8Array {
  const { indexes, rest } = partsOf(series)
  const places = new Map<number, number>()
  const symbols: Uint8Array[] = []
  for (const index of new Set(indexes)) {
    const symbol = symbolAt(index)
    if (symbol !== undefined) places.set(index, symbols.push(symbol) - 1)
  }
  const writer = new BinaryWriter()
  const symbolsTag = tagOf(fieldOf.symbols2, wireType.bytes)
  for (const symbol of symbols) writer.uint32(symbolsTag).bytes(symbol)
  writer.uint32(tagOf(fieldOf.series2, wireType.bytes)).fork()
  writer.uint32(tagOf(fieldOf.labels2, wireType.bytes)).fork()
  // What names no symbol does not name one there either.
  for (const index of indexes) writer.uint32(places.get(index) ?? symbols.length)
  writer.join()
  for (const part of rest) writer.raw(part)
  return writer.join().finish()
}

/** The symbols that a series names, and all else of it, as far as it can be read. */
function partsOf(series: Buffer): { readonly indexes: number[]; readonly rest: Uint8Array[] } {
  const wire = new WireCursor(series)
  const indexes: number[] = []
  const rest: Uint8Array[] = []
  const end = series.length
  let start = 0
  try {
    while (wire.at < end) {
      start = wire.at
      const tag = wire.tag(end)
      if (tag === tagOf(fieldOf.labels2, wireType.varint)) indexes.push(wire.unsigned(end))
      else if (tag === tagOf(fieldOf.labels2, wireType.bytes)) {
        const last = wire.endOfValue(end)
        while (wire.at < last) indexes.push(wire.unsigned(last))
      } else {
        wire.skip(tag, end)
        rest.push(series.subarray(start, wire.at))
      }
    }
  } catch (error) {
    if (!(error instanceof UnreadableItem)) throw error
    rest.push(series.subarray(start))
  }
  return { indexes, rest }
}
