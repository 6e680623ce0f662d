import { isKafkaMissing, Kafka } from './kafka.ts'
import { isNatsMissing, NatsServer } from './nats.ts'
import { isRabbitmqMissing, Rabbitmq } from './rabbitmq.ts'

/** Two devices whose messages a source gets. */
export interface OpenPlace {
  /** The source of a data stream. */
  readonly source: Readonly<Record<string, unknown>>
  /** Subjects, topics or routing keys of the two; of a source that has one only, the first. */
  readonly topics: readonly [string, string]
  /** Resolves when the server will keep them for us, in their order. */
  readonly publish: (topic: string, payloads: readonly Uint8Array[]) => Promise<void>
}

/** A server of messages that have topics. */
export interface MessagePlace {
  readonly name: string
  readonly isMissing: boolean
  readonly start: () => Promise<AsyncDisposable>
  /** @param isOne whether the source lets one topic in only */
  readonly open: (isOne: boolean) => Promise<OpenPlace>
}

let nats: Promise<NatsServer> | undefined
let kafka: Promise<Kafka> | undefined
let rabbitmq: Promise<Rabbitmq> | undefined

const startNats = () => (nats ??= NatsServer.start())
const startKafka = () => (kafka ??= Kafka.start())
const startRabbitmq = () => (rabbitmq ??= Rabbitmq.start())

async function openNats(isOne: boolean): Promise<OpenPlace> {
  const server = await startNats()
  const subject = (await server.newStream()).toLowerCase()
  const topics = [`${subject}.one.level`, `${subject}.two.level`] as const
  const topic = isOne ? topics[0] : `${subject}.*.level`
  return {
    source: { protocol: 'nats', endpoint: server.endpoint, topic },
    topics,
    publish: (to, payloads) => server.publish(to, payloads),
  }
}

async function openKafka(isOne: boolean): Promise<OpenPlace> {
  const server = await startKafka()
  const topics = [await server.newTopic(), await server.newTopic()] as const
  const topic = isOne ? topics[0] : topics.join(',')
  return {
    source: { protocol: 'kafka', endpoint: server.endpoint, topic },
    topics,
    async publish(to, payloads) {
      await server.produce(
        to,
        payloads.map((value) => ({ value })),
      )
    },
  }
}

/** Our queue, bound to an exchange by us. */
async function openExchange(isOne: boolean): Promise<OpenPlace> {
  const server = await startRabbitmq()
  const exchange = await newExchange(server)
  const topics = ['one.level', 'two.level'] as const
  const { endpoint, credentials } = server
  const routingKey = isOne ? topics[0] : '*.level'
  return {
    source: { protocol: 'amqp', endpoint, credentials, exchange, routingKey },
    topics,
    publish: (to, payloads) => server.publish({ exchange, routingKey: to }, payloads),
  }
}

/** A queue of others; with one topic what is in it was sent to the queue itself. */
async function openQueue(type: 'classic' | 'stream', isOne: boolean): Promise<OpenPlace> {
  const server = await startRabbitmq()
  const queue = await server.newQueue(type)
  const exchange = isOne ? '' : await newExchange(server)
  if (!isOne) {
    const channel = await server.channel()
    await channel.bindQueue(queue, exchange, '#')
    await channel.close()
  }
  const { endpoint, credentials } = server
  return {
    source: { protocol: 'amqp', endpoint, credentials, topic: queue, queueType: type },
    topics: [isOne ? queue : 'one', 'two'],
    publish: (to, payloads) => server.publish({ exchange, routingKey: to }, payloads),
  }
}

async function newExchange(server: Rabbitmq): Promise<string> {
  const exchange = server.newName()
  const channel = await server.channel()
  await channel.assertExchange(exchange, 'topic', { durable: true })
  await channel.close()
  return exchange
}

export const messagePlaces: readonly MessagePlace[] = [
  { name: 'subjects of NATS', isMissing: isNatsMissing, start: startNats, open: openNats },
  { name: 'topics of Kafka', isMissing: isKafkaMissing, start: startKafka, open: openKafka },
  {
    name: 'routing keys of an exchange of AMQP',
    isMissing: isRabbitmqMissing,
    start: startRabbitmq,
    open: openExchange,
  },
  {
    name: 'routing keys in a queue of AMQP that others have bound',
    isMissing: isRabbitmqMissing,
    start: startRabbitmq,
    open: (isOne) => openQueue('classic', isOne),
  },
  {
    name: 'routing keys in a stream of RabbitMQ',
    isMissing: isRabbitmqMissing,
    start: startRabbitmq,
    open: (isOne) => openQueue('stream', isOne),
  },
]

/** Ends all servers that were started. */
export async function endMessagePlaces(): Promise<void> {
  const started = [nats, kafka, rabbitmq]
  await Promise.all(started.map(async (server) => await (await server)?.[Symbol.asyncDispose]()))
}
