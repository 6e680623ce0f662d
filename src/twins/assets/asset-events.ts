import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import { type Asset, toldUsers } from './asset.ts'
import { assetBody } from './asset-body.ts'

interface Telling {
  readonly word: 'created' | 'deployed' | 'error'
  /** The code of the asset stream: an asset has no name of its own. */
  readonly name: string
  readonly actor?: LifecycleEvent['actor']
  readonly isQuiet?: boolean
}

/** The events of an asset, one for each who is told. */
export function eventsOfAsset(
  asset: Asset,
  { word, name, actor, isQuiet = false }: Telling,
): readonly LifecycleEvent[] {
  const data = assetBody(asset)
  return toldUsers(asset).map((ownerId) => ({
    event: `asset.${word}` as const,
    ownerId,
    resourceId: asset.id,
    name,
    actor,
    notice: { data, isQuiet },
  }))
}
