import { type Json, oneOf, type Problems } from '../definition-problems.ts'
import { formatRules } from '../payload-format.ts'
import { amqpSource } from './amqp.ts'
import { bacnetSource } from './bacnet.ts'
import { coapSource } from './coap.ts'
import { eventTypeRules, usualField } from './event-types.ts'
import { kafkaSource } from './kafka.ts'
import { modbusSource } from './modbus.ts'
import { natsSource } from './nats.ts'
import { opcUaSource } from './opcua.ts'
import { redisSource } from './redis.ts'
import type { SourceRules } from './source-rules.ts'
import { sseSource } from './sse.ts'
import { webhookSource } from './webhook.ts'
import { webSocketSource } from './websocket.ts'

/** The keys of each protocol that somebody is listened to with: its own, and what it cannot do without. */
const byProtocol: Readonly<Record<string, SourceRules>> = {
  amqp: amqpSource,
  bacnet: bacnetSource,
  coap: coapSource,
  kafka: kafkaSource,
  modbus: modbusSource,
  nats: natsSource,
  opcua: opcUaSource,
  redis: redisSource,
  sse: sseSource,
  websocket: webSocketSource,
  webhook: webhookSource,
}

/** Protocols of systems that publish events. */
export const eventProtocols = [
  'kafka',
  'nats',
  'amqp',
  'redis',
  'websocket',
  'sse',
  'webhook',
] as const

/** Protocols of machines and buildings. */
export const industrialProtocols = ['opcua', 'modbus', 'bacnet'] as const

const protocols: readonly string[] = [...eventProtocols, ...industrialProtocols]

export function isListenedProtocol(protocol: unknown): boolean {
  return protocols.some((known) => known === protocol)
}

/** Whether this version has a connector for a protocol. */
export function isSpokenProtocol(protocol: unknown): boolean {
  return typeof protocol === 'string' && Object.hasOwn(byProtocol, protocol)
}

/** @param allowed protocols that a stream of its type can have */
export function listenedSource(allowed: readonly string[], protocol: unknown): SourceRules {
  const own = isSpokenProtocol(protocol) ? byProtocol[protocol as string] : undefined
  return {
    rules: {
      protocol: oneOf(...allowed),
      ...formatRules,
      ...eventTypeRules,
      ...own?.rules,
    },
    required: ['protocol', ...(own?.required ?? [])],
    ...(own?.secretPlaces && { secretPlaces: own.secretPlaces }),
    checkAll: (source, problems) => {
      checkEvents(source, problems)
      own?.checkAll?.(source, problems)
    },
  }
}

function checkEvents(source: Json, problems: Problems): void {
  const { eventTypes, eventTypeField, timestampField } = source
  if (eventTypeField !== undefined && eventTypes === undefined) {
    problems.add('eventTypeField', 'needs eventTypes')
  }
  if (eventTypes !== undefined && timestampField === (eventTypeField ?? usualField)) {
    problems.add('timestampField', 'must be another field than the one that names the type')
  }
}
