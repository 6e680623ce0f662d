import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { DialedTls } from '../../src/contracts/fetch-connector.ts'
import { durationUs } from '../../src/core/duration.ts'
import { hasScheme } from '../fields/addresses.ts'
import { isNumberType, registersOfSentinel, type Sentinel } from '../fields/register-sentinels.ts'
import { type ModbusSource, modbusSource, type Register, registersOf } from './source.ts'

type Json = Readonly<Record<string, unknown>>

export type RegisterKind = NonNullable<Register['kind']>
export type RegisterType = NonNullable<Register['type']>
export type ByteOrder = ModbusSource['byteOrder']

/** How a value lies in registers, and what it stands for. */
export interface ValueFormat {
  readonly type: RegisterType
  /** Order of the two bytes of a register. */
  readonly byteOrder: ByteOrder
  /** Order of the registers of a number. */
  readonly wordOrder: ByteOrder
  /** Which bit of a register a `bool` is, 0 being the least; undefined: whether any is set. */
  readonly bit: number | undefined
  /** Characters of a text. */
  readonly length: number
  readonly scale: number
  readonly offset: number
  /** What is in the registers, as an integer without a sign, where there is no value. */
  readonly missing: ReadonlySet<bigint>
}

/** Where one field of a reading is. */
export interface RegisterItem {
  readonly field: string
  readonly unitId: number
  readonly kind: RegisterKind
  /** Address as it is sent: the first one is 0. */
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
  /** Time for one answer. */
  readonly timeoutMs: number
}

/** Ports registered with IANA: `mbap`, and `mbap-s` of Modbus/TCP Security. */
const standardPorts = { plain: 502, secured: 802 } as const

export function destinationOf({ endpoint }: Json) {
  const { protocol, hostname, port } = new URL(String(endpoint))
  const standard = protocol === 'modbus:' ? standardPorts.plain : standardPorts.secured
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standard : Number(port),
  }
}

export function modbusOptions(given: Json): ModbusOptions {
  const source = sourceOf(modbusSource, given)
  const { endpoint, registers, maxGap, timeout, tls = {}, credentials } = source
  const { certificate: cert, privateKey: key } = credentials ?? {}
  return {
    ...destinationOf(given),
    tls: hasScheme(endpoint, 'modbus') ? undefined : { ...tls, cert, key },
    items: registers.map((register) => itemOf(register, source)),
    gapMax: maxGap,
    timeoutMs: (durationUs(timeout) ?? 0) / 1_000,
  }
}

function itemOf(register: Register, source: ModbusSource): RegisterItem {
  const { field, kind = 'holding', address, length = 0, missing = [] } = register
  const isBit = kind === 'coil' || kind === 'discrete'
  const type = isBit ? 'bool' : (register.type ?? 'uint16')
  return {
    field,
    kind,
    address,
    unitId: register.unitId ?? source.unitId,
    count: type === 'string' ? Math.ceil(length / 2) : registersOf[type],
    format: {
      type,
      byteOrder: register.byteOrder ?? source.byteOrder,
      wordOrder: register.wordOrder ?? source.wordOrder,
      bit: register.bit,
      length,
      scale: register.scale ?? 1,
      offset: register.offset ?? 0,
      missing: new Set(missing.flatMap((one) => inRegisters(one, type))),
    },
  }
}

function inRegisters(sentinel: Sentinel, type: RegisterType): readonly bigint[] {
  const bits = isNumberType(type) ? registersOfSentinel(sentinel, type) : undefined
  return bits === undefined ? [] : [bits]
}
