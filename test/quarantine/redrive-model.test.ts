import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PayloadFormat } from '../../src/contracts/stream-schema.ts'
import type { QuarantineFilter } from '../../src/ingest/quarantine/quarantine-store.ts'
import { everything } from '../../src/ingest/quarantine/quarantine-store.ts'
import { LocalPipeline } from '../support/local-pipeline.ts'

type Value = number | string | boolean
type FieldType = 'number' | 'string' | 'boolean'

/** A reading, by its time and its value. */
interface Reading {
  readonly second: number
  readonly value: Value
}

type Message =
  | 'unreadable'
  | { readonly as: 'lines' | 'array' | 'nested'; readonly readings: readonly Reading[] }

/** What the quarantine holds: one reading, several lines in one message, or what can never fit. */
type Held =
  | { readonly kind: 'reading'; readonly text: string; readonly reading: Reading }
  | { readonly kind: 'lines'; readonly text: string; readonly readings: readonly Reading[] }
  | { readonly kind: 'never'; readonly text: string }

function textOf({ second, value }: Reading): string {
  return JSON.stringify({ timestamp: `2026-01-01T00:00:0${second}Z`, v: value })
}

function payloadOf(message: Message): string {
  if (message === 'unreadable') return '{"v":'
  const texts = message.readings.map(textOf)
  if (message.as === 'lines') return texts.join('\n')
  const array = `[${texts.join(',')}]`
  return message.as === 'array' ? array : `[${array}]`
}

/** The rules of the quarantine in a few lines, without a journal, a database, or a crash. */
class Model {
  type: FieldType = 'number'
  format: PayloadFormat = 'json'
  received = 0
  duplicates = 0
  discarded = 0
  held: Held[] = []
  readonly stored = new Set<string>()

  push(message: Message): void {
    const units = this.#unitsOf(message)
    this.received += units.length
    for (const unit of units) if (!this.#store(unit)) this.held.push(unit)
  }

  redrive(isMeant: (held: Held) => boolean): void {
    const before = this.held
    this.held = []
    const unfit: Held[] = []
    for (const held of before) {
      const units = isMeant(held) ? this.#partsOf(held) : [held]
      const fits = isMeant(held) && units.some((unit) => this.#fits(unit))
      if (!fits) {
        this.held.push(held)
        continue
      }
      this.received += units.length - 1
      for (const unit of units) if (!this.#store(unit)) unfit.push(unit)
    }
    this.held.push(...unfit)
  }

  remove(isMeant: (held: Held) => boolean): void {
    const kept = this.held.filter((held) => !isMeant(held))
    this.discarded += this.held.length - kept.length
    this.held = kept
  }

  /** What a message is taken apart into when it comes. */
  #unitsOf(message: Message): Held[] {
    const text = payloadOf(message)
    if (message === 'unreadable') return [{ kind: 'never', text }]
    const units = message.readings.map(
      (reading): Held => ({
        kind: 'reading',
        text: textOf(reading),
        reading,
      }),
    )
    // A line of NDJSON that is an array is no reading, nor is an element of an array.
    if (message.as !== 'lines' && this.format === 'ndjson') return [{ kind: 'never', text }]
    if (message.as === 'nested') return [{ kind: 'never', text: text.slice(1, -1) }]
    if (message.as === 'array') return units
    if (this.format === 'ndjson' || units.length === 1) return units
    return [{ kind: 'lines', text, readings: message.readings }]
  }

  #partsOf(held: Held): Held[] {
    if (held.kind !== 'lines' || this.format !== 'ndjson') return [held]
    return held.readings.map((reading) => ({ kind: 'reading', text: textOf(reading), reading }))
  }

  #fits(held: Held): boolean {
    return held.kind === 'reading' && typeof held.reading.value === this.type
  }

  #store(held: Held): boolean {
    if (held.kind !== 'reading' || !this.#fits(held)) return false
    const identity = textOf(held.reading)
    if (this.stored.has(identity)) this.duplicates++
    this.stored.add(identity)
    return true
  }
}

interface Situation {
  readonly model: Model
  readonly real: LocalPipeline
}

type Step = (situation: Situation) => Promise<void>

const reading: fc.Arbitrary<Reading> = fc.record({
  second: fc.integer({ min: 0, max: 4 }),
  value: fc.constantFrom<Value[]>(1, 2, 'hot', true),
})
const message: fc.Arbitrary<Message> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Message>('unreadable') },
  {
    weight: 6,
    arbitrary: fc.record({
      as: fc.constantFrom('lines' as const, 'array' as const, 'nested' as const),
      readings: fc.array(reading, { minLength: 1, maxLength: 4 }),
    }),
  },
)

