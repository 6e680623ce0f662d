import type { AedesPublishPacket, Client, PublishPacket, Subscription } from 'aedes'

/** Who a client id of the broker belongs to. Client ids are private to their user. */
export interface SessionIdentity {
  readonly userId: string
  /** Id as the client has sent it. */
  readonly clientId: string
}

/** What the broker decides about names and people: the sessions only keep what it says. */
export interface SessionRules {
  /** Undefined for a client that belongs to nobody: nothing is kept for it. */
  identify(brokerClientId: string): SessionIdentity | undefined
  /** User whose messages go to a topic, or to the topics of a filter; undefined: nobody's. */
  ownerOf(topicOrFilter: string): string | undefined
  /**
   * What a client, whose key may differ from that of the one before, calls the topic of a message that
   * waits in its session; undefined: it may not have it.
   */
  nameFor(client: Client, topic: string): string | undefined
  /** What a will is authorised by again after a restart. */
  apiKeyOf(client: Client): string | undefined
}

/** The will of a client that was connected when the service was killed. */
export interface LeftWill extends SessionIdentity {
  readonly brokerClientId: string
  readonly apiKeyId: string
  readonly topic: string
  readonly payload: Buffer
  readonly qos: 0 | 1 | 2
  readonly retain: boolean
}

/** A session that outlives its connection. */
export interface KeptSession extends SessionIdentity {
  /** Unique, and larger than those of all sessions before it. */
  readonly number: number
  readonly createdAtUs: number
  /** Time when the client of a session without a connection left, or was last heard of. */
  readonly lastUsedAtUs: number
  /** When it ends unless its client comes back before. */
  readonly expiresAtUs: number
  /** Filters with their QoS, by the broker's names. */
  readonly subscriptions: ReadonlyMap<string, number>
  readonly queued: number
  readonly queuedBytes: number
}

/** When a reading with QoS 2 came first, and whether it is in the journal for certain. */
export interface FirstReceipt {
  readonly receivedAtUs: number
  readonly isTaken: boolean
}

export interface MqttSessionStats {
  readonly sessions: number
  /** Sessions that a client is connected with. */
  readonly connected: number
  readonly subscriptions: number
  readonly queued: number
  readonly queuedBytes: number
  readonly retained: number
  readonly retainedBytes: number
  /** Messages that found no room in the queue of a session. */
  readonly queueDropped: number
  /** Retained messages that were delivered and not kept, for want of room. */
  readonly retainedDropped: number
  /** Sessions that ended because nobody had used them for long. */
  readonly expired: number
  /** Batches of changes that the disk did not take. */
  readonly failures: number
}

/**
 * What MQTT 3.1.1 calls session state (section 3.1.2.4), retained messages and wills, all of it on
 * disk. An acknowledgement always means that: whoever may send one awaits these promises first.
 *
 * @throws DomainError `store_unavailable` or `overloaded`, from every promise: nothing was kept
 */
export interface MqttSessions {
  /** The broker's option of the same name. */
  readonly persistence: object

  /** To be called once, before the broker listens. */
  begin(rules: SessionRules): void

  /**
   * Keeps a message for everybody who is to get it later: as a retained message, in the queues of
   * persistent sessions, and its packet id when it came with QoS 2. To be awaited in the broker's
   * `authorizePublish`, for what the broker will pass on: PUBACK is sent before it asks its
   * persistence. The packet must be the one that the broker goes on with.
   */
  keep(client: Client | null, packet: PublishPacket): Promise<void>

  /** Whether a session, of a client that may be away now, is to get what comes with QoS 1 or 2 on a topic. */
  awaits(topic: string): boolean

  /**
   * The first receipt of a reading with QoS 2, kept before the reading is. Undefined for a new one of a
   * client whose session ends with its connection. A reading that was taken must not be taken again.
   */
  firstReceipt(
    client: Client,
    packetId: number,
    reserve: () => number,
  ): Promise<FirstReceipt | undefined>

  /** The levels that follow on these, in the filters with QoS 1 or 2 that a user's sessions have. */
  levelsBelow(userId: string, ...levels: readonly string[]): Iterable<string>

  /** Whether a new session of this client finds room; always true for one that is there. */
  hasRoomFor(brokerClientId: string): boolean

  /**
   * To be told of every filter that the broker grants, before it goes on: it asks its persistence
   * to store the refused ones, too. False when the session, or its user, has no room for another.
   */
  grant(client: Client, subscription: Subscription): boolean

  /** What the broker is to send to a client now: nothing when its session's queue delivers it. */
  forward(client: Client, packet: AedesPublishPacket): AedesPublishPacket | null

  /** Wills of clients that were connected when the service was killed. */
  leftWills(): readonly LeftWill[]
  /** To be called when such a will was published, or may not be. */
  dropWill(brokerClientId: string): Promise<void>

  /** The sessions of a user, in no order. */
  sessionsOf(userId: string): readonly KeptSession[]

  /** Ends a session with all that waits in it. Resolves with whether there was one. */
  end(identity: SessionIdentity): Promise<boolean>

  /** Every filter that a session from before has, maybe more than once. */
  filters(): Iterable<string>

  stats(): MqttSessionStats
}
