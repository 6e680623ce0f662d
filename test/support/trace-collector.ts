import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { answering, type Behaviour, Receiver } from './receiver.ts'

/** A span as a collector sees it. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty: it begins its trace. */
  readonly parentId: string
  readonly name: string
  /** 2 is SERVER, 3 is CLIENT. */
  readonly kind: number
  /** 2 is ERROR. */
  readonly status: number
  readonly attributes: Readonly<Record<string, string | number>>
  readonly resource: Readonly<Record<string, string | number>>
}

/** Numbers, and bytes of strings and messages, by the numbers of their fields. */
type Fields = Map<number, (number | bigint | Uint8Array)[]>

/** A real receiver of OTLP over HTTP, with protobuf (opentelemetry-proto, trace.proto). */
export class TraceCollector implements AsyncDisposable {
  readonly #receiver: Receiver
  #isStopped = false

  static async start(): Promise<TraceCollector> {
    return new TraceCollector(await Receiver.start())
  }

  private constructor(receiver: Receiver) {
    this.#receiver = receiver
    this.endpoint = `http://${receiver.destination}`
    receiver.behaviour = answering(200)
  }

  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string

  set behaviour(behaviour: Behaviour) {
    this.#receiver.behaviour = behaviour
  }

  get requests() {
    return this.#receiver.received
  }

  get spans(): readonly CollectedSpan[] {
    return this.#receiver.received.flatMap(({ body }) => spansIn(body))
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    await this.#receiver[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

function spansIn(request: Uint8Array): readonly CollectedSpan[] {
  return messagesOf(fieldsOf(request), 1).flatMap((ofResource) => {
    const resource = attributesIn(messagesOf(ofResource, 1)[0] ?? new Map(), 1)
    return messagesOf(ofResource, 2)
      .flatMap((ofScope) => messagesOf(ofScope, 2))
      .map((span) => spanOf(span, resource))
  })
}

function spanOf(span: Fields, resource: CollectedSpan['resource']): CollectedSpan {
  const bytes = (field: number) => Buffer.from((span.get(field)?.[0] as Uint8Array) ?? [])
  const [status = new Map()] = messagesOf(span, 15)
  return {
    traceId: bytes(1).toString('hex'),
    spanId: bytes(2).toString('hex'),
    parentId: bytes(4).toString('hex'),
    name: bytes(5).toString(),
    kind: Number(span.get(6)?.[0] ?? 0),
    status: Number((status as Fields).get(3)?.[0] ?? 0),
    attributes: attributesIn(span, 9),
    resource,
  }
}

function attributesIn(message: Fields, field: number): Record<string, string | number> {
  return Object.fromEntries(
    messagesOf(message, field).map((pair) => {
      const [value = new Map()] = messagesOf(pair, 2)
      const [text] = (value as Fields).get(1) ?? []
      const number = Number((value as Fields).get(3)?.[0])
      return [textOf(pair.get(1)?.[0]), text === undefined ? number : textOf(text)]
    }),
  )
}

function textOf(bytes: unknown): string {
  return Buffer.from((bytes as Uint8Array | undefined) ?? []).toString()
}

function messagesOf(message: Fields, field: number): readonly Fields[] {
  return (message.get(field) ?? []).map((bytes) => fieldsOf(bytes as Uint8Array))
}

function fieldsOf(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes)
  const fields: Fields = new Map()
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    const values = fields.get(field) ?? []
    fields.set(field, values)
    if (type === WireType.Varint) values.push(BigInt(reader.int64()))
    else if (type === WireType.Bit64) values.push(BigInt(reader.fixed64()))
    else if (type === WireType.LengthDelimited) values.push(reader.bytes())
    else if (type === WireType.Bit32) values.push(reader.fixed32())
    else throw new Error(`the wire type ${type} is not one of OTLP`)
  }
  return fields
}
