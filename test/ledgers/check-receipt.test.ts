import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatUs } from '../../src/core/time.ts'
import { checkReceiptText } from '../../src/ledgers/seals/check-receipt.ts'
import {
  type MadeReceipt,
  readingOf,
  receiptOf,
  type SealedReading,
  sealedReceipt,
  startUs,
} from '../support/sealed-receipts.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const timeUs = startUs + 60_000_000
const timestamp = formatUs(timeUs)
const values = { temperature: 21.5, note: 'é "', nested: { list: [1, null, true] }, zero: 0 }
let made: MadeReceipt
let twice: MadeReceipt
let alone: MadeReceipt

beforeAll(async () => {
  const before: SealedReading = { timestampUs: startUs, values: { temperature: 20 } }
  const after: SealedReading = { timestampUs: timeUs + 1, values: { temperature: 22 } }
  const one: SealedReading = { timestampUs: timeUs, values }
  const other: SealedReading = { timestampUs: timeUs, values: { temperature: 30 } }
  made = await sealedReceipt(folder.file('one'), [before, one, after], { timestampUs: timeUs })
  twice = await sealedReceipt(folder.file('two'), [before, one, other], { timestampUs: timeUs })
  alone = await sealedReceipt(folder.file('three'), [one], { timestampUs: timeUs, revision: 1 })
})

afterAll(() => folder[Symbol.dispose]())

type Place = readonly string[]

async function check(value: unknown, trusted = made.keyId) {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return await checkReceiptText(text, new Set([trusted]))
}

/** Places of all leaves that are covered by a hash, or have to match one that is. */
function leavesIn(value: unknown, above: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [above]
  return Object.entries(value).flatMap(([name, member]) => leavesIn(member, [...above, name]))
}

function memberAt(value: unknown, place: Place): unknown {
  return place.reduce((within, name) => (within as Record<string, unknown>)[name], value)
}

function withMember<Value>(value: Value, place: Place, member: unknown): Value {
  const copy = structuredClone(value)
  const within = memberAt(copy, place.slice(0, -1)) as Record<string, unknown>
  within[place.at(-1) ?? ''] = member
  return copy
}

/** What a receipt says beside its reading and its seal: no hash covers it. */
const uncovered =
  /^(answeredAt|hasMore|readings\.0\.(outcome|digest|arrival|journal|definition|verdict|windows|alerts|events|missing)|readings\.0\.seal\.(sealedAt|tx_hash|problem)|readings\.0\.seal\.proof\.proof\.ledger$)/

function changesOf(member: unknown): fc.Arbitrary<unknown> {
  const near =
    typeof member === 'number'
      ? [member + 1, member - 1, -member - 1, String(member)]
      : typeof member === 'string'
        ? [`${member} `, member.slice(1), member.toUpperCase(), lastChanged(member)]
        : []
  return fc.oneof(fc.constantFrom(null, 0, '', true, ...near), fc.anything({ maxDepth: 1 }))
}

/** A number or a text that is near to another one. */
function changedLeaf(member: unknown): unknown {
  if (typeof member === 'number') return member + 1
  return typeof member === 'string' ? lastChanged(member) : null
}

function lastChanged(text: string): string {
  return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
}

