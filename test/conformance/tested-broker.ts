import { afterAll, beforeAll } from 'vitest'
import { newPerson, type Person } from '../support/people.ts'
import {
  ackPacket,
  type ConnectFields,
  connectPacket,
  disconnectPacket,
  type Filter,
  type PublishFields,
  publishPacket,
  RawMqtt,
  subscribePacket,
} from '../support/raw-mqtt.ts'
import type { Delivered, ServerPacket } from '../support/raw-mqtt-reader.ts'
import { type RunningService, runningService } from '../support/running-service.ts'

/** How a client is to connect; who it is unless it says otherwise is up to `TestedBroker`. */
export type Connecting = Partial<ConnectFields>

/** A running service, one user of it, and that user's part of the topics, where all is allowed. */
export interface TestedBroker {
  readonly service: RunningService
  readonly person: Person
  /** Topics that no other test uses begin with this, without a slash at its end. */
  readonly newRoot: () => string
  /** A client id that no other test uses. */
  readonly newClientId: () => string
  /** The bytes of a CONNECT with the credentials of the user. */
  readonly connectPacket: (connecting?: Connecting) => Buffer
  /** A TCP connection over which nothing was sent yet. */
  readonly open: () => Promise<RawMqtt>
  /** A client whose CONNECT was accepted. */
  readonly connect: (connecting?: Connecting) => Promise<RawMqtt>
  /** A client whose session outlasts its connection, and whether there was one before. */
  readonly resume: (clientId: string) => Promise<Resumed>
}

export interface Resumed {
  readonly client: RawMqtt
  readonly sessionPresent: boolean
}

/** The broker that the tests of one file are about. Ask it for its parts in tests. */
export function testedBroker(): TestedBroker {
  const service = runningService()
  const clients: RawMqtt[] = []
  let person: Person | undefined
  let names = 0

  beforeAll(async () => {
    person = await newPerson(service.api)
  })

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.break()))
  })

  const newClientId = () => `client${++names}`
  const connectOf = (connecting: Connecting = {}) => {
    const { apiKey, apiSecret } = someone().key
    const fields = { clientId: newClientId(), username: apiKey, password: apiSecret }
    return connectPacket({ ...fields, ...connecting })
  }
  const open = async () => {
    const client = await RawMqtt.open(service.process.mqttPort)
    clients.push(client)
    return client
  }

  function someone(): Person {
    if (!person) throw new Error('there is no user yet')
    return person
  }

  async function enter(connecting: Connecting = {}): Promise<Resumed> {
    const client = await open()
    client.send(connectOf(connecting))
    const answer = await client.next()
    if (answer.type === 'connack' && answer.returnCode === 0) return { client, ...answer }
    throw new Error(`CONNECT was answered with ${JSON.stringify(answer)}`)
  }

  return {
    service,
    get person() {
      return someone()
    },
    newClientId,
    newRoot: () => `users/${someone().userId}/${++names}`,
    connectPacket: connectOf,
    open,
    connect: async (connecting) => (await enter(connecting)).client,
    resume: (clientId) => enter({ clientId, clean: false }),
  }
}

let packetIds = 0

/** A packet id that is not in use: no test has as many packets on their way. */
export function newPacketId(): number {
  packetIds = (packetIds % 65_535) + 1
  return packetIds
}

/** Subscribes a client that nothing is on its way to, and returns the codes of the SUBACK. */
export async function subscribe(client: RawMqtt, ...filters: Filter[]): Promise<readonly number[]> {
  client.send(subscribePacket(newPacketId(), ...filters))
  const answer = await client.next()
  if (answer.type !== 'suback') throw new Error(`expected a SUBACK: ${JSON.stringify(answer)}`)
  return answer.codes
}

export interface Pair {
  readonly publisher: RawMqtt
  readonly subscriber: RawMqtt
  readonly topic: string
}

/** A publisher, and a subscriber to its topic with this QoS. */
export async function pair(broker: TestedBroker, qos: number): Promise<Pair> {
  const [publisher, subscriber] = [await broker.connect(), await broker.connect()]
  const topic = `${broker.newRoot()}/topic`
  await subscribe(subscriber, [topic, qos])
  return { publisher, subscriber, topic }
}

