import { WireType } from '@bufbuild/protobuf/wire'
import type {
  DecodedMessage,
  DecodedStream,
  Decoder,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import type { ProtobufOptions } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { messageDepthMax } from '../src/core/json-safety.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { UnreadableItem } from './decode-binary.ts'
import { type Members, readFields, withDefaults } from './protobuf-message.ts'
import { type FieldPlan, type MessagePlan, planOf } from './protobuf-plan.ts'
import { ProtobufWire } from './protobuf-wire.ts'

/** Values of one message: each takes at least a byte of it, and many times that in memory. */
const valuesMax = 1_000_000

/** Bytes of what stands beside the readings of a batch, in all of them together. */
const sharedBytesMax = 16 * 1024 * 1024

/** A decoder of Protobuf messages of the type that the source of a stream names. */
export function protobufDecoder({ schema, formatOptions }: DecodedStream): Decoder {
  const options = formatOptions?.protobuf
  if (options === undefined)
    return () => ({ ok: false, problem: 'source.protobuf names no message' })
  const { descriptor, message: typeName, repeated } = options
  const plan = planOf(descriptor, typeName)
  // It was checked when the stream was defined, but by a version of the program that may be older.
  if (typeof plan === 'string') return () => ({ ok: false, problem: `the descriptor ${plan}` })
  const samples = repeated === undefined ? undefined : samplesOf(plan, repeated)
  const time = timeMemberOf(schema)
  return (payload) => {
    const wire = new ProtobufWire(payload, valuesMax)
    try {
      if (samples !== undefined) return new Batch(wire, plan, samples).decode(time)
      const members = readFields(wire, plan, { end: payload.length, levels: messageDepthMax })
      // A time that was not sent is none, and not the beginning of 1970.
      const reading = withDefaults(wire, plan, members, time)
      return { ok: true, readings: [reading], isBatch: false, format: 'protobuf' }
    } catch (error) {
      if (!(error instanceof UnreadableItem)) throw error
      return { ok: false, problem: error.message }
    }
  }
}

/** What is wrong with the keys of a source about Protobuf: by key, or nothing. */
export function protobufProblem({
  descriptor,
  message,
  repeated,
}: ProtobufOptions): Readonly<Partial<Record<keyof ProtobufOptions, string>>> | undefined {
  const plan = planOf(descriptor, message)
  if (typeof plan === 'string') {
    return plan.startsWith('has no message')
      ? { message: 'is not in the descriptor' }
      : { descriptor: plan }
  }
  if (repeated === undefined) return undefined
  const samples = samplesOf(plan, repeated)
  if (samples === undefined) return { repeated: 'must name a repeated field of messages' }
  const outer = [...plan.fields.values()].map(({ name }) => name)
  const both = [...samples.message.fields.values()].find(({ name }) => outer.includes(name))
  return both && { repeated: `and the message around it have a field ${both.name} each` }
}

/** The fields that a reading can have, by the descriptor that was checked. */
export function protobufFields({
  descriptor,
  message,
  repeated,
}: ProtobufOptions): readonly string[] {
  const plan = planOf(descriptor, message)
  if (typeof plan === 'string') return []
  const inner = repeated === undefined ? undefined : samplesOf(plan, repeated)?.message
  const all = [...plan.fields.values(), ...(inner?.fields.values() ?? [])]
  return all.map(({ name }) => name).filter((name) => name !== repeated)
}

interface Samples {
  readonly field: FieldPlan
  readonly message: MessagePlan
}

/** The repeated field whose elements are the readings. */
function samplesOf({ fields }: MessagePlan, repeated: string): Samples | undefined {
  const field = [...fields.values()].find(({ name }) => name === repeated)
  if (field?.shape !== 'list' || field.value.kind !== 'message') return undefined
  return field.value.isDelimited ? undefined : { field, message: field.value.message }
}

interface Span {
  readonly start: number
  readonly end: number
}

/** A message whose readings stand in a repeated field; what stands beside them is part of each. */
class Batch {
  readonly #wire: ProtobufWire
  readonly #plan: MessagePlan
  readonly #samples: Samples
  /** Where each sample stands, with its tag. */
  readonly #spans: Span[] = []
  /** The parts of the message beside the samples. */
  readonly #rest: Span[] = []

  constructor(wire: ProtobufWire, plan: MessagePlan, samples: Samples) {
    this.#wire = wire
    this.#plan = plan
    this.#samples = samples
  }

  /** @throws UnreadableItem for what is wrong beside the samples */
  decode(time: string | undefined): DecodedMessage | UndecodableMessage {
    this.#cut()
    if (this.#spans.length > readingsPerMessageMax) return { ok: false, problem: tooManyReadings }
    const rest = joined(this.#wire.bytes, this.#rest)
    if (rest.length * this.#spans.length > sharedBytesMax) {
      return { ok: false, problem: `too much stands beside ${this.#spans.length} readings` }
    }
    const wire = new ProtobufWire(rest, valuesMax)
    const around = readFields(wire, this.#plan, { end: rest.length, levels: messageDepthMax })
    withDefaults(wire, this.#plan, around, time)
    // Each reading is written with all of it.
    this.#wire.count((valuesMax - wire.valuesLeft) * this.#spans.length)
    const { [this.#samples.field.name]: _none, ...shared } = around
    const unreadable = new Map<number, string>()
    const readings = this.#spans.map((span, index) => {
      try {
        return { ...shared, ...this.#sample(span, time) }
      } catch (error) {
        if (!(error instanceof UnreadableItem)) throw error
        unreadable.set(index, error.message)
        return undefined
      }
    })
    // Messages can be joined by joining their bytes: each part is a whole message again.
    const elements = (payload: Uint8Array) =>
      this.#spans.map((span) => joined(payload, [...this.#rest, span]))
    return batchOf({ readings, format: 'protobuf', unreadable, elements })
  }

  /** Takes the message apart into samples and what is beside them. */
  #cut(): void {
    const wire = this.#wire
    const end = wire.bytes.length
    while (wire.position < end) {
      const start = wire.position
      const tag = wire.tag(end)
      wire.skip(tag, end)
      const isSample =
        tag.number === this.#samples.field.number && tag.wireType === WireType.LengthDelimited
      const spans = isSample ? this.#spans : this.#rest
      spans.push({ start, end: wire.position })
    }
  }

  #sample({ start, end }: Span, time: string | undefined): Members {
    const wire = this.#wire
    wire.position = start
    wire.tag(end)
    const bounds = { end: wire.endOfValue(end), levels: messageDepthMax - 1 }
    const { message } = this.#samples
    return withDefaults(wire, message, readFields(wire, message, bounds), time)
  }
}

function joined(bytes: Uint8Array, spans: readonly Span[]): Uint8Array {
  return Buffer.concat(spans.map(({ start, end }) => bytes.subarray(start, end)))
}
