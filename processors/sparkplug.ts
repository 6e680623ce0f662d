import { metricsMax, type SparkplugMetric, type SparkplugPayload } from './sparkplug-payload.ts'
import type { SparkplugTopic } from './sparkplug-topic.ts'

/**
 * What is known of an edge node from its messages: the session state of Sparkplug 3.0, sections 5
 * and 6. Nothing of it is kept over a restart: then the node is asked for its births.
 */
export interface EdgeNode {
  /** `unsure`: no birth was seen yet, or something was lost since. */
  readonly state: 'online' | 'offline' | 'unsure'
  /**
   * The number of the birth that is in force: a death with another one is of an earlier session.
   */
  readonly bdSeq: bigint | undefined
  /** The sequence number of the message before. */
  readonly seq: number | undefined
  /** What births have said, by device; under an empty name that of the node itself. */
  readonly births: ReadonlyMap<string, Births>
  /** The weight of all of them. */
  readonly metrics: number
}

/** The metrics of one birth. */
interface Births {
  readonly byAlias: ReadonlyMap<bigint, BornMetric>
  readonly byName: ReadonlyMap<string, BornMetric>
  /** Its metrics, those with long names counted several times: so much memory they take. */
  readonly weight: number
}

interface BornMetric {
  readonly name: string
  readonly datatype: number | undefined
}

/** A metric whose name is known, and its type as far as that is known. */
export interface NamedMetric {
  readonly name: string
  readonly datatype: number | undefined
  readonly metric: SparkplugMetric
}

export interface SparkplugMessage {
  readonly topic: SparkplugTopic
  readonly payload: SparkplugPayload
}

export interface SparkplugStep {
  readonly node: EdgeNode
  readonly metrics: readonly NamedMetric[]
  /** Aliases that nobody has said the name of. */
  readonly unknownAliases: readonly bigint[]
  /** The edge node has to be asked for its births. */
  readonly needsRebirth: boolean
  /** The kind of what happened, for the counters. */
  readonly event: 'birth' | 'death' | 'stale_death' | 'data' | 'gap' | 'command'
}

export const unknownNode: EdgeNode = {
  state: 'unsure',
  bdSeq: undefined,
  seq: undefined,
  births: new Map(),
  metrics: 0,
}

/** Sequence numbers go from 0 to 255, and on with 0. */
const seqCount = 256

/** Characters of a name that a metric of a birth is counted once with. */
const nameLengthUsual = 100

const deathMetric = 'bdSeq'

/**
 * What a message makes of an edge node. Pure.
 *
 * @param seesAll whether all that the node says comes by: without that a missing number says nothing
 */
export function sparkplugStep(
  node: EdgeNode,
  message: SparkplugMessage,
  seesAll: boolean,
): SparkplugStep {
  const { type } = message.topic
  switch (type) {
    case 'NBIRTH':
      return nodeBirth(message)
    case 'NDEATH':
      return nodeDeath(node, message)
    case 'NCMD':
    case 'DCMD':
      return { ...silent, node, event: 'command' }
    case 'DBIRTH':
    case 'DDEATH':
    case 'NDATA':
    case 'DDATA':
      return inSequence(node, message, seesAll)
    default:
      return type satisfies never
  }
}

const silent = { metrics: [], unknownAliases: [], needsRebirth: false } as const

function nodeBirth(message: SparkplugMessage): SparkplugStep {
  const { metrics = [], seq } = message.payload
  const born = withBirths(unknownNode, message)
  const node: EdgeNode = { ...born, state: 'online', bdSeq: numberOf(metrics), seq }
  return { node, ...namedMetrics(node, message), needsRebirth: false, event: 'birth' }
}

/** A will of an earlier session may come late, when the next one has begun. */
function nodeDeath(node: EdgeNode, { payload }: SparkplugMessage): SparkplugStep {
  const bdSeq = numberOf(payload.metrics ?? [])
  const isOfSession = node.state !== 'online' || node.bdSeq === undefined || node.bdSeq === bdSeq
  if (!isOfSession) return { ...silent, node, event: 'stale_death' }
  return { ...silent, node: { ...unknownNode, state: 'offline' }, event: 'death' }
}

