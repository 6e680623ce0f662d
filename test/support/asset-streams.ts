import type { Person } from './people.ts'

/** An asset stream as the API shows it. */
export type AssetStream = Readonly<Record<string, unknown>> & { readonly id: string }

export interface Page<Item> {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Item[]
}

export interface VaultBody {
  readonly id: string
  readonly streams: readonly AssetStream[]
}

type Owner = Pick<Person, 'withKey'>

/** Makes an asset stream of a person. */
export async function newAssetStream(
  owner: Owner,
  assetCode: string,
  description: string | null = null,
): Promise<AssetStream> {
  const body = { asset_code: assetCode, description }
  return await madeBy(owner, '/streams', body)
}

/** Makes a public template that requires asset streams. */
export async function templateFor(owner: Owner, ...codes: readonly string[]): Promise<string> {
  const body = { name: 'boiler', hint: '', required_streams: codes, public: true }
  return (await madeBy<{ id: string }>(owner, '/templates', body)).id
}

/** Makes a vault from a template. */
export async function vaultFrom(owner: Owner, templateId: string): Promise<VaultBody> {
  return await madeBy(owner, '/vaults', { template_id: templateId, name: 'boiler 7' })
}

async function madeBy<Body>(owner: Owner, path: string, body: object): Promise<Body> {
  const answer = await owner.withKey<Body>('POST', path, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
