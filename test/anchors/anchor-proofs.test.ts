import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AnchorProofs, proofOfRecord } from '../../src/anchors/proofs/anchor-proofs.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { AnchoredRows, cidOf, inclusionAt } from '../support/anchored-rows.ts'
import { TestState } from '../support/test-state.ts'

const runs = 20

async function opened() {
  const state = await TestState.open()
  return {
    proofs: new AnchorProofs(state.state),
    rows: new AnchoredRows(state, state),
    [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
  }
}

test('every part of every anchor of a transaction is found at its place among all leaves', async () => {
  await using opening = await opened()
  const { proofs, rows } = opening
  let turn = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), async (sizes) => {
      turn++
      const cids = sizes.map((size, at) =>
        Array.from({ length: size }, (_, part) => cidOf(`${turn} ${at} ${part}`)),
      )
      const ids: string[] = []
      for (const own of cids) ids.push(await rows.plan(own))
      await rows.move(ids.toReversed(), 'completed', {
        hash: `hash ${turn}`,
        inclusion: inclusionAt(turn),
      })

      const all = cids.toReversed().flat()
      for (const cid of all) {
        const found = await proofs.ofCid(cid)

        expect(found?.leaves).toEqual(all)
        const part = found?.parts.find((one) => one.cid === cid)
        expect(all[part?.leafIndex ?? -1]).toBe(cid)
      }
    }),
    { numRuns: runs },
  )
})

test('of several anchors of a CID the earliest that is final is meant', async () => {
  await using opening = await opened()
  const { proofs, rows } = opening
  const cid = cidOf('shared')
  const ids: string[] = []
  for (let at = 0; at < 4; at++) ids.push(await rows.plan([cidOf(`own ${at}`), cid]))
  const [first = '', second = '', third = '', fourth = ''] = ids

  expect((await proofs.ofCid(cid))?.anchorId).toBe(first)

  await rows.move([fourth], 'completed', { hash: 'd', inclusion: inclusionAt(4) })
  expect((await proofs.ofCid(cid))?.anchorId).toBe(fourth)

  await rows.move([third], 'completed', { hash: 'c', inclusion: inclusionAt(2) })
  await rows.move([second], 'completed', { hash: 'b', inclusion: inclusionAt(3) })
  expect(await proofs.ofCid(cid)).toMatchObject({ anchorId: third, inclusion: inclusionAt(2) })
})

test.each([
  ['waiting', 'METADATA_STORED', undefined],
  ['signed', 'METADATA_STORED', undefined],
  ['submitted', 'LEDGER_SUBMITTED', 'h'],
  ['included', 'LEDGER_SUBMITTED', 'h'],
  ['error', 'ERROR', 'h'],
  ['failed', 'FAILED', 'h'],
] as const)('an anchor that is %s is %s, and nothing final', async (state, status, hash) => {
  await using opening = await opened()
  const { proofs, rows } = opening
  const id = await rows.plan([cidOf('a'), cidOf('b')], { resourceId: 'resource' })
  await rows.move([id], state, { hash: 'h' })

  const found = await proofs.ofResource('resource')

  expect(found).toMatchObject({ cid: cidOf('a'), status, isFinal: false, inclusion: undefined })
  expect(found?.transaction?.hash).toBe(hash)
})

test('of a resource each CID that was anchored of it is found, and no other', async () => {
  await using opening = await opened()
  const { proofs, rows } = opening
  const resourceId = 'resource'
  const made = await rows.plan([cidOf('a'), cidOf('b')], { resourceId })
  const image = await rows.plan([cidOf('c')], { resourceId, operation: 'image:1' })
  await rows.plan([cidOf('d')])

  expect(await proofs.ofResource(resourceId, cidOf('b'))).toMatchObject({ anchorId: made })
  expect(await proofs.ofResource(resourceId, cidOf('c'))).toMatchObject({ anchorId: image })
  expect(await proofs.ofResource(resourceId, cidOf('d'))).toBeUndefined()
  expect(await proofs.ofCid(cidOf('e'))).toBeUndefined()
})

test('a proof says of a CID and of those beside it how they lead to one root', async () => {
  await using opening = await opened()
  const { proofs, rows } = opening
  const [a, b, c] = ['a', 'b', 'c'].map(cidOf) as [string, string, string]
  const vault = await rows.plan([a, b], { resourceId: 'vault' })
  const other = await rows.plan([c])
  await rows.move([other, vault], 'completed', { hash: 'h', inclusion: inclusionAt(7) })

  const record = await proofs.ofResource('vault', b)
  if (!record) throw new Error('there is no record')
  const proof = proofOfRecord(record, { isAlone: false })

  expect(proof).toMatchObject({ final: true, status: 'COMPLETED', cid: b, tx_hash: 'h' })
  expect(proof.parts.map((part) => part.cid)).toEqual([b, a])
  for (const { cid, path } of proof.parts) {
    expect(path && rootBy(leafHash(cid), path)?.toString('hex')).toBe(proof.root)
  }
  expect(proofOfRecord(record, { isAlone: true }).parts.map((part) => part.cid)).toEqual([b])
})

test('a proof of what is not sent yet says no transaction, and is not final', async () => {
  await using opening = await opened()
  const { proofs, rows } = opening
  await rows.plan([cidOf('a')], { resourceId: 'vault' })

  const record = await proofs.ofResource('vault')
  if (!record) throw new Error('there is no record')

  expect(proofOfRecord(record, { isAlone: false })).toMatchObject({
    final: false,
    status: 'METADATA_STORED',
    root: null,
    tx_hash: null,
    block: null,
    signatures: [],
    parts: [{ name: '', cid: cidOf('a'), path: null }],
  })
})
