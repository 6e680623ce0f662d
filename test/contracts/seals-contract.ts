import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { parseBatchText, parseSealText } from '../../src/ledgers/seals/seal-text.ts'
import { dayUs, type ReadingKind, Sealing } from '../support/sealing.ts'
import type { OpenNewStore } from './open-store.ts'

const quarterUs = 15 * 60_000_000

/** What happens one after the other; the last one of a round is that all of it is done. */
type Deed =
  | {
      readonly does: 'receive'
      readonly minutes: readonly number[]
      readonly kind: ReadingKind
      readonly value: number
    }
  | { readonly does: 'decide' | 'ship' | 'restart' }
  | {
      readonly does: 'step'
      readonly statements: number
      /** What comes, and is decided, while a stretch is read. */
      readonly meanwhile: readonly number[]
    }

type Round = readonly Deed[] | { readonly removesFrom: number; readonly to: number }

const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    does: fc.constant('receive' as const),
    minutes: fc.array(fc.nat(50), { minLength: 1, maxLength: 5 }),
    kind: fc.constantFrom<ReadingKind>('accepted', 'imported', 'redriven'),
    value: fc.nat(2),
  }),
  fc.record({ does: fc.constantFrom('decide' as const, 'ship' as const, 'restart' as const) }),
  fc.record({
    does: fc.constant('step' as const),
    statements: fc.oneof(fc.nat(30), fc.constant(1_000)),
    meanwhile: fc.array(fc.nat(50), { maxLength: 2 }),
  }),
)

const anyRound: fc.Arbitrary<Round> = fc.oneof(
  { weight: 4, arbitrary: fc.array(anyDeed, { minLength: 1, maxLength: 10 }) },
  {
    weight: 1,
    arbitrary: fc.record({ removesFrom: fc.nat(40), to: fc.integer({ min: 41, max: 60 }) }),
  },
)

/** How stretches become seals, whatever the store is that the readings are in. */
export function describeSeals(name: string, openStore: OpenNewStore, numRuns: number): void {
  describe(`seals of ${name}`, () => {
    test('are roots over what is stored, each once, whatever comes when and wherever it is killed', async () => {
      await using sealing = await Sealing.open(openStore)
      await fc.assert(
        fc.asyncProperty(fc.array(anyRound, { minLength: 1, maxLength: 5 }), async (rounds) => {
          await sealing.newStream()
          const newest = new Map<number, { readonly count: number; readonly root: string }>()
          for (const round of rounds) {
            const touched = await done(sealing, round)
            for (const startUs of touched) {
              const now = await sealing.rootNow({ startUs, endUs: startUs + quarterUs })
              if (now.count > 0) newest.set(startUs, now)
            }
            const seals = await sealing.list()
            const last = new Map(
              seals.map(({ startUs, count, root }) => [startUs, { count, root }]),
            )
            expect(last).toEqual(newest)
          }
          await expectOrder(sealing)
        }),
        { numRuns },
      )
    })

    test('say which root was before, when a late reading comes', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.receive([1, 2])
      await sealing.settle()
      sealing.receive([3])
      await sealing.settle()

      const [first, second] = await sealing.list()
      expect(first).toMatchObject({ startUs: dayUs, revision: 1, count: 2, previous: null })
      expect(second).toMatchObject({ startUs: dayUs, revision: 2, count: 3, previous: first?.root })
    })

    test('are no other ones for a reading that is stored already', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.receive([1, 2])
      await sealing.settle()
      const before = await sealing.list()
      sealing.receive([1, 2])
      sealing.receive([2], { kind: 'redriven' })
      await sealing.settle()

      expect(await sealing.list()).toEqual(before)
      expect(await sealing.waiting()).toEqual([])
    })

    test('stay as they are when readings are removed', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.receive([1, 2, 20])
      await sealing.settle()
      const before = await sealing.list()
      sealing.remove(0, 2)
      await sealing.settle()

      expect(await sealing.list()).toEqual(before)
    })

    test('are none of a stretch whose readings were removed before', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.receive([1])
      sealing.remove(0, 60)
      await sealing.settle()

      expect(await sealing.list()).toEqual([])
      expect(await sealing.waiting()).toEqual([])
    })

    test('are of both lengths where the length has changed within a stretch', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream([{ seal: '15m' }, { seal: '1h' }, {}])
      sealing.receive([1])
      sealing.receive([2], { version: 2 })
      sealing.receive([40], { version: 3 })
      await sealing.settle()

      expect(await sealing.list()).toMatchObject([
        { startUs: dayUs, endUs: dayUs + quarterUs, count: 2 },
        { startUs: dayUs, endUs: dayUs + 4 * quarterUs, count: 3 },
      ])
      const covering = await sealing.seals.covering(sealing.streamId, dayUs + 60_000_000)
      expect(covering.map(({ endUs }) => endUs - dayUs).toSorted((a, b) => a - b)).toEqual([
        quarterUs,
        4 * quarterUs,
      ])
    })

    test('cost nothing while no stretch is due, and where no stream has any', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream([{}])
      await sealing.settle()
      sealing.asked = 0
      sealing.receive([1, 2, 3])
      await sealing.settle()
      expect(sealing.asked).toBe(0)

      await sealing.newStream()
      sealing.nowUs = dayUs + 60_000_000
      sealing.receive([1])
      await sealing.settle()
      await sealing.settle()
      sealing.asked = 0
      sealing.receive([2, 3])
      await sealing.settle()
      expect(sealing.asked).toBe(0)
    })

    test('wait for the end of their stretch', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.nowUs = dayUs + quarterUs - 1
      sealing.receive([1])
      await sealing.settle()
      expect(await sealing.list()).toEqual([])
      expect(await sealing.waiting()).toMatchObject([{ dueAtUs: dayUs + quarterUs, problem: null }])
      sealing.nowUs++
      await sealing.settle()

      expect(await sealing.list()).toMatchObject([{ count: 1 }])
    })

    test('do not wait for a clock that was ahead when readings came late', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      const { nowUs } = sealing
      sealing.nowUs += 365 * 86_400_000_000
      sealing.receive([1])
      await sealing.decide()
      await sealing.ship()
      sealing.nowUs = nowUs
      await sealing.settle()
      await sealing.settle()

      expect(await sealing.list()).toMatchObject([{ count: 1 }])
    })

    test('wait for what was decided and is not stored', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.receive([1])
      await sealing.decide()
      await sealing.ship()
      sealing.receive([2])
      await sealing.decide()
      await sealing.step()
      expect(await sealing.list()).toEqual([])
      await sealing.ship()
      await sealing.step()

      expect(await sealing.list()).toMatchObject([{ revision: 1, count: 2 }])
    })

    test('that cannot be made now wait with the reason, and others are made', async () => {
      await using sealing = await Sealing.open(openStore)
      await sealing.newStream()
      sealing.receive([1])
      sealing.failure = new DomainError('query_too_slow', 'it takes too long')
      await sealing.settle()
      sealing.failure = undefined
      sealing.receive([20])
      await sealing.settle()

      expect(sealing.putOff).toEqual([expect.any(DomainError)])
      expect(sealing.sealer.status).toMatchObject({ added: 1, failures: 1 })
      expect(await sealing.list()).toMatchObject([{ startUs: dayUs + quarterUs }])
      expect(await sealing.waiting()).toMatchObject([
        { startUs: dayUs, problem: { error: 'query_too_slow', message: 'it takes too long' } },
      ])
      sealing.nowUs += 3_600_000_000
      await sealing.settle()
      expect(await sealing.list()).toHaveLength(2)
      expect(await sealing.waiting()).toEqual([])
    })
  })
}