/** Publishes a message from a client that nothing is on its way to, with all that its QoS asks. */
export async function publish(client: RawMqtt, fields: PublishFields): Promise<void> {
  const packetId = newPacketId()
  client.send(publishPacket({ ...fields, packetId }))
  if (fields.qos === 1) await acknowledged(client, 'puback', packetId)
  if (fields.qos === 2) {
    await acknowledged(client, 'pubrec', packetId)
    client.send(ackPacket('pubrel', packetId))
    await acknowledged(client, 'pubcomp', packetId)
  }
}

async function acknowledged(
  client: RawMqtt,
  type: 'puback' | 'pubrec' | 'pubcomp',
  packetId: number,
): Promise<void> {
  const answer = await client.next()
  if (answer.type === type && answer.packetId === packetId) return
  throw new Error(`expected ${type} ${packetId}: ${JSON.stringify(answer)}`)
}

/** Ends a connection with DISCONNECT. */
export async function leave(client: RawMqtt): Promise<void> {
  client.send(disconnectPacket)
  await client.end()
}

export function payloads(messages: readonly Delivered[]): string[] {
  return messages.map(({ payload }) => payload)
}

/** Takes this many messages, and acknowledges them. */
export async function receive(client: RawMqtt, count: number): Promise<Delivered[]> {
  const messages: Delivered[] = []
  await handle(client, (packet) => {
    if (packet.type === 'publish') messages.push(packet)
    return messages.length === count
  })
  return messages
}

/**
 * Everything that a subscriber has been sent until now, acknowledged. Last messages of the publisher
 * tell when that is all: one of each QoS, because only what is alike is kept in order.
 */
export async function drain(
  broker: Pick<TestedBroker, 'newRoot'>,
  subscriber: RawMqtt,
  publisher: RawMqtt,
): Promise<Delivered[]> {
  const messages: Delivered[] = []
  const last = `${broker.newRoot()}/last`
  const qualities = [0, 1, 2]
  let missing = qualities.length
  const take = (packet: ServerPacket) => {
    if (packet.type !== 'publish') return
    if (packet.topic === last) missing--
    else messages.push(packet)
  }
  subscriber.send(subscribePacket(newPacketId(), [last, 2]))
  await handle(subscriber, (packet) => {
    take(packet)
    return packet.type === 'suback'
  })
  for (const qos of qualities) await publish(publisher, { topic: last, qos })
  await handle(subscriber, (packet) => {
    take(packet)
    return missing === 0
  })
  return messages
}

/**
 * Subscribes a client that nothing is on its way to, and returns the retained messages that come of
 * it, acknowledged. The last filter is one of our own: what it brings comes after all the others.
 */
export async function retainedFor(
  broker: Pick<TestedBroker, 'newRoot'>,
  subscriber: RawMqtt,
  publisher: RawMqtt,
  filters: readonly Filter[],
): Promise<Delivered[]> {
  const messages: Delivered[] = []
  const last = `${broker.newRoot()}/last`
  await publish(publisher, { topic: last, payload: 'last', qos: 1, retain: true })
  subscriber.send(subscribePacket(newPacketId(), ...filters, [last, 1]))
  await handle(subscriber, (packet) => {
    if (packet.type !== 'publish') return false
    if (packet.topic !== last) messages.push(packet)
    return packet.topic === last
  })
  return messages
}

/** Answers what arrives as section 4.3 wants it, up to a packet, and to the end of its exchanges. */
async function handle(client: RawMqtt, isLast: (packet: ServerPacket) => boolean): Promise<void> {
  const unreleased = new Set<number>()
  let isDone = false
  while (!isDone || unreleased.size > 0) {
    const packet = await client.next()
    if (packet.type === 'publish' && packet.qos === 1) {
      client.send(ackPacket('puback', packet.packetId))
    }
    if (packet.type === 'publish' && packet.qos === 2) {
      client.send(ackPacket('pubrec', packet.packetId))
      unreleased.add(packet.packetId)
    }
    if (packet.type === 'pubrel') {
      client.send(ackPacket('pubcomp', packet.packetId))
      unreleased.delete(packet.packetId)
    }
    isDone ||= isLast(packet)
  }
}
