import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { unsafeContent } from '../../src/core/json-safety.ts'
import type { Column, Row } from './dialect.ts'

/** Rows in one message: each message costs as much as several rows. */
const rowsMax = 500

/** A message is begun anew beyond this, and a row is refused. */
const messageBytesMax = 1024 * 1024

/** Characters that are kept of a row that is too large, for a person to look at. */
const shownLength = 10_000

/**
 * Writes rows as JSON objects: their numbers and times have all the digits that the server has
 * sent. A column without a value is left out, as null is of no field's type
 * (decisions.md#numbers-and-texts).
 */
export class RowWriter {
  readonly #columns: readonly { readonly name: string; readonly column: Column }[]

  constructor(columns: readonly Column[]) {
    this.#columns = columns.map((column) => ({ name: `${JSON.stringify(column.name)}:`, column }))
  }

  text(row: Row): string {
    let text = '{'
    for (let index = 0; index < this.#columns.length; index++) {
      const { name, column } = this.#columns[index] as { name: string; column: Column }
      const value = row[index]
      if (value === null || value === undefined) continue
      if (text.length > 1) text += ','
      text += name + column.json(value)
    }
    return `${text}}`
  }
}

/** Puts rows together into messages that are JSON lists of objects. */
export class MessageWriter {
  readonly #source: string
  readonly #messages: FetchedMessage[] = []
  #rows: string[] = []
  #length = 0

  /** @param source where the rows come from, for those who look into a message */
  constructor(source: string) {
    this.#source = source
  }

  /** @param name what the row is called where it is refused */
  add(text: string, name: string): void {
    if (text.length > messageBytesMax) {
      this.#flush()
      const problem = `the row ${name} has ${text.length} characters: at most ${messageBytesMax} are taken`
      const payload = Buffer.from(text.slice(0, shownLength))
      this.#messages.push({ payload, source: this.#source, problem })
      return
    }
    if (this.#rows.length >= rowsMax || this.#length + text.length > messageBytesMax) this.#flush()
    this.#rows.push(text)
    this.#length += text.length
  }

  end(): readonly FetchedMessage[] {
    this.#flush()
    return this.#messages
  }

  #flush(): void {
    if (this.#rows.length > 0) for (const text of wholeMessages(this.#rows)) this.#push(text)
    this.#rows = []
    this.#length = 0
  }

  #push(text: string): void {
    this.#messages.push({ payload: Buffer.from(text), source: this.#source })
  }
}

/**
 * What is no JSON makes all of a message go to the quarantine: a row that has it, or anything else that may not be
 * stored, is a message of its own.
 */
function* wholeMessages(rows: readonly string[]): Generator<string> {
  const whole = `[${rows.join(',')}]`
  if (!suspicious.test(whole) || isSafe(whole)) {
    yield whole
    return
  }
  let safe: string[] = []
  for (const row of rows) {
    if (isSafe(row)) {
      safe.push(row)
      continue
    }
    if (safe.length > 0) yield `[${safe.join(',')}]`
    safe = []
    yield row
  }
  if (safe.length > 0) yield `[${safe.join(',')}]`
}

/** Long integers, objects and lists of others, and escaped characters: nothing else can be unsafe. */
const suspicious = /[:,[]-?\d{16}|:[[{]|\\u/

function isSafe(text: string): boolean {
  try {
    return unsafeContent(text, JSON.parse(text)) === undefined
  } catch {
    return false
  }
}
