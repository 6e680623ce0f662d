/** Contract: where in a message its readings are, and where in a reading its fields (docs/payload-formats.md). */

/** How what stands at a path is read as readings. */
export type ItemsForm = 'list' | 'map' | 'columns' | 'rows' | 'samples' | 'pivot'

/** Units of intervals and offsets. */
export type TimeUnit = 's' | 'ms' | 'us' | 'ns'

/**
 * One step from what encloses readings to the readings. Paths in it begin at what encloses: the message, or an item of
 * the level before.
 */
export interface ItemsLevel {
  readonly path: string
  readonly as: ItemsForm
  /** The member that an item of a `map` has its key as. `key` if nothing is said. */
  readonly key?: string
  /** The member that an item has which is no object, or the path of a value in a `pivot`. `value` if nothing is said. */
  readonly value?: string
  /** The names of the places of `rows`, or of samples that are lists (null leaves one out), or the path of a list of names. */
  readonly columns?: readonly (string | null)[] | string
  /** The path of the time of the first of `samples`, written in the `timestampFormat`. */
  readonly start?: string
  /** The time from one of `samples` to the next, as a number of units, or the path of one. */
  readonly interval?: number | string
  /** What the interval counts; `s` if nothing is said. */
  readonly unit?: TimeUnit
  /** The path of a name within an entry of a `pivot`. `name` if nothing is said. */
  readonly name?: string
  /** The path of a time within an entry of a `pivot`; entries of one time are one reading. */
  readonly time?: string
}

/** A value that stands for none. */
export type MissingValue = string | number | boolean | null

/** What values mean that are not of the type of their field. */
export interface ValueRules {
  /** Values that stand for none: the field is absent then. */
  readonly missing?: readonly MissingValue[]
  /** `typed`: a text is read by the type of its field. */
  readonly texts?: 'typed'
  /** What stands before the decimals of such a text: a point if nothing is said. */
  readonly decimal?: '.' | ','
}

/** What is known of a message beside its bytes. */
export interface MessageContext {
  /** The topic of MQTT or Kafka, the subject of NATS, the routing key of AMQP. */
  readonly topic?: string
  /** What stands between the levels of the topic: `/` if nothing is said. */
  readonly separator?: '/' | '.'
  /** By their names in lower case. Credentials are never among them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Parameters of the address that it was sent to. */
  readonly query?: Readonly<Record<string, string>>
  /** The key of a message of Kafka, where it is a text. */
  readonly key?: string
  /** When the other side says that it was sent: the time of a message of Kafka. */
  readonly sentAtUs?: number
  /** The type of event that its source calls it by. */
  readonly eventType?: string
}

/** What the quarantine keeps of a message beside its bytes. */
export interface KeptContext extends MessageContext {
  /** It is a row of a file, whose members are the fields already. */
  readonly isRow?: boolean
}
