import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { messageDepthMax } from '../src/core/json-safety.ts'
import { problem } from './decode-binary.ts'
import { type Attribute, attributesOf } from './otlp-attributes.ts'
import { dataPlan, kindPlans, metricPlan, resourcePlan, scopePlan } from './otlp-plan.ts'
import { once, Points } from './otlp-points.ts'
import { type Members, readFields } from './protobuf-message.ts'
import type { MessagePlan } from './protobuf-plan.ts'
import { ProtobufWire } from './protobuf-wire.ts'

/** Values of one request: an attribute is eight of them. 4 MiB of what an SDK sends have 1.5 million. */
const valuesMax = 2_000_000

/** Resources, scopes, metrics and points: some of them may be empty, and take two bytes. */
const partsMax = 200_000

/** Numbers of the fields that hold the next level. */
const resourceMetrics = 1
const scopeMetrics = 2
const metrics = 2
const dataPoints = 1

interface Span {
  readonly start: number
  readonly end: number
}

/** A field that holds the next level: its number, and where its content stands. */
interface Part extends Span {
  readonly number: number
}

/** A message that was taken apart into those of the next level, and the bytes beside them. */
interface Cut {
  readonly parts: readonly Part[]
  readonly beside: Uint8Array
}

/** Levels from the request to a data point, each with its bytes beside the next one. */
interface Level {
  readonly number: number
  readonly beside: Uint8Array
}

/**
 * The points of an ExportMetricsServiceRequest in Protobuf. They are read one by one: one that cannot be read
 * is passed over.
 *
 * @throws UnreadableItem where it cannot be said how many points there are, or there are too many
 */
export function pointsOfProtobuf(payload: Uint8Array): Points {
  return new ProtobufPoints(payload).points()
}

class ProtobufPoints {
  readonly #wire: ProtobufWire
  readonly #points = new Points()
  #partsLeft = partsMax

  constructor(payload: Uint8Array) {
    this.#wire = new ProtobufWire(payload, valuesMax)
  }

  points(): Points {
    const request = { start: 0, end: this.#wire.bytes.length }
    for (const resource of this.#cut(request, [resourceMetrics]).parts) {
      const { parts, beside } = this.#cut(resource, [scopeMetrics])
      const level = { number: resourceMetrics, beside }
      const read = once(() => attributesOf(this.#beside(beside, resourcePlan)['resource']))
      for (const scope of parts) this.#addScope(scope, level, read)
    }
    return this.#points
  }

  #addScope(scope: Span, resource: Level, readResource: () => readonly Attribute[]): void {
    const { parts, beside } = this.#cut(scope, [metrics])
    const read = once(() => attributesOf(this.#beside(beside, scopePlan)['scope']))
    const levels = [resource, { number: scopeMetrics, beside }]
    for (const metric of parts) {
      this.#addMetric(metric, levels, () => [...read(), ...readResource()])
    }
  }

  #addMetric(
    metric: Span,
    levels: readonly Level[],
    readAttributes: () => readonly Attribute[],
  ): void {
    const numbers = kindPlans.map(({ number }) => number)
    const { parts, beside: besideData } = this.#cut(metric, numbers)
    const [data, second] = parts
    if (second !== undefined) throw problem('a metric has two kinds of data')
    const kind = kindPlans.find(({ number }) => number === data?.number)
    if (data === undefined || kind === undefined) return
    const { parts: points, beside } = this.#cut(data, [dataPoints])
    const around = once(() => ({
      metric: this.#beside(besideData, metricPlan),
      data: this.#beside(beside, dataPlan),
      attributes: readAttributes(),
    }))
    const all = [
      ...levels,
      { number: metrics, beside: besideData },
      { number: kind.number, beside },
    ]
    const sharedBytes = all.reduce((sum, level) => sum + level.beside.length, 0)
    for (const point of points) {
      const read = () => this.#read(point, kind.point)
      const keep = () => requestOf(all, this.#wire.bytes.subarray(point.start, point.end))
      this.#points.add({ kind: kind.kind, around, read, keep }, sharedBytes)
    }
  }

  #beside(bytes: Uint8Array, plan: MessagePlan): Members {
    const wire = new ProtobufWire(bytes, valuesMax)
    return readFields(wire, plan, { end: bytes.length, levels: messageDepthMax })
  }

  #read({ start, end }: Span, plan: MessagePlan): Members {
    const wire = this.#wire
    wire.position = start
    return readFields(wire, plan, { end, levels: messageDepthMax })
  }

  #cut({ start, end }: Span, numbers: readonly number[]): Cut {
    const wire = this.#wire
    const parts: Part[] = []
    const beside: Span[] = []
    wire.position = start
    while (wire.position < end) {
      const from = wire.position
      const tag = wire.tag(end)
      if (!numbers.includes(tag.number)) {
        wire.skip(tag, end)
        addSpan(beside, from, wire.position)
        continue
      }
      if (tag.wireType !== WireType.LengthDelimited) {
        throw problem('not valid Protobuf: a message is not written as one', wire)
      }
      if (this.#partsLeft === 0) throw problem('there are too many parts in one request')
      this.#partsLeft--
      const last = wire.endOfValue(end)
      parts.push({ number: tag.number, start: wire.position, end: last })
      wire.position = last
    }
    return { parts, beside: joined(wire.bytes, beside) }
  }
}

/** Adds what was passed over: neighbours are one piece. */
function addSpan(spans: Span[], start: number, end: number): void {
  const before = spans.at(-1)
  if (before?.end === start) spans[spans.length - 1] = { start: before.start, end }
  else spans.push({ start, end })
}

function joined(bytes: Uint8Array, spans: readonly Span[]): Uint8Array {
  return Buffer.concat(spans.map(({ start, end }) => bytes.subarray(start, end)))
}

/** A request of one point. */
function requestOf(levels: readonly Level[], point: Uint8Array): Uint8Array {
  const within = levels.toReversed().reduce(
    ({ number, content }, level) => ({
      number: level.number,
      content: Buffer.concat([level.beside, lengthDelimited(number, content)]),
    }),
    { number: dataPoints, content: point },
  )
  return lengthDelimited(within.number, within.content)
}

function lengthDelimited(number: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish()
}
