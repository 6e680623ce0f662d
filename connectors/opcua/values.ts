import type { DataValue, Variant } from 'node-opcua-client'
import { wallDate } from '../../src/core/clock.ts'
import { shortest } from '../../src/core/single-precision.ts'

type Library = typeof import('node-opcua-client')

/** Values within values: a server may nest variants as it likes. */
const depthMax = 5

/** Severity of a status code: its two uppermost bits (OPC 10000-4, section 7.39). */
const severity = { uncertain: 1 } as const

/** The info bits that say that the queue of an item was too short, and values are gone (section 7.39.1). */
const overflowMask = 0x480

/**
 * Earliest time: before it, clocks of devices have not been set; a time that is none is sent as
 * 1601.
 */
const earliestMs = Date.UTC(1970, 0, 1)

/** Values, times and states of OPC UA as JSON. */
export class ValueTexts {
  readonly #library: Library

  constructor(library: Library) {
    this.#library = library
  }

  /** JSON of a value; undefined where there is none. */
  textOf(variant: Variant, depth = 0): string | undefined {
    const { DataType, VariantArrayType } = this.#library
    const { dataType, arrayType, value } = variant
    if (dataType === DataType.Null || value === null || value === undefined) return undefined
    // No field has room for them: as if there were none.
    if (typeof value === 'number' && !Number.isFinite(value)) return undefined
    if (arrayType === VariantArrayType.Scalar) return this.#scalar(dataType, value, depth)
    const items = Array.from(value as ArrayLike<unknown>, (item) =>
      this.#item(dataType, item, depth),
    )
    return `[${items.join(',')}]`
  }

  /** The name of a state that is not plainly good; undefined for one that is. */
  stateOf({ statusCode }: DataValue): string | undefined {
    const { value } = statusCode
    const name = statusCode.name.replace(/#.*$/, '')
    if ((value & overflowMask) === overflowMask) return `${name}, Overflow`
    return value >>> 16 === 0 ? undefined : name
  }

  /** Whether a value means something, in whichever quality. */
  isUsable({ statusCode }: DataValue): boolean {
    return statusCode.value >>> 30 <= severity.uncertain
  }

  /** Whether a value says only that nothing was measured yet, which is not worth a reading. */
  isAwaited({ statusCode }: DataValue): boolean {
    const { BadWaitingForInitialData } = this.#library.StatusCodes
    return statusCode.value >>> 16 === BadWaitingForInitialData.value >>> 16
  }

  /** RFC 3339, to the microsecond. */
  timeOf(value: DataValue, otherwise: Date | null): string {
    const { sourceTimestamp, serverTimestamp } = value
    if (isTime(sourceTimestamp)) return timeText(sourceTimestamp, value.sourcePicoseconds)
    if (isTime(serverTimestamp)) return timeText(serverTimestamp, value.serverPicoseconds)
    return timeText(isTime(otherwise) ? otherwise : wallDate(), 0)
  }

  #item(dataType: Variant['dataType'], item: unknown, depth: number): string {
    return item === null || item === undefined ? 'null' : this.#scalar(dataType, item, depth)
  }

  #scalar(dataType: Variant['dataType'], value: unknown, depth: number): string {
    switch (this.#library.DataType[dataType]) {
      case 'Float':
        return numberText(value as number, shortest)
      case 'Double':
        return numberText(value as number, String)
      case 'Int64':
        return longText(value as readonly [number, number], true)
      case 'UInt64':
        return longText(value as readonly [number, number], false)
      case 'DateTime':
        return JSON.stringify(isDate(value) ? timeText(value, 0) : null)
      case 'ByteString':
        return JSON.stringify(Buffer.from(value as Uint8Array).toString('base64'))
      case 'LocalizedText':
        return JSON.stringify((value as { readonly text: string | null }).text ?? '')
      case 'QualifiedName':
        return JSON.stringify((value as { readonly name: string | null }).name ?? '')
      case 'StatusCode':
        return JSON.stringify((value as { readonly name: string }).name)
      case 'NodeId':
      case 'ExpandedNodeId':
        return JSON.stringify(String(value))
      case 'Variant':
        return depth < depthMax ? (this.textOf(value as Variant, depth + 1) ?? 'null') : 'null'
      case 'DataValue':
        return this.#nested(value as DataValue, depth)
      default:
        return JSON.stringify(value) ?? 'null'
    }
  }

  #nested({ value }: DataValue, depth: number): string {
    return depth < depthMax ? (this.textOf(value, depth + 1) ?? 'null') : 'null'
  }
}

/** JSON has no words for NaN and the infinities. */
function numberText(value: number, write: (value: number) => string): string {
  return Number.isFinite(value) ? write(value) : 'null'
}

/** The library has two words of 32 bits for them. */
function longText([high, low]: readonly [number, number], isSigned: boolean): string {
  const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
  return String(isSigned ? BigInt.asIntN(64, bits) : bits)
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime())
}

function isTime(value: Date | null): value is Date {
  return isDate(value) && value.getTime() > earliestMs
}

/** @param picoseconds beyond the millisecond */
function timeText(time: Date, picoseconds: number): string {
  const micros = Math.floor(picoseconds / 1e6) % 1_000
  const milliseconds = time.getUTCMilliseconds()
  const second = time.toISOString().slice(0, 19)
  if (micros > 0) return `${second}.${padded(milliseconds)}${padded(micros)}Z`
  return milliseconds > 0 ? `${second}.${padded(milliseconds)}Z` : `${second}Z`
}

function padded(number: number): string {
  return String(number).padStart(3, '0')
}