function numberOf(metrics: readonly SparkplugMetric[]): bigint | undefined {
  const { long_value: long, int_value: int } =
    metrics.find(({ name }) => name === deathMetric) ?? {}
  return long ?? (int === undefined ? undefined : BigInt(int))
}

function inSequence(before: EdgeNode, message: SparkplugMessage, seesAll: boolean): SparkplugStep {
  const { seq } = message.payload
  const isRepeated = seq !== undefined && seq === before.seq
  const isNext =
    seq === undefined || before.seq === undefined || seq === (before.seq + 1) % seqCount
  const isGap = seesAll && !isNext && !isRepeated
  // What was lost may have been a birth, which gives aliases to other metrics.
  const known: EdgeNode = isGap ? { ...unknownNode, seq } : { ...before, seq: seq ?? before.seq }
  const node = afterDevice(known, message)
  const named = namedMetrics(node, message)
  const isBirth = message.topic.type === 'DBIRTH'
  // Who sees devices only never sees the birth of their node, and needs it only for names.
  const isUnknown = seesAll ? node.state !== 'online' : named.unknownAliases.length > 0
  return {
    node: isBirth && !seesAll ? { ...node, state: 'online' } : node,
    ...named,
    needsRebirth: isGap || isUnknown,
    event: isGap ? 'gap' : eventOf(message),
  }
}

function eventOf({ topic }: SparkplugMessage): 'birth' | 'death' | 'data' {
  if (topic.type === 'DBIRTH') return 'birth'
  return topic.type === 'DDEATH' ? 'death' : 'data'
}

function afterDevice(node: EdgeNode, message: SparkplugMessage): EdgeNode {
  const { type, device } = message.topic
  if (type === 'DBIRTH') return withBirths(withoutDevice(node, device), message)
  return type === 'DDEATH' ? withoutDevice(node, device) : node
}

function withoutDevice(node: EdgeNode, device = ''): EdgeNode {
  const before = node.births.get(device)
  if (before === undefined) return node
  const births = new Map(node.births)
  births.delete(device)
  return { ...node, births, metrics: node.metrics - before.weight }
}

function withBirths(node: EdgeNode, { topic, payload }: SparkplugMessage): EdgeNode {
  const byAlias = new Map<bigint, BornMetric>()
  const byName = new Map<string, BornMetric>()
  let weight = 0
  for (const { name, alias, datatype } of payload.metrics ?? []) {
    if (name === undefined) continue
    const more = 1 + Math.floor(name.length / nameLengthUsual)
    if (node.metrics + weight + more > metricsMax) continue
    weight += more
    const metric = { name, datatype }
    byName.set(name, metric)
    if (alias !== undefined) byAlias.set(alias, metric)
  }
  if (byName.size === 0) return node
  const births = new Map(node.births).set(topic.device ?? '', { byAlias, byName, weight })
  return { ...node, births, metrics: node.metrics + weight }
}

const noBirths: Births = { byAlias: new Map(), byName: new Map(), weight: 0 }

function namedMetrics(
  { births }: EdgeNode,
  { topic: { type, device = '' }, payload: { metrics = [] } }: SparkplugMessage,
): Pick<SparkplugStep, 'metrics' | 'unknownAliases'> {
  if (type === 'DDEATH') return { metrics: [], unknownAliases: [] }
  const { byAlias, byName } = births.get(device) ?? noBirths
  const unknownAliases: bigint[] = []
  const named = metrics.flatMap((metric) => {
    const { alias = -1n } = metric
    const own = metric.name === undefined ? byAlias.get(alias) : undefined
    const name = metric.name ?? own?.name
    if (name === undefined) {
      unknownAliases.push(alias)
      return []
    }
    const born = own ?? byName.get(name)
    return [{ name, datatype: metric.datatype ?? born?.datatype, metric }]
  })
  return { metrics: named, unknownAliases }
}
