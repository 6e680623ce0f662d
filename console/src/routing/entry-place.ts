import { paths } from './paths.ts'

/** What tells where an entry of the inbox leads to. */
export interface Placed {
  readonly event_type: string
  readonly resource_type: string
  readonly resource_id: string
  readonly vault_id: string | null
  readonly stream_id: string | null
}

/**
 * The page of what an entry of the inbox is about, where it has one. What is gone has none. Streams of data and those of
 * vaults are told of alike: which it is has to be asked.
 */
export function placeOfEntry(entry: Placed): string | undefined {
  const { event_type: event, resource_type: type, resource_id: id } = entry
  if (event.endsWith('.deleted')) return undefined
  if (event.includes('.permission.')) return placeOfPermission(entry)
  if (type === 'alert') return paths.record('alert', id)
  if (type === 'vault') return paths.vault(id)
  if (type === 'data_attachment') return paths.record('attachment', id)
  return undefined
}

/** What is shared: those from whom it was taken see it no more. */
function placeOfPermission(entry: Placed): string | undefined {
  const { event_type: event, vault_id: vaultId, stream_id: streamId } = entry
  if (event.endsWith('.revoked')) return undefined
  if (vaultId !== null) return paths.vault(vaultId)
  return streamId === null ? undefined : paths.record('asset-stream', streamId)
}
