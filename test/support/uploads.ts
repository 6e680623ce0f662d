import type { Answer, ApiClient } from './api-client.ts'

/** Somebody who makes attachments: the bootstrap user, or another one. */
type Owner = Pick<ApiClient, 'withKey'>

export interface ShownAttachment {
  readonly id: string
  readonly status: string
  readonly presigned_url: string
  readonly stream_id: string
  readonly size: number
  readonly file_count: number
  readonly files: readonly {
    readonly name: string
    readonly size: number
    readonly media_type: string
    readonly cid: string
    readonly sha256: string
  }[]
  readonly progress: readonly { readonly step: number; readonly status: string }[]
  readonly failure: { readonly error: string; readonly message: string } | null
  readonly [field: string]: unknown
}

let codes = 0

/** A code that no other asset stream of a test has. */
export function newAssetCode(): string {
  return `C${process.pid}-${++codes}`
}

/** Makes an asset stream; returns its id. */
export async function assetStreamOf(owner: Owner, code = newAssetCode()): Promise<string> {
  const body = { asset_code: code, description: null }
  const answer = await owner.withKey<{ id: string }>('POST', '/streams', body)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

/** Makes an attachment that waits for its file. */
export async function attachmentOf(owner: Owner, wanted: object = {}): Promise<ShownAttachment> {
  const answer = await owner.withKey<ShownAttachment>('POST', '/attachments', {
    name: 'report',
    stream_id: await assetStreamOf(owner),
    ledger: 'XRPL',
    ...wanted,
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

export async function attachmentAsItIs(owner: Owner, id: string): Promise<ShownAttachment> {
  return (await owner.withKey<ShownAttachment>('GET', `/attachments/${id}`)).body
}

/** A resource without its addresses, which are others each time, and empty for others than the owner. */
export function withoutAddresses<Body>(body: Body): Body {
  const text = JSON.stringify(body)
  return JSON.parse(text.replaceAll(/"[^"]*[?&]signature=[^"]*"/g, '""')) as Body
}

/** The address as the service can be reached in a test: it listens on a port that it was not told of. */
export function reachable({ base }: Pick<ApiClient, 'base'>, url: string): string {
  return url.replace(/^https?:\/\/[^/]*/, base)
}

/** Sends a file to the address of an upload, with nothing but that. */
export async function upload<Body = Readonly<Record<string, unknown>>>(
  api: Pick<ApiClient, 'base'>,
  url: string,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  init: RequestInit & { readonly duplex?: 'half' } = {},
): Promise<Answer<Body>> {
  const stream = body instanceof ReadableStream ? { duplex: 'half' as const } : {}
  const response = await fetch(reachable(api, url), { method: 'PUT', body, ...stream, ...init })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Body,
  }
}
