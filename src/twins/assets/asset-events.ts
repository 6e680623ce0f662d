import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { Asset } from './asset.ts'
import { assetBody } from './asset-body.ts'

interface Telling {
  readonly word: 'created' | 'deployed' | 'error'
  /** The code of the asset stream: an asset has no name of its own. */
  readonly name: string
  readonly actor?: LifecycleEvent['actor']
  readonly isQuiet?: boolean
}

export function eventOfAsset(
  asset: Asset,
  { word, name, actor, isQuiet = false }: Telling,
): LifecycleEvent {
  return {
    event: `asset.${word}` as const,
    ownerId: asset.ownerId,
    resourceId: asset.id,
    name,
    actor,
    notice: { data: assetBody(asset), isQuiet },
  }
}
