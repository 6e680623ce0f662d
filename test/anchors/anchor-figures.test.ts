import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { anchorFigures } from '../../src/anchors/figures/anchor-figures.ts'
import type { AnchorState } from '../../src/anchors/intents/anchor.ts'
import { AnchoredRows, cidOf } from '../support/anchored-rows.ts'
import { TestState } from '../support/test-state.ts'

const runs = 20

const states: readonly AnchorState[] = [
  'waiting',
  'signed',
  'submitted',
  'included',
  'completed',
  'failed',
  'error',
]

const step = fc.record({
  network: fc.constantFrom('sandbox', 'elsewhere'),
  to: fc.constantFrom(...states),
  isRemoved: fc.boolean(),
  at: fc.nat({ max: 20 }),
})

test('anchors are counted by state as they are, whatever becomes of them', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      await using state = await TestState.open()
      const rows = new AnchoredRows(state, state)
      const ids: string[] = []
      for (const { network, to, isRemoved, at } of steps) {
        ids.push(await rows.plan([cidOf('a')], { network }))
        const id = ids[at % ids.length] ?? ''
        if (isRemoved) await state.commit(state.state.deleteFrom('anchors').where('id', '=', id))
        else await rows.move([id], to, { hash: randomUUID() })
      }

      const { byState } = await anchorFigures(state.state, { steadyUs: () => 0 })

      const found = await state.state.selectFrom('anchors').select('state').execute()
      const counted = states.map((one) => [one, found.filter((row) => row.state === one).length])
      expect(byState).toEqual(Object.fromEntries(counted))
    }),
    { numRuns: runs },
  )
})

test('the oldest that is under way is that which was begun first, of whatever network', async () => {
  await using state = await TestState.open()
  const rows = new AnchoredRows(state, state)
  const begunAtS = async (id: string, atS: number) =>
    await state.commit(
      state.state
        .updateTable('anchors')
        .set({ begun_at: atS * 1_000_000 })
        .where('id', '=', id),
    )
  const oldest = async () =>
    (await anchorFigures(state.state, { steadyUs: () => 100_000_000 })).oldestS
  expect(await oldest()).toBe(0)

  const done = await rows.plan([cidOf('a')])
  await begunAtS(done, 1)
  const elsewhere = await rows.plan([cidOf('b')], { network: 'elsewhere' })
  await begunAtS(elsewhere, 40)
  await begunAtS(await rows.plan([cidOf('c')]), 60)
  expect(await oldest()).toBe(99)

  await rows.move([done], 'completed', { hash: 'h' })
  expect(await oldest()).toBe(60)
  await rows.move([elsewhere], 'error', { hash: 'i' })
  expect(await oldest()).toBe(40)
})

test('what waits beside anchors is counted', async () => {
  await using state = await TestState.open()
  const rows = new AnchoredRows(state, state)
  await rows.move([await rows.plan([cidOf('a')])], 'signed', { hash: 'h' })
  await rows.move([await rows.plan([cidOf('b')])], 'signed', { hash: 'i' })
  await state.commit(
    state.state.insertInto('verifications').values({ id: '1', vault_id: '2', requested_at: 0 }),
    state.state.insertInto('unanchored').values({ resource_type: 'vault', resource_id: '3' }),
  )

  expect(await anchorFigures(state.state, { steadyUs: () => 0 })).toMatchObject({
    transactions: 2,
    verifications: 1,
    unanchored: 1,
  })
})