/** Does a round, and then all that is left to do. Returns where the stretches begin that readings came for. */
async function done(sealing: Sealing, round: Round): Promise<ReadonlySet<number>> {
  const touched = new Set<number>()
  const touch = (minutes: readonly number[]) => {
    for (const minute of minutes) touched.add(dayUs + Math.floor(minute / 15) * quarterUs)
  }
  if ('removesFrom' in round) {
    sealing.remove(round.removesFrom, round.to)
    await sealing.settle()
    return touched
  }
  for (const deed of round) {
    if (deed.does === 'receive') {
      sealing.receive(deed.minutes, deed)
      touch(deed.minutes)
    }
    if (deed.does === 'decide') await sealing.decide()
    if (deed.does === 'ship') await sealing.ship()
    if (deed.does === 'restart') await sealing.restart()
    if (deed.does === 'step') {
      sealing.atRead = async () => {
        sealing.receive(deed.meanwhile, { value: 3 })
        touch(deed.meanwhile)
        await sealing.decide()
      }
      if (await sealing.step(deed.statements)) await sealing.restart()
      sealing.atRead = undefined
    }
  }
  await sealing.settle()
  return touched
}

/** Each revision is there once and names the one before, and each seal is in one batch, which has one anchor. */
async function expectOrder(sealing: Sealing): Promise<void> {
  const seals = await sealing.list()
  for (const [at, { startUs, revision, previous }] of seals.entries()) {
    const before = seals[at - 1]
    const isFirst = before?.startUs !== startUs
    expect(revision).toBe(isFirst ? 1 : before.revision + 1)
    expect(previous).toBe(isFirst ? null : before.root)
  }
  expect(await sealing.waiting()).toEqual([])
  for (const [at, progress] of (await sealing.seals.progressOf(seals)).entries()) {
    const { proof } = progress
    expect(progress).toMatchObject({ status: 'METADATA_STORED', txHash: null })
    const batch = parseBatchText(proof?.batch.text ?? '')
    expect(parseSealText(proof?.text ?? '')).toMatchObject({ root: seals[at]?.root })
    const path = proof?.batch.path ?? { index: 0, size: 0, hashes: [] }
    expect(rootBy(leafHash(proof?.text ?? ''), path)?.toString('hex')).toBe(batch?.root)
    expect(path.size).toBe(batch?.count)
  }
  const anchors = await sealing.state
    .selectFrom('anchors')
    .select((row) => row.fn.countAll<number>().as('all'))
    .select((row) => row.fn.count<number>('resource_id').distinct().as('batches'))
    .executeTakeFirstOrThrow()
  const batches = await sealing.state
    .selectFrom('seal_batches')
    .select((row) => row.fn.countAll<number>().as('batches'))
    .executeTakeFirstOrThrow()
  expect(anchors).toEqual({ all: batches.batches, batches: batches.batches })
}
