import type { UserId } from '../../core/ids.ts'

/** Topics of one user: about what a hall of bought devices publishes beside its readings. */
export const topicsOfUserMax = 1_000

/** Bytes of one user, and of all of them: what has been quiet for longest is forgotten first. */
const userBytesMax = 4 * 1024 * 1024
const bytesMax = 32 * 1024 * 1024

/** Payloads of a topic that are kept, the newest: enough to propose a definition from. */
export const samplesMax = 10

/** Bytes of a payload that are kept. */
const sampleBytesMax = 2 * 1024

/** What a topic and a sample weigh beside their bytes. */
const topicWeight = 512
const sampleWeight = 128

/** Why a message was dropped. Each is a label of a metric. */
export const dropReasons = [
  /** The user has given the topic to no stream. */
  'no_stream',
  /** It is a topic of the service's own (`streams/`, `users/`), and none of the client's. */
  'not_own',
  /** The key may not send readings. */
  'no_permission',
  /** It is of a device that its fleet does not take. */
  'device_denied',
  /** It is of a new device, and its fleet has as many streams as it may have. */
  'fleet_full',
] as const

export type DropReason = (typeof dropReasons)[number]

/** A message that was acknowledged and is for nobody. */
export interface DroppedMessage {
  readonly userId: UserId
  readonly topic: string
  /** A view of bytes that others may hold: what is kept of it is copied. */
  readonly payload: Uint8Array
  readonly clientId: string
  readonly apiKeyId: string
  readonly deviceId: string | undefined
  readonly reason: DropReason
}

/** The beginning of a payload, and how long all of it was. */
export interface Sample {
  readonly bytes: Uint8Array
  readonly length: number
}

/** A topic that messages were dropped of, with the client that sent the last of them. */
export interface UnroutedTopic {
  /** Unique among those of the service, since its start. */
  readonly id: string
  readonly topic: string
  readonly count: number
  readonly firstAtUs: number
  readonly lastAtUs: number
  readonly clientId: string
  readonly apiKeyId: string
  readonly deviceId: string | undefined
  readonly reason: DropReason
  /** The newest ones, in the order of their arrival. */
  readonly samples: readonly Sample[]
}

interface Entry extends UnroutedTopic {
  readonly samples: Sample[]
  weight: number
}

interface OfUser {
  /** In the order of the last message. */
  readonly topics: Map<string, Entry>
  weight: number
}

/**
 * What clients of MQTT have sent to topics that lead nowhere, by user and topic, since the start. It is in memory and
 * no more than a help for whoever looks for the reading of a device: a restart begins it anew.
 */
export class UnroutedMessages {
  /** In the order of the last message. */
  readonly #users = new Map<UserId, OfUser>()
  readonly #nowUs: () => number
  readonly #totals = Object.fromEntries(dropReasons.map((reason) => [reason, 0])) as Record<
    DropReason,
    number
  >
  #weight = 0
  #topics = 0
  #made = 0

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  get stats() {
    return { topics: this.#topics, bytes: this.#weight, dropped: { ...this.#totals } }
  }

  note(message: DroppedMessage): void {
    const { userId, topic, reason } = message
    this.#totals[reason]++
    const user = this.#users.get(userId) ?? { topics: new Map<string, Entry>(), weight: 0 }
    const before = user.topics.get(topic)
    if (before) this.#remove(user, before)
    this.#add(user, this.#next(message, before))
    // Both maps are in the order of use: who comes again stands at the end.
    this.#users.delete(userId)
    this.#users.set(userId, user)
    this.#forgetOldest(user)
  }

  /** The topics of a user, those with the newest messages first. */
  of(userId: UserId): readonly UnroutedTopic[] {
    return [...(this.#users.get(userId)?.topics.values() ?? [])].toReversed()
  }

  find(userId: UserId, topic: string): UnroutedTopic | undefined {
    return this.#users.get(userId)?.topics.get(topic)
  }

  /** Forgets a topic of a user, or all of them. */
  forget(userId: UserId, topic?: string): void {
    const user = this.#users.get(userId)
    if (!user) return
    for (const entry of user.topics.values()) {
      if (topic === undefined || entry.topic === topic) this.#remove(user, entry)
    }
    if (user.topics.size === 0) this.#users.delete(userId)
  }

  #next(message: DroppedMessage, before: Entry | undefined): Entry {
    const { topic, clientId, apiKeyId, deviceId, reason } = message
    const nowUs = this.#nowUs()
    const samples = before?.samples ?? []
    addSample(samples, message.payload)
    return {
      id: before?.id ?? String(++this.#made),
      topic,
      count: (before?.count ?? 0) + 1,
      firstAtUs: before?.firstAtUs ?? nowUs,
      lastAtUs: nowUs,
      clientId,
      apiKeyId,
      deviceId,
      reason,
      samples,
      weight: weightOf(topic, samples),
    }
  }

  #add(user: OfUser, entry: Entry): void {
    user.topics.set(entry.topic, entry)
    user.weight += entry.weight
    this.#weight += entry.weight
    this.#topics++
  }

  #remove(user: OfUser, entry: Entry): void {
    user.topics.delete(entry.topic)
    user.weight -= entry.weight
    this.#weight -= entry.weight
    this.#topics--
  }

  #forgetOldest(user: OfUser): void {
    while (user.topics.size > topicsOfUserMax || user.weight > userBytesMax) {
      this.#removeFirst(user)
    }
    for (const [userId, quiet] of this.#users) {
      while (this.#weight > bytesMax && quiet.topics.size > 0) this.#removeFirst(quiet)
      if (quiet.topics.size === 0) this.#users.delete(userId)
      if (this.#weight <= bytesMax) return
    }
  }

  #removeFirst(user: OfUser): void {
    const [oldest] = user.topics.values()
    if (oldest) this.#remove(user, oldest)
  }
}

/** An array of its own for each: a part of a shared block would keep all of the block. */
function addSample(samples: Sample[], payload: Uint8Array): void {
  if (samples.length >= samplesMax) samples.shift()
  const bytes = new Uint8Array(payload.subarray(0, sampleBytesMax))
  samples.push({ bytes, length: payload.length })
}

function weightOf(topic: string, samples: readonly Sample[]): number {
  let weight = topicWeight + 2 * topic.length
  for (const { bytes } of samples) weight += sampleWeight + bytes.length
  return weight
}
