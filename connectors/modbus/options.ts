import type { DialedTls } from '../../src/contracts/fetch-connector.ts'

type Json = Readonly<Record<string, unknown>>

/** The four tables of a device (Modbus Application Protocol V1.1b3, section 4.3). */
export type RegisterKind = 'holding' | 'input' | 'coil' | 'discrete'

export type RegisterType =
  | 'bool'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'float32'
  | 'float64'
  | 'string'

export type ByteOrder = 'big' | 'little'

/** How a value lies in registers, and what it stands for. */
export interface ValueFormat {
  readonly type: RegisterType
  /** Of the two bytes of a register. */
  readonly byteOrder: ByteOrder
  /** Of the registers of a number. */
  readonly wordOrder: ByteOrder
  /** Which bit of a register a `bool` is, 0 being the least; undefined: whether any is set. */
  readonly bit: number | undefined
  /** Characters of a text. */
  readonly length: number
  readonly scale: number
  readonly offset: number
}

/** Where one field of a reading is. */
export interface RegisterItem {
  readonly field: string
  readonly unitId: number
  readonly kind: RegisterKind
  /** As it is sent: the first one is 0. */
  readonly address: number
  /** Registers, or coils. */
  readonly count: number
  readonly format: ValueFormat
}

export interface ModbusOptions {
  readonly host: string
  readonly port: number
  /** Undefined: without. */
  readonly tls: DialedTls | undefined
  readonly items: readonly RegisterItem[]
  /** Registers that nobody wants, and that may be read to save a request. */
  readonly gapMax: number
  /** For one answer. */
  readonly timeoutMs: number
}

interface RegisterKeys {
  readonly field: string
  readonly kind?: RegisterKind
  readonly address: number
  readonly type?: RegisterType
  readonly bit?: number
  readonly length?: number
  readonly byteOrder?: ByteOrder
  readonly wordOrder?: ByteOrder
  readonly scale?: number
  readonly offset?: number
  readonly unitId?: number
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface ModbusSourceKeys {
  readonly endpoint: string
  readonly unitId?: number
  readonly byteOrder?: ByteOrder
  readonly wordOrder?: ByteOrder
  readonly registers: readonly RegisterKeys[]
  readonly maxGap?: number
  readonly timeout?: string
  readonly tls?: { readonly ca?: string; readonly servername?: string }
  readonly credentials?: { readonly certificate?: string; readonly privateKey?: string }
}

/** As registered with IANA: `mbap`, and `mbap-s` of Modbus/TCP Security. */
const standardPorts = { plain: 502, secured: 802 } as const

/** Most devices of their own answer to it, whatever they are asked for. */
const standardUnitId = 1

const standardTimeoutMs = 5_000

const registersOf: Readonly<Record<Exclude<RegisterType, 'string'>, number>> = {
  bool: 1,
  int16: 1,
  uint16: 1,
  int32: 2,
  uint32: 2,
  float32: 2,
  int64: 4,
  uint64: 4,
  float64: 4,
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000 }

export function takesSource({ protocol }: Json): boolean {
  return protocol === 'modbus'
}

export function destinationOf({ endpoint }: Json) {
  const { protocol, hostname, port } = new URL(String(endpoint))
  const standard = protocol === 'modbus:' ? standardPorts.plain : standardPorts.secured
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standard : Number(port),
  }
}

export function modbusOptions(source: Json): ModbusOptions {
  const keys = source as unknown as ModbusSourceKeys
  const { tls = {}, credentials = {}, timeout } = keys
  const isSecured = !keys.endpoint.toLowerCase().startsWith('modbus:')
  const { certificate: cert, privateKey: key } = credentials
  return {
    ...destinationOf(source),
    tls: isSecured ? { ...tls, cert, key } : undefined,
    items: keys.registers.map((register) => itemOf(register, keys)),
    gapMax: keys.maxGap ?? 0,
    timeoutMs: timeout === undefined ? standardTimeoutMs : msOf(timeout),
  }
}

function itemOf(register: RegisterKeys, source: ModbusSourceKeys): RegisterItem {
  const { field, kind = 'holding', address, length = 0 } = register
  const isBit = kind === 'coil' || kind === 'discrete'
  const type = isBit ? 'bool' : (register.type ?? 'uint16')
  return {
    field,
    kind,
    address,
    unitId: register.unitId ?? source.unitId ?? standardUnitId,
    count: type === 'string' ? Math.ceil(length / 2) : registersOf[type],
    format: {
      type,
      byteOrder: register.byteOrder ?? source.byteOrder ?? 'big',
      wordOrder: register.wordOrder ?? source.wordOrder ?? 'big',
      bit: register.bit,
      length,
      scale: register.scale ?? 1,
      offset: register.offset ?? 0,
    },
  }
}

function msOf(duration: string): number {
  return Number(duration.slice(0, -1)) * (unitsMs[duration.slice(-1)] ?? 0)
}
