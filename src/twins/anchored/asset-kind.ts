import type { Compilable } from 'kysely'
import type { AnchoredKind, ResourceMove } from '../../anchors/intents/anchored-kind.ts'
import type { Clocks } from '../../core/clock.ts'
import { type AssetStep, assetStepsOf } from '../../ledgers/assets/asset-steps.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Asset } from '../assets/asset.ts'
import { eventOfAsset } from '../assets/asset-events.ts'
import { fromRow, plannedStep } from '../assets/asset-store.ts'
import { completedStatus, errorStatus, statusBeforeError } from '../progress/progress.ts'
import { movedRow, type ToldWord } from './moved-row.ts'
import type { KindNeeds } from './resource-kind.ts'

export interface AssetKindNeeds extends KindNeeds {
  readonly clock: Clocks
}

/** The catalogue has one word for both ends that are none: the status says which it is. */
const words = { completed: 'deployed', failed: 'error', error: 'error' } as const satisfies Record<
  ToldWord,
  string
>

/**
 * What anchors mean for assets, of which each takes one or several: the next is planned when the one before is on the ledger for
 * good, with the asset in one transaction.
 */
export function assetKind(needs: AssetKindNeeds): AnchoredKind {
  return {
    type: 'asset',
    async move(transaction, moves) {
      let isMore = false
      for (const move of moves) isMore = (await moveAsset(needs, transaction, move)) || isMore
      return isMore
    },
  }
}

/** Resolves with whether its next step is planned. */
async function moveAsset(
  needs: AssetKindNeeds,
  transaction: StateDatabase,
  move: ResourceMove,
): Promise<boolean> {
  const found = await assetOf(transaction, move.resourceId)
  const place = found && placeOf(found.asset, move.operation)
  const moved = place && movedAsset(found.asset, move, place)
  if (!moved) return false
  const { asset, told } = moved
  const { code } = found
  const next = move.statuses.includes(completedStatus) ? place.next : undefined
  const telling = told && { word: words[told], name: code, isQuiet: move.isQuiet }
  await run(transaction, [
    ...changesOf(transaction, asset),
    ...(next ? plannedStep({ ...needs, state: transaction }, { asset, code }, next) : []),
    ...(telling ? needs.lifecycle.record(eventOfAsset(asset, telling)) : []),
  ])
  return next !== undefined
}

/** Where among the steps of an asset one is. */
interface Place {
  readonly isFirst: boolean
  /** Undefined for the last one. */
  readonly next: AssetStep | undefined
}

/** Undefined for what is no step. */
function placeOf({ network }: Asset, operation: string): Place | undefined {
  const steps = assetStepsOf(network)
  const at = steps.findIndex((step) => step.operation === operation)
  return at < 0 ? undefined : { isFirst: at === 0, next: steps[at + 1] }
}

interface MovedAsset {
  readonly asset: Asset
  readonly told: ToldWord | undefined
}

/** What becomes of an asset when one of its steps comes further: it is done when the last of them is. */
function movedAsset(
  asset: Asset,
  move: ResourceMove,
  { isFirst, next }: Place,
): MovedAsset | undefined {
  const statuses = move.statuses.filter((status) => !next || status !== completedStatus)
  // A step that comes to pass after an error is gone on from, as if somebody had asked for that.
  const isResumed = statuses.length < move.statuses.length && asset.status === errorStatus
  const { status, txHash, progress } = asset
  const before = {
    status: isResumed ? statusBeforeError(progress) : status,
    tx_hash: txHash,
    progress,
    failure: isResumed ? null : asset.failure,
  }
  const facts = isFirst ? move.facts : { ...move.facts, txHash: '', tokenId: '' }
  const moved = movedRow(before, { ...move, statuses, facts })
  if (!moved) return undefined
  const { row, told } = moved
  const tokenId = moved.isSubmitted && facts.tokenId !== '' ? facts.tokenId : asset.tokenId
  const { status: to, tx_hash: hash, failure } = row
  return {
    asset: { ...asset, status: to, txHash: hash, progress: row.progress, failure, tokenId },
    told,
  }
}

async function assetOf(transaction: StateDatabase, id: string) {
  const row = await transaction
    .selectFrom('assets')
    .innerJoin('asset_streams', 'asset_streams.id', 'assets.stream_id')
    .selectAll('assets')
    .select('asset_streams.asset_code as code')
    .where('assets.id', '=', id)
    .executeTakeFirst()
  return row && { asset: fromRow(row), code: row.code }
}

/** What an asset is now, and what its stream says of it once it is issued. */
function changesOf(transaction: StateDatabase, asset: Asset): readonly Compilable[] {
  const { id, streamId, status, txHash, progress, failure, tokenId } = asset
  const update = transaction
    .updateTable('assets')
    .set({ status, tx_hash: txHash, progress, failure, token_id: tokenId })
    .where('id', '=', id)
  if (status !== completedStatus || tokenId === '') return [update]
  const mapping = transaction
    .updateTable('asset_streams')
    .set({ mapping: tokenId })
    .where('id', '=', streamId)
  return [update, mapping]
}

async function run(transaction: StateDatabase, changes: readonly Compilable[]): Promise<void> {
  for (const change of changes) await transaction.executeQuery(change.compile())
}