describe('a receipt', () => {
  test('of a sealed reading is proven, with its place in the seal', async () => {
    const { verdict, readings } = await check(made.receipt)

    expect(verdict).toMatchObject({ is: 'proven', keyId: made.keyId })
    expect(readings).toHaveLength(1)
    expect(readings[0]).toMatchObject({
      outcome: 'stored',
      index: 1,
      seal: { startUs, revision: 2, count: 3 },
    })
    expect(JSON.parse(readings[0]?.text ?? '')).toMatchObject({ time: timestamp, values })
  })

  test('of the only reading of a first seal is proven', async () => {
    expect((await check(alone.receipt, alone.keyId)).verdict).toMatchObject({ is: 'proven' })
  })

  test('of a reading with an undeclared field that is called as the time is proven', async () => {
    const odd = { timestampUs: timeUs, values: { timestamp: 7, temperature: 20 } }
    const one = await sealedReceipt(folder.file('odd'), [odd], { timestampUs: timeUs })
    const reading = { timestamp, temperature: 20 }
    const receipt = withMember(one.receipt, ['readings', '0', 'reading'], reading)
    expect((await check(receipt, one.keyId)).verdict).toMatchObject({ is: 'proven' })
  })

  test('of several readings is proven for each', async () => {
    const { verdict, readings } = await check(twice.receipt, twice.keyId)
    expect(verdict).toMatchObject({ is: 'proven' })
    expect(readings.map((one) => [one.verdict.is, one.index])).toEqual([
      ['proven', 1],
      ['proven', 2],
    ])
  })

  test('of a hundred readings of one time among thousands is proven for each', async () => {
    const readings = Array.from({ length: 3_000 }, (_, at): SealedReading => {
      const own = at >= 1_000 && at < 1_100
      return { timestampUs: own ? timeUs : startUs + at, values: { at, note: 'x'.repeat(1_000) } }
    })
    const many = await sealedReceipt(folder.file('many'), readings, { timestampUs: timeUs })
    const { verdict, readings: checked } = await check(many.receipt, many.keyId)
    expect(verdict).toMatchObject({ is: 'proven' })
    expect(checked.map(({ index }) => index)).toEqual(checked.map((_, at) => 1_000 + at))
    expect(checked).toHaveLength(100)
  })

  test('is proven under its key when no one trusts that', async () => {
    const { verdict } = await check(made.receipt, 'another')
    expect(verdict).toMatchObject({ is: 'proven_under_key', keyId: made.keyId })
  })

  test('does not depend on white space or on the order of members', async () => {
    const { readings, ...rest } = made.receipt
    const text = JSON.stringify({ readings, ...rest }, null, 2)
    expect((await check(text)).verdict).toMatchObject({ is: 'proven' })
  })

  test('with any covered value that is another one is not proven', async () => {
    const places = leavesIn(made.receipt).filter((place) => !uncovered.test(place.join('.')))
    expect(places.length).toBeGreaterThan(50)
    const change = fc
      .constantFrom(...places)
      .chain((place) => fc.tuple(fc.constant(place), changesOf(memberAt(made.receipt, place))))
    await fc.assert(
      fc.asyncProperty(change, async ([place, member]) => {
        const text = JSON.stringify(withMember(made.receipt, place, member))
        fc.pre(text !== JSON.stringify(made.receipt))
        expect((await check(text)).verdict, place.join('.')).toMatchObject({ is: 'contradicted' })
      }),
      { numRuns: 5_000 },
    )
  })

  test('with any leaf that is near to another one is not proven', async () => {
    const shown: string[] = []
    for (const place of leavesIn(made.receipt)) {
      const member = memberAt(made.receipt, place)
      if (uncovered.test(place.join('.')) || typeof member === 'object') continue
      const other = changedLeaf(member)
      const { verdict } = await check(withMember(made.receipt, place, other))
      if (verdict.is !== 'contradicted') shown.push(place.join('.'))
    }
    expect(shown).toEqual([])
  })

  test('without any of its members, or with one more, is contradicted', async () => {
    for (const place of [
      [],
      ['readings', '0'],
      ['readings', '0', 'seal'],
      ['readings', '0', 'seal', 'proof'],
      ['readings', '0', 'seal', 'proof', 'batch'],
    ]) {
      const within = memberAt(made.receipt, place) as Readonly<Record<string, unknown>>
      const changes = [
        { ...within, remark: 'believe me' },
        ...Object.keys(within).map((name) => {
          return Object.fromEntries(Object.entries(within).filter(([one]) => one !== name))
        }),
      ]
      for (const one of changes) {
        const changed = place.length === 0 ? one : withMember(made.receipt, place, one)
        expect((await check(changed)).verdict).toMatchObject({ is: 'contradicted' })
      }
    }
  })

  test.each<[string, Place, unknown, RegExp]>([
    ['a field too many', ['reading', 'pressure'], 1, /text is not that of the fields/],
    ['the place of another seal', ['seal', 'path', 'index'], 0, /path does not lead/],
    ['a window of another time', ['windows', '0', 'end'], timestamp, /does not have the time/],
    ['an alert of no event', ['alerts', '0', 'eventId'], 'event 2', /not in events/],
    [
      'attempts out of order',
      ['events', '0', 'deliveries', '0', 'attempts', '1', 'attempt'],
      1,
      /not in their order/,
    ],
    ['another transaction', ['seal', 'tx_hash'], 'f'.repeat(64), /tx_hash is not that/],
    ['a status of before', ['seal', 'status'], 'LEDGER_SUBMITTED', /status is not that/],
    ['no proof', ['seal', 'proof'], null, /no proof/],
    ['another outcome', ['outcome'], 'quarantined', /was not stored/],
    ['a path, and a problem', ['seal', 'problem'], { error: 'e', message: 'm' }, /or both/],
    ['a digest that is none', ['digest'], 'xyz', /64 bits/],
  ])('with %s is contradicted', async (_, place, member, reason) => {
    const { verdict } = await check(withMember(made.receipt, ['readings', '0', ...place], member))
    expect(verdict).toMatchObject({ is: 'contradicted', reason: expect.stringMatching(reason) })
  })

  test('with the text and the path of another time is contradicted', async () => {
    const readings = [startUs, timeUs].map((timestampUs) => ({ timestampUs, values }))
    const seal = { timestampUs: startUs }
    const earlier = await sealedReceipt(folder.file('same'), readings, seal)
    const reading = ['readings', '0', 'reading', 'timestamp']
    const claimed = withMember({ ...earlier.receipt, timestamp }, reading, timestamp)
    const { verdict } = await check(claimed, earlier.keyId)
    expect(verdict).toMatchObject({ reason: expect.stringMatching(/of this stream and time/) })
  })

  test('with a time that is written in another way is contradicted', async () => {
    for (const time of [timestamp.replace('Z', '1Z'), timestamp.replace('Z', '+00:00')]) {
      const { verdict } = await check({ ...made.receipt, timestamp: time })
      expect(verdict).toMatchObject({ reason: expect.stringMatching(/not a time in UTC/) })
    }
  })

  test('with the proof of another batch is contradicted', async () => {
    const { proof } = twice.sealProof
    const place = ['readings', '0', 'seal', 'proof', 'proof']
    const changed = withMember(made.receipt, place, proof)
    const { verdict } = await check(changed)
    expect(verdict).toMatchObject({ reason: expect.stringMatching(/not of the text of the batch/) })
  })

  test.each([
    ['that is not aligned', { start: formatUs(startUs + 1) }],
    ['that ends before it begins', { end: formatUs(startUs) }],
    ['of another time', { start: formatUs(startUs - 900_000_000), end: formatUs(startUs) }],
    ['of a later revision that names none before', { previous: null }],
    ['of a first revision that names one before', { revision: 1 }],
    ['of no readings', { count: 0 }],
  ])('with a seal %s is contradicted', async (_, change) => {
    const [reading] = made.receipt.readings
    const unproven = { status: 'SERVICE_RECEIVED', tx_hash: null, proof: null }
    const seal = { ...reading?.seal, ...unproven, path: null, problem: { error: '', message: '' } }
    const answer = (more: object) => ({
      ...made.receipt,
      readings: [{ ...reading, seal: { ...seal, ...more } }],
    })
    expect((await check(answer({}))).verdict).toMatchObject({ is: 'not_found' })
    expect((await check(answer(change))).verdict).toMatchObject({ is: 'contradicted' })
  })

  test('with one delivery twice, or one event twice, is contradicted', async () => {
    const [event] = made.receipt.readings[0]?.events ?? []
    const [delivery] = event?.deliveries ?? []
    const place = ['readings', '0', 'events']
    for (const events of [
      [event, event],
      [{ ...event, deliveries: [delivery, delivery] }],
      [event, { ...event, eventId: 'event 2' }],
      [event, { ...event, deliveries: [] }],
    ]) {
      const { verdict } = await check(withMember(made.receipt, place, events))
      expect(verdict).toMatchObject({ is: 'contradicted', reason: expect.stringMatching(/twice/) })
    }
  })

  test('with the events of alerts that are named as missing is proven', async () => {
    const [reading] = made.receipt.readings
    const kept = { ...reading, events: [], missing: [{ what: 'events', reason: 'expired' }] }
    const { verdict } = await check({ ...made.receipt, readings: [kept] })
    expect(verdict).toMatchObject({ is: 'proven' })
  })

  test('with a reading that is there twice is contradicted: the seal has it once', async () => {
    const [reading] = made.receipt.readings
    const { verdict } = await check({ ...made.receipt, readings: [reading, reading] })
    expect(verdict).toMatchObject({
      is: 'contradicted',
      reason: expect.stringMatching(/same place/),
    })
  })

  test.each<[string, object]>([
    ['no seal', { seal: null }],
    ['a seal on no ledger yet', { status: 'SERVICE_RECEIVED', tx_hash: null, proof: null }],
    ['a seal without the path', { path: null, problem: { error: 'neighbours_gone', message: '' } }],
  ])('of a reading with %s shows nothing yet', async (_, change) => {
    const [reading] = made.receipt.readings
    const seal = 'seal' in change ? null : { ...reading?.seal, ...change }
    const { verdict } = await check({ ...made.receipt, readings: [{ ...reading, seal }] })
    expect(verdict).toMatchObject({ is: 'not_found' })
  })

  test('of readings that were not stored shows nothing, and takes nothing from one that was', async () => {
    const refused = ['quarantined', 'filtered', 'unchanged', 'duplicate'].map((outcome) => {
      return readingOf(outcome, null)
    })
    const { verdict } = await check(receiptOf(timeUs, refused))
    expect(verdict).toMatchObject({ is: 'not_found', reason: expect.stringMatching(/not stored/) })
    const among = { ...made.receipt, readings: [...refused, ...made.receipt.readings] }
    expect((await check(among)).verdict).toMatchObject({ is: 'proven' })
  })

  test('is as good as its worst reading', async () => {
    const [reading] = made.receipt.readings
    for (const [other, is] of [
      [readingOf('pending', { timestamp }), 'not_found'],
      [readingOf('gone', null), 'not_found'],
      [readingOf('duplicate', { timestamp: formatUs(0) }), 'contradicted'],
    ] as const) {
      const { verdict, readings } = await check({ ...made.receipt, readings: [reading, other] })
      expect([verdict.is, readings[0]?.verdict.is]).toEqual([is, 'proven'])
    }
  })

  test('says that the ledger of another network has to be asked', async () => {
    const place = ['readings', '0', 'seal', 'proof', 'proof']
    const others = { network: 'xrpl-mainnet', transaction: '1200195000', signatures: [] }
    const said = memberAt(made.receipt, place) as object
    const { verdict } = await check(withMember(made.receipt, place, { ...said, ...others }))
    expect(verdict).toMatchObject({ is: 'unreachable' })
  })

  test('that is anything at all gets a verdict', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (text) => {
        expect((await check(text)).verdict).toMatchObject({ is: 'contradicted' })
      }),
    )
    const empty = { ...made.receipt, readings: [] }
    const many = { ...made.receipt, readings: Array.from({ length: 2_000 }, () => 0) }
    const deep = '['.repeat(5_000_000) + ']'.repeat(5_000_000)
    const large = ' '.repeat(10 * 1024 * 1024)
    for (const one of [empty, many, deep, large, `${large}{}`, 'x'.repeat(40 * 1024 * 1024)]) {
      expect((await check(one)).verdict).toMatchObject({ is: 'contradicted' })
    }
  })

  test('with a value as deep as can be gets a verdict', async () => {
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
    const text = JSON.stringify(made.receipt).replace('21.5', deep)
    expect((await check(text)).verdict).toMatchObject({ is: 'contradicted' })
  })

  test('with any member that is anything at all gets a verdict', async () => {
    const places = leavesIn(made.receipt).flatMap((place) =>
      place.map((_, at) => place.slice(0, at + 1)),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.anything({ maxDepth: 2 }),
        async (place, value) => {
          const { verdict } = await check(withMember(made.receipt, place, value))
          expect(verdict.is).toMatch(/^(proven|not_found|contradicted)$/)
        },
      ),
      { numRuns: 3_000 },
    )
  })
})

describe('the proof of a seal', () => {
  test('alone shows the seal', async () => {
    const { verdict, readings } = await check(made.sealProof)
    expect(verdict).toMatchObject({ is: 'proven' })
    expect(readings).toMatchObject([{ outcome: undefined, seal: { startUs, count: 3 } }])
  })

  test('with any value that is another one shows nothing', async () => {
    const shown: string[] = []
    for (const place of leavesIn(made.sealProof)) {
      const member = memberAt(made.sealProof, place)
      if (typeof member === 'object' || place.join('.') === 'proof.ledger') continue
      const other = changedLeaf(member)
      const { verdict } = await check(withMember(made.sealProof, place, other))
      if (verdict.is !== 'contradicted') shown.push(place.join('.'))
    }
    expect(shown).toEqual([])
  })
})
