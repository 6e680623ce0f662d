import type { SourceKind } from '../src/contracts/definitions/source-kind.ts'
import { amqpSource } from './amqp/source.ts'
import { apiSource } from './api-pull/source.ts'
import { bacnetSource } from './bacnet/source.ts'
import { coapSource } from './coap/source.ts'
import { polledSource } from './database/source.ts'
import { kafkaSource } from './kafka/source.ts'
import { modbusSource } from './modbus/source.ts'
import { deviceSource } from './mqtt-client/source.ts'
import { natsSource } from './nats/source.ts'
import { opcUaSource } from './opcua/source.ts'
import { postgresLogSource } from './postgres-log/source.ts'
import { redisSource } from './redis-stream/source.ts'
import { sseSource, webSocketSource } from './web-events/source.ts'
import { webhookSource } from './webhook/source.ts'

/** Every kind of source that a stream can have. Where a protocol is missing, they are named in this order. */
export const sourceKinds: readonly SourceKind[] = [
  deviceSource,
  coapSource,
  apiSource,
  polledSource,
  postgresLogSource,
  kafkaSource,
  natsSource,
  amqpSource,
  redisSource,
  webSocketSource,
  sseSource,
  webhookSource,
  opcUaSource,
  modbusSource,
  bacnetSource,
]
