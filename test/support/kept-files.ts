import { filesIn } from '../../src/config/data-folder.ts'
import { contentPath } from '../../src/files/store/content-name.ts'
import type { ApiClient } from './api-client.ts'
import { attachmentAsItIs, attachmentOf, type ShownAttachment, upload } from './uploads.ts'

/** Makes an attachment, and uploads its file. */
export async function storedAttachment(
  api: ApiClient,
  bytes: string | Uint8Array<ArrayBuffer>,
  wanted: object = {},
): Promise<ShownAttachment> {
  const { id, presigned_url: url } = await attachmentOf(api, wanted)
  const { status, body } = await upload(api, url, bytes)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return await attachmentAsItIs(api, id)
}

/** Where a data folder has a content. */
export function contentIn(dataDir: string, cid: string): string {
  return contentPath(filesIn(dataDir).files, cid)
}

/** The bytes that a path of the service answers with. */
export async function downloaded(api: ApiClient, path: string): Promise<Buffer> {
  const headers = { authorization: `Bearer ${await api.token()}` }
  const response = await fetch(api.base + path, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${bytes.toString()}`)
  return bytes
}