const push = message.map(
  (sent): Step =>
    async ({ model, real }) => {
      model.push(sent)
      await real.push(Buffer.from(payloadOf(sent)))
    },
)

const fix = fc
  .tuple(
    fc.constantFrom<FieldType[]>('number', 'string', 'boolean'),
    fc.constantFrom<PayloadFormat[]>('json', 'ndjson'),
  )
  .map(
    ([type, format]): Step =>
      async ({ model, real }) => {
        model.type = type
        model.format = format
        real.change({ fields: { v: { type } }, format })
      },
  )

/** A filter of the interface, and what it means for the model. */
interface Choice {
  readonly filter: (real: LocalPipeline) => Promise<QuarantineFilter>
  readonly isMeant: (model: Model) => (held: Held) => boolean
}

const all: Choice = { filter: async () => everything, isMeant: () => () => true }

/** Every other entry in the order of their arrival, by id. */
const half: Choice = {
  filter: async (real) => {
    await real.decide()
    const ids = (await real.held()).filter((_, index) => index % 2 === 0).map(({ id }) => id)
    return { ...everything, ids: ids.length === 0 ? [Number.MAX_SAFE_INTEGER] : ids }
  },
  isMeant: (model) => {
    const meant = new Set(model.held.filter((_, index) => index % 2 === 0))
    return (held) => meant.has(held)
  },
}

const choice = fc.constantFrom(all, half)

const redrive = choice.map(
  ({ filter, isMeant }): Step =>
    async ({ model, real }) => {
      const meant = model.held.filter(isMeant(model)).length
      const chosen = await filter(real)
      model.redrive(isMeant(model))
      const result = await real.parts.reviews.redrive(real.streamId, chosen)
      expect(result.redriven + result.remaining).toBe(meant)
    },
)

/** A redrive that ends when its entries are on disk, before anybody has taken note of them. */
const cutRedrive = fc.boolean().map(
  (isShipped): Step =>
    async ({ model, real }) => {
      real.decisionsLeft = 1
      model.redrive(() => true)
      await expect(real.parts.reviews.redrive(real.streamId, everything)).rejects.toThrow(
        'not counted',
      )
      if (isShipped) await real.ship()
      await conserves(real)
      await real.restart()
    },
)

const remove = choice.map(
  ({ filter, isMeant }): Step =>
    async ({ model, real }) => {
      const meant = model.held.filter(isMeant(model)).length
      const chosen = await filter(real)
      model.remove(isMeant(model))
      expect(await real.parts.reviews.remove(real.streamId, chosen)).toBe(meant)
    },
)

const restart = fc.constant<Step>(async ({ real }) => real.restart())
const decide = fc.constant<Step>(async ({ real }) => real.decide())
const ship = fc.constant<Step>(async ({ real }) => real.ship())

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: push },
    { weight: 2, arbitrary: fix },
    { weight: 2, arbitrary: redrive },
    { weight: 1, arbitrary: cutRedrive },
    { weight: 1, arbitrary: remove },
    { weight: 1, arbitrary: decide },
    { weight: 1, arbitrary: ship },
    { weight: 1, arbitrary: restart },
  ),
  { maxLength: 20 },
)

/** Holds at any moment, wherever the consumers stand. */
async function conserves(real: LocalPipeline) {
  const { received, ...terms } = await real.counters()
  expect(Object.values(terms).reduce((sum, term) => sum + term, 0)).toBe(received)
  expect(Math.min(...Object.values(terms))).toBeGreaterThanOrEqual(0)
  return { received, ...terms }
}

describe('readings, fixes, redrives, deletions and restarts in any order', () => {
  test('lose nothing, and count everything once', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        await using real = await LocalPipeline.open({ fields: { v: { type: 'number' } } })
        const situation = { model: new Model(), real }
        for (const step of sequence) {
          await step(situation)
          await conserves(real)
        }
        await real.decide()
        await real.ship()

        const { model } = situation
        expect(await conserves(real)).toEqual({
          received: model.received,
          stored: model.stored.size,
          duplicates: model.duplicates,
          unchanged: 0,
          filtered: 0,
          quarantined: model.held.length,
          discarded: model.discarded,
          pending: 0,
        })
        const held = (await real.held()).map(({ payload }) => Buffer.from(payload).toString())
        expect(held).toEqual(model.held.map(({ text }) => text))
        expect(await real.stored()).toHaveLength(model.stored.size)
        expect(await real.receivedByBoth()).toEqual([model.received, model.received])
      }),
      { numRuns: 60 },
    )
  })
})
