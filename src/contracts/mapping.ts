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
  /** Of `map`: the member that an item has its key as. `key` if nothing is said. */
  readonly key?: string
  /** The member that an item has which is no object, or of `pivot` the path of a value. `value` if nothing is said. */
  readonly value?: string
  /** Of `rows`, and of samples that are lists: the names of their places (null leaves one out), or the path of a list of names. */
  readonly columns?: readonly (string | null)[] | string
  /** Of `samples`: the path of the time of the first one, written in the `timestampFormat`. */
  readonly start?: string
  /** Of `samples`: from one to the next, as a number of units, or the path of one. */
  readonly interval?: number | string
  /** Of the interval; `s` if nothing is said. */
  readonly unit?: TimeUnit
  /** Of `pivot`: the path of a name within an entry. `name` if nothing is said. */
  readonly name?: string
  /** Of `pivot`: the path of a time within an entry; entries of one time are one reading. */
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
  /** Of MQTT the topic, of NATS the subject, of AMQP the routing key, of Kafka the topic. */
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
