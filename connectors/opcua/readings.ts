import type { DataValue } from 'node-opcua-client'
import type { FetchedMessage } from '../../src/pipeline/fetch-connector.ts'
import { MessageWriter } from '../database/rows.ts'
import type { MonitoredItem } from './options.ts'
import type { ValueTexts } from './values.ts'

/** A value as a server has notified us of it. */
export interface Notified {
  readonly item: MonitoredItem
  readonly value: DataValue
}

interface ReadingsNeeds {
  readonly texts: ValueTexts
  readonly timestampField: string
  /** Where readings come from, for a person. */
  readonly source: string
}

/** Members of one reading, as JSON. */
interface Wide {
  readonly fields: Map<string, string>
  readonly states: Map<string, string>
}

/** Makes readings of notifications. */
export class Readings {
  readonly #needs: ReadingsNeeds
  readonly #timeKey: string

  constructor(needs: ReadingsNeeds) {
    this.#needs = needs
    this.#timeKey = JSON.stringify(needs.timestampField)
  }

  /** @param publishedAt for values without a time of their own */
  messagesOf(notified: readonly Notified[], publishedAt: Date | null): readonly FetchedMessage[] {
    const told = notified.filter(({ value }) => !this.#needs.texts.isAwaited(value))
    const texts =
      told[0]?.item.field === undefined
        ? told.map((one) => this.#long(one, publishedAt))
        : this.#wide(told, publishedAt)
    return this.#packed(texts)
  }

  /** Says that notifications did not come, from one number up to another: the server has them no more. */
  gap(first: number, before: number): FetchedMessage {
    const last = before - 1
    return {
      payload: Buffer.from(JSON.stringify({ lost: { first, last } })),
      source: this.#needs.source,
      problem: `notifications ${first} to ${last} are lost: the server has them no more`,
    }
  }

  /** One reading for each value: it says which node it is of. */
  #long({ item, value }: Notified, publishedAt: Date | null): string {
    const { texts } = this.#needs
    const text = texts.isUsable(value) ? texts.textOf(value.value) : undefined
    const state = texts.stateOf(value)
    const members = [`"node":${JSON.stringify(item.nodeId)}`]
    if (text !== undefined) members.push(`"value":${text}`)
    if (state !== undefined) members.push(`"status":${JSON.stringify(state)}`)
    return this.#reading(members, texts.timeOf(value, publishedAt))
  }

  /** One reading for each time: what was measured together stays together, in the order of its items. */
  #wide(told: readonly Notified[], publishedAt: Date | null): readonly string[] {
    const { texts } = this.#needs
    const readings: { readonly time: string; readonly wide: Wide }[] = []
    const open = new Map<string, Wide>()
    for (const { item, value } of told) {
      const field = item.field as string
      const time = texts.timeOf(value, publishedAt)
      let wide = open.get(time)
      // Two values of one item with the same time are two readings.
      if (wide === undefined || wide.fields.has(field) || wide.states.has(field)) {
        wide = { fields: new Map(), states: new Map() }
        open.set(time, wide)
        readings.push({ time, wide })
      }
      const text = texts.isUsable(value) ? texts.textOf(value.value) : undefined
      const state = texts.stateOf(value)
      if (text !== undefined) wide.fields.set(field, text)
      if (state !== undefined) wide.states.set(field, JSON.stringify(state))
    }
    return readings
      .filter(({ wide }) => wide.fields.size + wide.states.size > 0)
      .map(({ time, wide }) => {
        const members = membersOf(wide.fields)
        if (wide.states.size > 0) members.push(`"status":{${membersOf(wide.states).join(',')}}`)
        return this.#reading(members, time)
      })
  }

  #reading(members: readonly string[], time: string): string {
    return `{${[...members, `${this.#timeKey}:"${time}"`].join(',')}}`
  }

  #packed(texts: readonly string[]): readonly FetchedMessage[] {
    const writer = new MessageWriter(this.#needs.source)
    for (const [index, text] of texts.entries()) writer.add(text, `${index + 1} of a notification`)
    return writer.end()
  }
}

function membersOf(map: ReadonlyMap<string, string>): string[] {
  return [...map].map(([name, text]) => `${JSON.stringify(name)}:${text}`)
}
