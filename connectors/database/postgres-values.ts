import type { FieldDef } from 'pg'
import { NaiveTimes } from '../../src/core/naive-times.ts'
import type { Column, ColumnKind, Raw } from './dialect.ts'
import type { TimeOptions } from './options.ts'
import { parseArray } from './postgres-arrays.ts'

type ToJson = (text: string) => string

interface Type {
  readonly kind: ColumnKind
  readonly json: ToJson
}

/** Types by their object ids, which are the same in every server: `pg_type.dat`. */
const oids = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  bpchar: 1042,
  varchar: 1043,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  uuid: 2950,
  jsonb: 3802,
  name: 19,
} as const

/** Types of lists, with the type of what is in them. */
const lists: Readonly<Record<number, number>> = {
  1000: oids.bool,
  1001: oids.bytea,
  1005: oids.int2,
  1007: oids.int4,
  1016: oids.int8,
  1009: oids.text,
  1015: oids.varchar,
  1014: oids.bpchar,
  1021: oids.float4,
  1022: oids.float8,
  1231: oids.numeric,
  1182: oids.date,
  1115: oids.timestamp,
  1185: oids.timestamptz,
  2951: oids.uuid,
  199: oids.json,
  3807: oids.jsonb,
}

const quoted: ToJson = (text) => JSON.stringify(text)

/** JSON has no NaN and no Infinity. */
const number: ToJson = (text) => (/^-?\d/.test(text) ? text : 'null')

const bytes: ToJson = (text) => `"${Buffer.from(text.slice(2), 'hex').toString('base64')}"`

/** Years before Christ, after 9999 and infinity stay as they are: RFC 3339 has none of them. */
const zoned: ToJson = (text) => {
  if (!text.endsWith('+00') || text.length > 29) return quoted(text)
  return `"${text.slice(0, 10)}T${text.slice(11, -3)}Z"`
}

/** Writes what PostgreSQL sends as text, in the session's formats, as JSON. */
export class PostgresColumns {
  readonly #options: TimeOptions
  readonly #types: ReadonlyMap<number, Type>
  readonly #midnight: ToJson

  constructor(options: TimeOptions) {
    this.#options = options
    const times = new NaiveTimes(options.timezone)
    const naive: ToJson = (text) => quoted(times.rfc3339(text) ?? text)
    this.#midnight = naive
    const types: (readonly [number, Type])[] = [
      [oids.bool, { kind: 'other', json: (text) => (text === 't' ? 'true' : 'false') }],
      [oids.bytea, { kind: 'other', json: bytes }],
      [oids.timestamptz, { kind: 'time', json: zoned }],
      [oids.timestamp, { kind: 'naive', json: naive }],
      [oids.date, { kind: 'date', json: quoted }],
    ]
    const { int2, int4, int8, oid, float4, float8, numeric, json, jsonb } = oids
    for (const id of [int2, int4, int8, oid, float4, float8, numeric]) {
      types.push([id, { kind: 'number', json: number }])
    }
    for (const id of [json, jsonb]) types.push([id, { kind: 'other', json: (text) => text }])
    this.#types = new Map(types)
  }

  of(fields: readonly Pick<FieldDef, 'name' | 'dataTypeID'>[]): readonly Column[] {
    return fields.map(({ name, dataTypeID }) => {
      const { kind, json } = this.#type(dataTypeID)
      const isTime = kind === 'date' && name === this.#options.timestampField
      const written = isTime ? this.#midnight : json
      return { name, kind, json: (value: Raw) => written(value as string) }
    })
  }

  #type(id: number): Type {
    const member = lists[id]
    if (member === undefined) return this.#types.get(id) ?? { kind: 'text', json: quoted }
    const { json } = this.#type(member)
    return { kind: 'other', json: (text) => listJson(parseArray(text), json) }
  }
}

type List = readonly (string | null | List)[]

function listJson(list: List, json: ToJson): string {
  const members = list.map((member) => {
    if (member === null) return 'null'
    return typeof member === 'string' ? json(member) : listJson(member, json)
  })
  return `[${members.join(',')}]`
}
