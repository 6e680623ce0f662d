import type { DataValue } from 'node-opcua-client'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { MessageWriter } from '../database/rows.ts'
import type { MonitoredItem } from './options.ts'
import type { FieldValue, TimedReading } from './partial-readings.ts'
import type { SubscriptionPosition } from './subscription.ts'
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

/** A value and when it was measured. */
interface TimedValue extends Notified {
  readonly time: string
  readonly fieldValue: FieldValue
}

/** Makes readings of notifications. */
export class Readings {
  readonly #needs: ReadingsNeeds
  constructor(needs: ReadingsNeeds) {
    this.#needs = needs
  }

  /** @param publishedAt for values without a time of their own */
  valuesOf(notified: readonly Notified[], publishedAt: Date | null): readonly TimedValue[] {
    const { texts } = this.#needs
    return notified
      .filter(({ value }) => !texts.isAwaited(value))
      .map(({ item, value }) => ({
        item,
        value,
        time: texts.timeOf(value, publishedAt),
        fieldValue: this.#fieldValue(value),
      }))
  }

  /** One reading for each value: it says which node it is of. */
  long(values: readonly TimedValue[]): readonly FetchedMessage[] {
    const { source, timestampField } = this.#needs
    const readings = values.map(({ item, time, fieldValue: { text, state } }) => {
      const members = [`"node":${JSON.stringify(item.nodeId)}`]
      if (text !== undefined) members.push(`"value":${text}`)
      if (state !== undefined) members.push(`"status":${JSON.stringify(state)}`)
      return readingText(members, time, timestampField)
    })
    return packed(readings, source)
  }

  /** One reading for each time. */
  wide(timed: readonly TimedReading[]): readonly FetchedMessage[] {
    return wideReadings(timed, this.#needs)
  }

  /** Says that notifications did not come: the server has them no more. */
  gap(first: number, last: number): FetchedMessage {
    return {
      payload: Buffer.from(JSON.stringify({ lost: { first, last } })),
      source: this.#needs.source,
      problem: `notifications ${first} to ${last} are lost: the server has them no more`,
    }
  }

  #fieldValue(value: DataValue): FieldValue {
    const { texts } = this.#needs
    const text = texts.isUsable(value) ? texts.textOf(value.value) : undefined
    const state = texts.stateOf(value)
    return { ...(text !== undefined && { text }), ...(state !== undefined && { state }) }
  }
}

/** One reading for each time. */
export function wideReadings(
  timed: readonly TimedReading[],
  { timestampField, source }: Pick<ReadingsNeeds, 'timestampField' | 'source'>,
): readonly FetchedMessage[] {
  const readings: string[] = []
  for (const { time, fields } of timed) {
    const members: string[] = []
    const states: string[] = []
    for (const [field, { text, state }] of fields) {
      const name = JSON.stringify(field)
      if (text !== undefined) members.push(`${name}:${text}`)
      if (state !== undefined) states.push(`${name}:${JSON.stringify(state)}`)
    }
    if (states.length > 0) members.push(`"status":{${states.join(',')}}`)
    if (members.length > 0) readings.push(readingText(members, time, timestampField))
  }
  return packed(readings, source)
}

function readingText(members: readonly string[], time: string, timestampField: string): string {
  return `{${[...members, `${JSON.stringify(timestampField)}:"${time}"`].join(',')}}`
}

function packed(texts: readonly string[], source: string): readonly FetchedMessage[] {
  const writer = new MessageWriter(source)
  for (const [index, text] of texts.entries()) writer.add(text, `${index + 1} of a notification`)
  return writer.end()
}

/** Says that a subscription is gone, and with it whatever it had not told yet. */
export function lostSubscription(
  { subscription, sequence }: Pick<SubscriptionPosition, 'subscription' | 'sequence'>,
  source: string,
): FetchedMessage {
  return {
    payload: Buffer.from(JSON.stringify({ lost: { subscription, after: sequence } })),
    source,
    problem: `the server has no subscription ${subscription} any more: what has changed since its notification ${sequence} is lost, but for the values of now`,
  }
}
