import library, { type FieldPacket } from 'mysql2'
import { NaiveTimes } from '../../src/core/naive-times.ts'
import { shortest } from '../../src/core/single-precision.ts'
import type { Column, ColumnKind, Raw } from './dialect.ts'
import type { TimeOptions } from './options.ts'

const { Types } = library

/** The character set of what is no text. */
const binaryCharset = 63

interface Type {
  readonly kind: ColumnKind
  readonly json: (value: Raw) => string
}

/** What the library knows of a column beyond its own types. */
interface Field extends FieldPacket {
  /** Name that MariaDB gives for columns of JSON, which are texts with a condition there. */
  readonly extendedFormat?: string
  readonly columnLength: number
}

const plain = (value: Raw): string => String(value)
const quoted = (value: Raw): string => JSON.stringify(value)

const bytes = (value: Raw): string => `"${Buffer.from(value as Uint8Array).toString('base64')}"`

const number: Type = { kind: 'number', json: plain }
const bits: Type = { kind: 'other', json: bitsJson }
const text: Type = { kind: 'text', json: quoted }
const binary: Type = { kind: 'other', json: bytes }
const document: Type = { kind: 'other', json: plain }
const flag: Type = { kind: 'other', json: (value) => (value === 0 ? 'false' : 'true') }

/** Writes what MySQL and MariaDB send in their binary protocol as JSON. */
export class MysqlColumns {
  readonly #options: TimeOptions
  readonly #times: NaiveTimes

  constructor(options: TimeOptions) {
    this.#options = options
    this.#times = new NaiveTimes(options.timezone)
  }

  of(fields: readonly FieldPacket[]): readonly Column[] {
    return fields.map((field) => ({ name: field.name, ...this.#type(field as Field) }))
  }

  #type(field: Field): Type {
    if (field.extendedFormat === 'json') return document
    const naive = (value: Raw) => quoted(this.#times.rfc3339(String(value)) ?? value)
    switch (field.columnType ?? Types.NULL) {
      case Types.TINY:
        return field.columnLength === 1 ? flag : number
      case Types.SHORT:
      case Types.LONG:
      case Types.INT24:
      case Types.LONGLONG:
      case Types.YEAR:
      case Types.DECIMAL:
      case Types.NEWDECIMAL:
        return number
      case Types.DOUBLE:
        return { kind: 'float', json: plain }
      case Types.FLOAT:
        return { kind: 'float', json: (value) => shortest(Number(value)) }
      case Types.TIMESTAMP:
        return { kind: 'time', json: (value) => `"${String(value).replace(' ', 'T')}Z"` }
      case Types.DATETIME:
        return { kind: 'naive', json: naive }
      case Types.DATE:
      case Types.NEWDATE:
        return { kind: 'date', json: field.name === this.#options.timestampField ? naive : quoted }
      case Types.BIT:
        return bits
      case Types.JSON:
        return document
      case Types.GEOMETRY:
        return { kind: 'other', json: quoted }
      case Types.TIME:
        return text
      default:
        return field.characterSet === binaryCharset ? binary : text
    }
  }
}

/** Writes bits as a number. */
function bitsJson(value: Raw): string {
  const digits = Buffer.from(value as Uint8Array).toString('hex')
  return BigInt(`0x${digits === '' ? '0' : digits}`).toString()
}
