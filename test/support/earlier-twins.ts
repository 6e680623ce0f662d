import { newId } from '../../src/core/ids.ts'
import { migrations } from '../../src/storage/state/migrations/index.ts'
import { openOldState } from './old-state.ts'

export interface EarlierIds {
  readonly user: string
  readonly template: string
  readonly vault: string
  readonly stream: string
  readonly attachment: string
}

export function newEarlierIds(): EarlierIds {
  const [user, template, vault, stream] = [newId(), newId(), newId(), newId()]
  return { user, template, vault, stream, attachment: newId() }
}

const fileCid = 'bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
const received = '[["SERVICE_RECEIVED",1]]'
const stored = '[["SERVICE_RECEIVED",1],["UPLOAD_PENDING",1],["METADATA_STORED",2]]'

/** Writes a state as the release before anchors has left it: with one thing of each kind that is anchored. */
export async function writeEarlierTwins(
  path: string,
  { user, template, vault, stream, attachment }: EarlierIds,
  isPublic: boolean,
): Promise<void> {
  const names = Object.keys(migrations).filter((name) => name < '0045')
  const old = await openOldState(path, names)
  const shown = isPublic ? 1 : 0
  old.exec(`INSERT INTO users (id, username, created_at) VALUES ('${user}', 'ada', 0)`)
  old.exec(`INSERT INTO templates (id, owner_id, created_at, name, name_folded, status, public,
      hint, required_streams)
    VALUES ('${template}', '${user}', 1, 'Boiler', 'boiler', 'UPLOAD_PENDING', ${shown}, '', '["GOLD"]')`)
  old.exec(`INSERT INTO asset_streams (id, owner_id, created_at, asset_code, ledger, status, progress)
    VALUES ('${stream}', '${user}', 1, 'GOLD', 'XRPL', 'SERVICE_RECEIVED', '${received}')`)
  old.exec(`INSERT INTO vaults (id, owner_id, created_at, template_id, name, status, ledger, public)
    VALUES ('${vault}', '${user}', 1, '${template}', 'boiler 7', 'SERVICE_RECEIVED', 'XRPL', ${shown})`)
  old.exec(`INSERT INTO vault_streams VALUES ('${vault}', 0, '${stream}')`)
  old.exec(`INSERT INTO attachments (id, owner_id, created_at, name, stream_id, ledger,
      upload_as_zip, status, progress, cid)
    VALUES ('${attachment}', '${user}', 1, 'report', '${stream}', 'XRPL', 0,
      'METADATA_STORED', '${stored}', '${fileCid}')`)
  old.close()
}
