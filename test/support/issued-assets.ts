import type { Anchored } from './anchored.ts'
import type { Person } from './people.ts'
import { StateBeside } from './state-beside.ts'
import { assetStreamOf } from './uploads.ts'

/** An asset as the API shows it. */
export interface ShownAsset extends Anchored {
  readonly stream_id: string
  readonly supply: string
  readonly precision: number
  readonly ledger: string
}

interface Data {
  readonly dataDir: string
}

/** Has an asset stream be completed, as where there is a ledger. */
export async function completeStream(data: Data, streamId: string): Promise<void> {
  await using beside = await StateBeside.open(data)
  const completed = beside.state.updateTable('asset_streams').set({ status: 'COMPLETED' })
  await beside.commit(completed.where('id', '=', streamId))
}

/** The path of the assets of a new asset stream that is completed. */
export async function assetsPathOf(data: Data, person: Pick<Person, 'withKey'>): Promise<string> {
  const id = await assetStreamOf(person)
  await completeStream(data, id)
  return `/streams/${id}/assets`
}

/** Has an asset have failed, as where a ledger refuses it. */
export async function failAsset(data: Data, id: string): Promise<void> {
  await using beside = await StateBeside.open(data)
  const failed = beside.state.updateTable('assets').set({ status: 'FAILED' })
  await beside.commit(failed.where('id', '=', id))
}

/** An asset that waits for the ledger; its id. */
export async function storedAsset(data: Data, person: Pick<Person, 'withKey'>): Promise<string> {
  const path = await assetsPathOf(data, person)
  const body = { supply: '21000000', precision: 6 }
  const answer = await person.withKey<{ readonly id: string }>('POST', path, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
