import { NaiveTimes } from '../../src/core/naive-times.ts'
import { shortest } from '../../src/core/single-precision.ts'
import type { Column, ColumnKind, Raw } from './dialect.ts'
import type { TimeOptions } from './options.ts'

/** What the server says of a column of a result. */
export interface MssqlField {
  readonly colName: string
  readonly type: { readonly name: string }
  /** Bytes; 65,535 stands for any number of them. */
  readonly dataLength?: number | undefined
  readonly precision?: number | undefined
  readonly scale?: number | undefined
}

export interface MssqlColumn extends Column {
  /** What stands in a SELECT for it: the library reads decimals as floating-point numbers, and times as Dates. */
  readonly expression: string
}

interface Type {
  readonly kind: ColumnKind
  readonly json: (value: Raw) => string
  /** Declared type; undefined: nothing is compared with it, or as it comes. */
  readonly type?: string
  /** Expression for its text, where the library would not read it with all its digits. */
  readonly expression?: (name: string) => string
}

const unlimited = 65_535

/** ODBC canonical: `yyyy-mm-dd hh:mi:ss.fffffff`. */
const timeStyle = 121

const plain = (value: Raw): string => String(value)
const quoted = (value: Raw): string => JSON.stringify(value)
const bytes = (value: Raw): string => `"${Buffer.from(value as Uint8Array).toString('base64')}"`
const flag = (value: Raw): string => (value === 0 ? 'false' : 'true')
const single = (value: Raw): string => shortest(Number(value))

const integers: Readonly<Record<number, string>> = { 1: 'tinyint', 2: 'smallint', 4: 'int' }

const timeText = (name: string): string => `CONVERT(nvarchar(40), ${name}, ${timeStyle})`
const inUtc = (name: string): string => {
  return timeText(`CONVERT(datetime2(7), SWITCHOFFSET(${name}, '+00:00'))`)
}

const binary: Type = { kind: 'other', json: bytes }

/** Types that need nothing but their names, as the library has them. */
const simple: Readonly<Record<string, Type>> = {
  TinyInt: { kind: 'number', json: plain, type: 'tinyint' },
  SmallInt: { kind: 'number', json: plain, type: 'smallint' },
  Int: { kind: 'number', json: plain, type: 'int' },
  BigInt: { kind: 'number', json: plain, type: 'bigint' },
  Real: { kind: 'float', json: single },
  Float: { kind: 'float', json: plain },
  Bit: { kind: 'other', json: flag },
  BitN: { kind: 'other', json: flag },
  UniqueIdentifier: { kind: 'text', json: quoted, type: 'uniqueidentifier' },
  Text: { kind: 'other', json: quoted },
  NText: { kind: 'other', json: quoted },
  Xml: { kind: 'other', json: quoted },
  Variant: {
    kind: 'other',
    json: quoted,
    expression: (name) => `CONVERT(nvarchar(4000), ${name})`,
  },
  Binary: binary,
  VarBinary: binary,
  Image: binary,
  UDT: binary,
}

/** Writes what SQL Server sends as JSON. */
export class MssqlColumns {
  readonly #options: TimeOptions
  readonly #times: NaiveTimes

  constructor(options: TimeOptions) {
    this.#options = options
    this.#times = new NaiveTimes(options.timezone)
  }

  of(fields: readonly MssqlField[]): readonly MssqlColumn[] {
    return fields.map((field) => {
      const { kind, json, type, expression } = this.#type(field)
      const name = bracketed(field.colName)
      return { name: field.colName, kind, json, type, expression: expression?.(name) ?? name }
    })
  }

  #type(field: MssqlField): Type {
    const { dataLength = 0, precision = 0, scale = 0 } = field
    switch (field.type.name) {
      case 'IntN':
        return { kind: 'number', json: plain, type: integers[dataLength] ?? 'bigint' }
      case 'FloatN':
        return { kind: 'float', json: dataLength === 4 ? single : plain }
      case 'DecimalN':
      case 'NumericN':
        return decimal(`decimal(${precision}, ${scale})`)
      case 'MoneyN':
        return money(dataLength === 4 ? 'smallmoney' : 'money')
      case 'Money':
        return money('money')
      case 'SmallMoney':
        return money('smallmoney')
      case 'VarChar':
      case 'Char':
        return text('varchar', dataLength, dataLength)
      case 'NVarChar':
      case 'NChar':
        return text('nvarchar', dataLength, dataLength / 2)
      default:
        return this.#timeType(field) ?? simple[field.type.name] ?? { kind: 'other', json: quoted }
    }
  }

  #timeType({ colName, type, dataLength = 0, scale = 0 }: MssqlField): Type | undefined {
    const naive = { kind: 'naive', json: this.#naive, expression: timeText } as const
    switch (type.name) {
      case 'DateTimeN':
        return { ...naive, type: dataLength === 4 ? 'smalldatetime' : 'datetime' }
      case 'DateTime':
        return { ...naive, type: 'datetime' }
      case 'SmallDateTime':
        return { ...naive, type: 'smalldatetime' }
      case 'DateTime2':
        return { ...naive, type: `datetime2(${scale})` }
      case 'Date': {
        const json = colName === this.#options.timestampField ? this.#naive : quoted
        return { kind: 'date', json, type: 'date', expression: timeText }
      }
      case 'Time':
        return { kind: 'text', json: quoted, type: `time(${scale})`, expression: timeText }
      case 'DateTimeOffset':
        return { kind: 'time', json: zoned, type: `datetimeoffset(${scale})`, expression: inUtc }
      default:
        return undefined
    }
  }

  readonly #naive = (value: Raw): string => {
    const microseconds = toMicroseconds(String(value))
    return quoted(this.#times.rfc3339(microseconds) ?? microseconds)
  }
}

/** A name as it stands in a statement. */
export function bracketed(name: string): string {
  return `[${name.replaceAll(']', ']]')}]`
}

/** What stands for a bound text: a value of just the type of its column, so that an index of it can be asked. */
export function converted(mark: string, kind: ColumnKind, type: string | undefined): string {
  if (type === undefined) return mark
  if (kind === 'time') return `TODATETIMEOFFSET(CONVERT(datetime2(7), ${mark}, 121), '+00:00')`
  const style = kind === 'naive' || kind === 'date' ? `, ${timeStyle}` : ''
  return `CONVERT(${type}, ${mark}${style})`
}

function decimal(type: string): Type {
  return {
    kind: 'number',
    json: plain,
    type,
    expression: (name) => `CONVERT(nvarchar(41), ${name})`,
  }
}

/** Reads money with style 2, which has all its four decimals. */
function money(type: string): Type {
  return {
    kind: 'number',
    json: plain,
    type,
    expression: (name) => `CONVERT(nvarchar(41), ${name}, 2)`,
  }
}

function text(type: string, dataLength: number, length: number): Type {
  const size = dataLength === unlimited ? 'max' : length
  return { kind: 'text', json: quoted, type: `${type}(${size})` }
}

function zoned(value: Raw): string {
  return `"${toMicroseconds(String(value)).replace(' ', 'T')}Z"`
}

function toMicroseconds(time: string): string {
  return time.replace(/(\.\d{6})\d+/, '$1')
}
