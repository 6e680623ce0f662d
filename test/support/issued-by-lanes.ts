import { expect } from 'vitest'
import { KilledLane } from './killed-lane.ts'
import type { Twins } from './twins.ts'

/** Lanes of both accounts of a network on which an asset takes three transactions. */
export function xrplLanes(twins: Twins, killAt?: number): KilledLane {
  return new KilledLane(twins, killAt, { roles: ['distributor'], family: 'xrpl:scripted' })
}

let codes = 0

/** An asset for a new asset stream: its id, and that of the stream. */
export async function newAssetFor(twins: Twins, lanes: KilledLane) {
  const code = `A${++codes}`
  const streamId = await twins.newStream(code)
  return { id: await twins.newAsset(code, lanes.network), streamId }
}

/** What is on the chain, in its order: which account has done which step. */
export function stepsOnChain(lanes: KilledLane): readonly string[] {
  return lanes.node.onChain().map(({ from, blob }) => {
    const { deed } = JSON.parse(blob) as { readonly deed: { readonly kind: string } }
    return `${from.split(' ').at(-1)} ${deed.kind}`
  })
}

export const allSteps = ['account issuance', 'distributor authorization', 'account payment']

/** What must hold once an asset is issued, however it came to that. */
export async function expectIssued(
  twins: Twins,
  lanes: KilledLane,
  { id, streamId }: { readonly id: string; readonly streamId: string },
): Promise<void> {
  const { state } = twins.tests
  const asset = await state.selectFrom('assets').selectAll().where('id', '=', id).executeTakeFirst()
  const tokenId = `issued for ${streamId}`
  const [creation] = (await lanes.anchors()).filter((one) => one.operation === 'creation')
  expect(asset).toMatchObject({
    status: 'COMPLETED',
    failure: null,
    token_id: tokenId,
    tx_hash: creation?.transaction_hash,
  })
  const steps = (JSON.parse(asset?.progress ?? '') as readonly (readonly [string])[]).map(
    ([status]) => status,
  )
  expect(steps.filter((status) => status !== 'ERROR')).toEqual([
    'SERVICE_RECEIVED',
    'METADATA_STORED',
    'LEDGER_SUBMITTED',
    'COMPLETED',
  ])
  const stream = state.selectFrom('asset_streams').select('mapping').where('id', '=', streamId)
  expect(await stream.executeTakeFirst()).toEqual({ mapping: tokenId })
  await lanes.expectAllOnce()
}
