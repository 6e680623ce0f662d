import { aliasProblem, hasValues, readingsOfMetrics } from '../../../processors/decode-sparkplug.ts'
import {
  type EdgeNode,
  type SparkplugStep,
  sparkplugStep,
  unknownNode,
} from '../../../processors/sparkplug.ts'
import { decodeSparkplugPayload, rebirthCommand } from '../../../processors/sparkplug-payload.ts'
import {
  commandTopicOf,
  parseSparkplugTopic,
  type SparkplugTopic,
  seesWholeNodes,
} from '../../../processors/sparkplug-topic.ts'
import type { PublishRequest, RawMessage } from '../../contracts/connector.ts'
import type { DecodedMessage } from '../../contracts/reading.ts'
import { monotonicMs } from '../../core/clock.ts'
import { RateLimiter } from '../../core/rate-limiter.ts'

/** Edge nodes whose births are remembered, each for each stream that hears it. */
const nodesMax = 10_000

/** Metrics of all of them together: about 200 bytes each. */
const metricsInAllMax = 500_000

/** An edge node is asked for its births this often at most: they may be large. */
const rebirths = { burst: 1, perSecond: 1 / 30 }

/** What a message of an edge node comes to. */
export interface HeardMessage {
  /** Undefined when there is nothing to store. */
  readonly decoded: DecodedMessage | undefined
  /** Why the message, or a part of it, cannot be read. */
  readonly problem: string | undefined
  readonly request: PublishRequest | undefined
}

/**
 * What edge nodes have said at their births, as far as it is remembered.
 *
 * Kept for each stream, because a stream hears what its topic lets through. It is memory only: what
 * was forgotten is asked for again, after a restart as well (Sparkplug 3.0, section 5.5).
 */
export class SparkplugNodes {
  readonly #nodes = new Map<string, EdgeNode>()
  readonly #rebirths: RateLimiter
  #metrics = 0
  readonly stats = {
    birth: 0,
    death: 0,
    stale_death: 0,
    data: 0,
    gap: 0,
    command: 0,
    unknown_alias: 0,
    rebirth_request: 0,
  }

  /** @param nowMs the monotonic clock */
  constructor(nowMs = monotonicMs) {
    this.#rebirths = new RateLimiter(rebirths, nowMs)
  }

  get size(): number {
    return this.#nodes.size
  }

  hear({ stream, payload: bytes }: RawMessage, topicText: string, nowUs: number): HeardMessage {
    const topic = parseSparkplugTopic(topicText)
    if (topic === undefined) return unreadable('the topic is not one of Sparkplug B')
    const payload = decodeSparkplugPayload(bytes)
    if (typeof payload === 'string') return unreadable(payload)
    const key = `${stream.streamId} ${topic.group}/${topic.node}`
    const before = this.#nodes.get(key) ?? unknownNode
    const seesAll = seesWholeNodes(stream.formatOptions?.topic ?? '')
    const step = sparkplugStep(before, { topic, payload }, seesAll)
    this.#remember(key, step.node)
    this.#count(step)
    const request = step.needsRebirth ? this.#ask(stream.ownerId, topic, nowUs) : undefined
    const sent = { metrics: step.metrics, payload, device: topic.device }
    const problem = step.unknownAliases.length > 0 ? aliasProblem(step.unknownAliases) : undefined
    if (!hasValues(sent, stream)) return { decoded: undefined, problem, request }
    const decoded = readingsOfMetrics(sent, stream)
    if (decoded.ok) return { decoded, problem, request }
    return { decoded: undefined, problem: decoded.problem, request }
  }

  #remember(key: string, node: EdgeNode): void {
    this.#forget(key)
    this.#nodes.set(key, node)
    this.#metrics += node.metrics
    for (const oldest of this.#nodes.keys()) {
      const isFull = this.#nodes.size > nodesMax || this.#metrics > metricsInAllMax
      if (!isFull || oldest === key) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    this.#metrics -= this.#nodes.get(key)?.metrics ?? 0
    this.#nodes.delete(key)
  }

  #count({ event, unknownAliases }: SparkplugStep): void {
    this.stats[event]++
    this.stats.unknown_alias += unknownAliases.length
  }

  /** All streams of a user ask together, because one answer is for all of them. */
  #ask(ownerId: string, topic: SparkplugTopic, nowUs: number): PublishRequest | undefined {
    const key = `${ownerId} ${topic.group}/${topic.node}`
    if (this.#rebirths.waitS(key) > 0) return undefined
    this.#rebirths.count(key)
    this.stats.rebirth_request++
    return { topic: commandTopicOf(topic), payload: rebirthCommand(nowUs) }
  }
}

function unreadable(problem: string): HeardMessage {
  return { decoded: undefined, problem, request: undefined }
}
