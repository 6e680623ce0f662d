/** The way that a source sends by. */
export type Front =
  | 'mqtt'
  | 'broker'
  | 'http'
  | 'webhook'
  | 'api'
  | 'kafka'
  | 'modbus'
  | 'bacnet'
  | 'influx'
  | 'remote-write'

/** One message, as the source itself sends it. */
export interface SentMessage {
  /**
   * Text, byte for byte: numbers have the digits that the firmware writes. Of a device that is asked, what it has: a line
   * for each register or property. Of a sender of remote write, its samples as an exporter shows them.
   */
  readonly payload: string
  /** Where MQTT and Kafka send it to. */
  readonly topic?: string
  /** Headers of HTTP, beside those that say who sends it. */
  readonly headers?: Readonly<Record<string, string>>
  /** What stands behind the address, with its `?`. */
  readonly query?: string
  /** The key of a message of Kafka. */
  readonly key?: string
  /** Whether the broker is to keep it for those who come later. */
  readonly isRetained?: boolean
}

/** A reading that is to be stored of a message; without a time it has that of its receipt. */
export type ExpectedReading = Readonly<Record<string, unknown>>

/** A page of docs/recipes with a source that does not exist. The same index is always the same message. */
export interface Recipe {
  /** The name of the page, without its ending. */
  readonly name: string
  readonly front: Front
  /** How the source says who it is, over HTTP: `headers` are x-api-key and x-api-secret. */
  readonly credentials?: 'basic' | 'headers'
  readonly messages: (count: number) => readonly SentMessage[]
  /** What becomes of the message with this index, beside what no field reads. */
  readonly expected: (index: number) => readonly ExpectedReading[]
  /** The device that an expected reading is of, by its place, where the definition of the page is that of a fleet. */
  readonly device?: (index: number, place: number) => string
}

/** A page with the definition of a fleet. */
export type FleetRecipe = Recipe & Required<Pick<Recipe, 'device'>>

export function isOfFleet(recipe: Recipe): recipe is FleetRecipe {
  return recipe.device !== undefined
}

/** Messages one by one, of a function that makes each. */
export function series(one: (index: number) => SentMessage): Recipe['messages'] {
  return (count) => Array.from({ length: count }, (_, index) => one(index))
}
