import { problem, UnreadableItem } from './decode-binary.ts'
import { jsonDecoder } from './decode-json.ts'
import { type Attribute, attributesOf } from './otlp-attributes.ts'
import { isObject, membersOfJson } from './otlp-json-members.ts'
import {
  dataPlan,
  type KindPlan,
  kindPlans,
  metricPlan,
  resourcePlan,
  scopePlan,
} from './otlp-plan.ts'
import { once, Points } from './otlp-points.ts'

type Json = Readonly<Record<string, unknown>>

/** Integers of 64 bits may be numbers: no digit of them is lost. */
const decode = jsonDecoder({ takesNonFinite: false, integersAsTexts: true })

/**
 * The points of an ExportMetricsServiceRequest in JSON. They are read one by one: one that cannot be read is passed
 * over.
 *
 * @throws UnreadableItem where there is no such request, or where there are too many points in it
 */
export function pointsOfJson(payload: Uint8Array): Points {
  const decoded = decode(payload)
  if (!decoded.ok) throw new UnreadableItem(decoded.problem)
  const [request] = decoded.readings
  if (decoded.isBatch || !isObject(request)) throw problem('a request must be an object')
  const points = new Points()
  for (const resource of objectsIn(request, 'resourceMetrics')) {
    const outer = levelOf(resource, 'scopeMetrics')
    const read = once(() => attributesOf(membersOfJson(resource, resourcePlan)['resource']))
    for (const scope of objectsIn(resource, 'scopeMetrics')) {
      const inner = levelOf(scope, 'metrics')
      const readScope = once(() => attributesOf(membersOfJson(scope, scopePlan)['scope']))
      const readAttributes = () => [...readScope(), ...read()]
      const levels = { resource: outer, scope: inner, readAttributes }
      for (const metric of objectsIn(scope, 'metrics')) addMetric(points, metric, levels)
    }
  }
  return points
}

/** A level without the next one, and the bytes that it takes. */
interface Level {
  readonly beside: Json
  readonly bytes: number
}

interface Levels {
  readonly resource: Level
  readonly scope: Level
  readonly readAttributes: () => readonly Attribute[]
}

function addMetric(
  points: Points,
  metric: Json,
  { resource, scope, readAttributes }: Levels,
): void {
  const kinds = kindPlans.filter(({ kind }) => isGiven(metric[kind]))
  const [found, second] = kinds
  if (second !== undefined) throw problem('a metric has two kinds of data')
  if (found === undefined) return
  const { kind } = found
  const data = metric[kind]
  if (!isObject(data)) throw problem(`${kind} must be an object`)
  const outside = levelOf(metric, kind)
  const inside = levelOf(data, 'dataPoints')
  const around = once(() => ({
    metric: membersOfJson(metric, metricPlan),
    data: membersOfJson(data, dataPlan),
    attributes: readAttributes(),
  }))
  const all = [resource, scope, outside, inside]
  const sharedBytes = all.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const point of objectsIn(data, 'dataPoints')) {
    const read = () => membersOfJson(point, found.point)
    const keep = () => requestOf({ point, kind: found, levels: all })
    points.add({ kind, around, read, keep }, sharedBytes)
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** @throws UnreadableItem for what is no list of objects */
function objectsIn(from: Json, name: string): readonly Json[] {
  const listed = from[name]
  if (!isGiven(listed)) return []
  if (!Array.isArray(listed)) throw problem(`${name} must be a list`)
  for (const one of listed) if (!isObject(one)) throw problem(`${name} must be a list of objects`)
  return listed as readonly Json[]
}

function levelOf(object: Json, next: string): Level {
  const { [next]: _next, ...beside } = object
  return { beside, bytes: Buffer.byteLength(JSON.stringify(beside)) }
}

interface OnePoint {
  readonly point: Json
  readonly kind: KindPlan
  readonly levels: readonly Level[]
}

/** A request of one point. */
function requestOf({ point, kind: { kind }, levels }: OnePoint): Uint8Array {
  const [resource, scope, metric, data] = levels.map(({ beside }) => beside)
  const inner = { ...metric, [kind]: { ...data, dataPoints: [point] } }
  const outer = { ...resource, scopeMetrics: [{ ...scope, metrics: [inner] }] }
  return Buffer.from(JSON.stringify({ resourceMetrics: [outer] }))
}
