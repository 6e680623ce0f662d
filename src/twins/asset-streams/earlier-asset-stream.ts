import type { Compilable } from 'kysely'
import { type EarlierSalts, saltFor } from '../../anchors/metadata/earlier-salt.ts'
import type { Clocks } from '../../core/clock.ts'
import { optional, type StateDatabase } from '../../storage/state/database.ts'
import { storedColumns } from '../progress/progress.ts'
import type { AssetStream } from './asset-stream.ts'
import { assetStreamMetadata } from './asset-stream-metadata.ts'
import { type AssetStreamStoreNeeds, anchoredStream, streamsWithIds } from './asset-stream-store.ts'

/**
 * The changes with which an asset stream from before there were anchors gets its metadata, as it is now, and is
 * anchored. They find no row when somebody else was first.
 */
export async function earlierStreamChanges(
  needs: EarlierSalts & { readonly state: StateDatabase; readonly clock: Clocks },
  stream: AssetStream,
): Promise<readonly Compilable[]> {
  const { state, clock } = needs
  const metadata = await assetStreamMetadata(stream, saltFor(needs, stream.id))
  const update = state
    .updateTable('asset_streams')
    .set({ ...storedColumns(stream.progress, clock.nowUs()), metadata_cid: metadata.cid })
    .where('id', '=', stream.id)
    .where('metadata_cid', '=', '')
  const noted = state
    .deleteFrom('unanchored')
    .where('resource_type', '=', 'asset_stream')
    .where('resource_id', '=', stream.id)
  return [update, optional(noted), ...anchoredStream(needs, stream, { metadata, isQuiet: true })]
}

/**
 * Asset streams with their metadata: those from before there were any get them now. One that is gone meanwhile is left as
 * it was.
 */
export async function withMetadata(
  needs: AssetStreamStoreNeeds & EarlierSalts,
  streams: readonly AssetStream[],
): Promise<readonly AssetStream[]> {
  const earlier = streams.filter(({ metadataCid }) => metadataCid === '')
  if (earlier.length === 0) return streams
  for (const stream of earlier) {
    await needs.writer.attempt(...(await earlierStreamChanges(needs, stream)))
  }
  const now = await streamsWithIds(
    needs.state,
    streams.map(({ id }) => id),
  )
  return streams.map((stream) => now.get(stream.id) ?? stream)
}
