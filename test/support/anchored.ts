import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from './api-client.ts'
import { attachmentOf, upload } from './uploads.ts'

/** A resource that gets onto a ledger, as the API shows it. */
export interface Anchored {
  readonly id: string
  readonly status: string
  readonly tx_hash: string
  readonly progress: readonly {
    readonly step: number
    readonly status: string
    readonly completed_at: string
  }[]
  readonly failure: { readonly error: string; readonly message: string } | null
  readonly [field: string]: unknown
}

/** Collections of what is anchored. */
export type AnchoredPath = 'vaults' | 'streams' | 'attachments' | 'signatures' | 'assets'

type Owner = Pick<ApiClient, 'withKey' | 'base'>

const waitMs = 60_000

/** The resource, once it has come to a status. */
export async function atStatus(
  owner: Pick<ApiClient, 'withKey'>,
  path: string,
  status: string,
): Promise<Anchored> {
  const deadlineMs = performance.now() + waitMs
  for (;;) {
    const { body } = await owner.withKey<Anchored>('GET', path)
    if (body.status === status) return body
    if (performance.now() > deadlineMs) {
      throw new Error(`${path} is ${JSON.stringify(body)}, and not ${status}`)
    }
    await sleep(20)
  }
}

/** Statuses that it has come to, in order. */
export function statusesOf({ progress }: Anchored): readonly string[] {
  return progress.map(({ status }) => status)
}

/** Makes something of each kind that is anchored; attachments with their files. */
export const makers: Readonly<Record<AnchoredPath, (owner: Owner) => Promise<string>>> = {
  async vaults(owner) {
    const template = await made(owner, '/templates', {
      name: 'boiler',
      hint: '',
      required_streams: [],
    })
    return await made(owner, '/vaults', {
      template_id: template,
      name: 'boiler 7',
      json_payload: '{"serial": 7}',
    })
  },
  async streams(owner) {
    return await made(owner, '/streams', { asset_code: newCode(), description: null })
  },
  async attachments(owner) {
    const { id, presigned_url: url } = await attachmentOf(owner, {})
    const { status } = await upload(owner, url, `a file for ${id}`)
    if (status !== 200) throw new Error(`the upload was answered ${status}`)
    return id
  },
  async signatures(owner) {
    const path = `/attachments/${await makers.attachments(owner)}/signatures`
    const signature = `${path}/${await made(owner, path, {})}`
    const shown = async () => (await owner.withKey<Anchored>('GET', signature)).body
    while ((await shown())['signature'] === '') await sleep(20)
    return signature
  },
  async assets(owner) {
    return await assetOf(owner, await completedStream(owner))
  },
}

/** An asset stream that has got onto the ledger; its path. */
export async function completedStream(owner: Owner): Promise<string> {
  const path = `/streams/${await makers.streams(owner)}`
  await atStatus(owner, path, 'COMPLETED')
  return path
}

/** The asset of a stream that is completed; its path. */
export async function assetOf(owner: Owner, stream: string): Promise<string> {
  const path = `${stream}/assets`
  return `${path}/${await made(owner, path, { supply: '21000000', precision: 6 })}`
}

/** What can be made while nothing gets onto a ledger: an asset is issued for a stream that is there. */
export const independentPaths = [
  'vaults',
  'streams',
  'attachments',
  'signatures',
] as const satisfies readonly AnchoredPath[]

/** The path of what was made; what is a part of something else is made with its own. */
export function pathOf(kind: AnchoredPath, id: string): string {
  return kind === 'signatures' || kind === 'assets' ? id : `/${kind}/${id}`
}

let codes = 0

function newCode(): string {
  return `A${process.pid}-${++codes}`
}

async function made(owner: Owner, path: string, body: object): Promise<string> {
  const answer = await owner.withKey<{ id: string }>('POST', path, body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
