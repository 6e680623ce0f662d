import { JsonProblem, slicesAt } from '../api-pull/json-slices.ts'
import type { Saying, WebSocketSourceKeys } from './source.ts'

/** Longest value that is kept as a cursor, as JSON. */
const cursorLengthMax = 1_000

export type SubscriptionKeys = Pick<
  WebSocketSourceKeys,
  'subscribe' | 'cursorField' | 'cursorStart' | 'credentials' | 'secrets'
>

/** What a server of messages is told, so that it sends them, and sends them from where we are. */
export class Subscription {
  readonly #sayings: readonly Saying[]
  readonly #path: readonly string[] | undefined
  readonly #start: string | undefined
  readonly #token: string
  readonly #named: Readonly<Record<string, string>>
  /** All that is replaced, in one pass: what stands in a secret is nothing but text. */
  readonly #marks: { readonly text: RegExp; readonly json: RegExp }

  constructor(keys: SubscriptionKeys) {
    const { subscribe = [], cursorField, cursorStart, credentials, secrets = {} } = keys
    this.#named = secrets
    const names = Object.keys(secrets).map((name) => `\\$\\{${name}\\}|`)
    this.#marks = {
      text: new RegExp(`${names.join('')}\\{(?:cursor|token)\\}`, 'g'),
      json: new RegExp(`${names.join('')}"\\{cursor\\}"|\\{(?:cursor|token)\\}`, 'g'),
    }
    this.#sayings = isList(subscribe) ? subscribe : [subscribe]
    this.#path = cursorField?.split('.')
    this.#start = cursorStart === undefined ? undefined : JSON.stringify(cursorStart)
    this.#token = credentials?.token ?? ''
  }

  /** What no message may show. */
  get secrets(): readonly string[] {
    return this.#token === '' ? [] : [this.#token]
  }

  /**
   * What is to be sent, in its order. What asks for messages behind a cursor is left out while there is none.
   *
   * @param kept JSON of the value in the newest message that is durable
   */
  sayings(kept: string | undefined): readonly string[] {
    const cursor = kept ?? this.#start
    return this.#sayings.flatMap((saying) => {
      const isText = typeof saying === 'string'
      const template = isText ? saying : JSON.stringify(saying)
      if (cursor === undefined && template.includes('{cursor}')) return []
      return [isText ? this.#text(template, cursor) : this.#json(template, cursor)]
    })
  }

  /** JSON of the value that the next messages can be asked for with; undefined where a message has none. */
  cursorOf(message: Buffer): string | undefined {
    if (this.#path === undefined) return undefined
    try {
      const [slice] = slicesAt(message, [this.#path])
      if (slice === undefined) return undefined
      const value = message.toString('utf8', slice.start, slice.end)
      const isCursor = /^["\d-]/.test(value) && value.length <= cursorLengthMax
      return isCursor && plain(value) !== '' ? value : undefined
    } catch (error) {
      // The decoder judges it.
      if (error instanceof JsonProblem || error instanceof SyntaxError) return undefined
      throw error
    }
  }

  #text(template: string, cursor = ''): string {
    return template.replace(this.#marks.text, (mark) => this.#valueOf(mark, cursor))
  }

  /** A text that is nothing but the mark becomes the value itself: a number stays one, digit by digit. */
  #json(template: string, cursor = ''): string {
    return template.replace(this.#marks.json, (mark) =>
      mark.startsWith('"') ? cursor : inner(this.#valueOf(mark, cursor)),
    )
  }

  #valueOf(mark: string, cursor: string): string {
    if (mark.startsWith('$')) return this.#named[mark.slice(2, -1)] ?? ''
    return mark === '{token}' ? this.#token : plain(cursor)
  }
}

function isList(given: NonNullable<SubscriptionKeys['subscribe']>): given is readonly Saying[] {
  return Array.isArray(given)
}

/** A value in JSON as text: a number as it is written. */
function plain(cursor: string): string {
  return cursor.startsWith('"') ? (JSON.parse(cursor) as string) : cursor
}

/** A text as it stands between the quotes of JSON. */
function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
