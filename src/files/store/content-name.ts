import { join } from 'node:path'

/** A CID in base32, as we make them: never a path, whatever else is in it. */
const cidForm = /^b[a-z2-7]{20,120}$/

export function isCid(text: string): boolean {
  return cidForm.test(text)
}

/** @throws Error for what can be the name of no content */
export function assertCid(text: string): void {
  if (!isCid(text)) throw new Error('a content is named by its CID in base32')
}

/** The folder of all contents within the folder of a store. */
export function contentFolder(folder: string): string {
  return join(folder, 'content')
}

/**
 * The file of a content. The character before the last is as good as random: 32 folders, each of
 * which has to be synced when it gets a name. CIDs begin alike, and end with what fills their last
 * byte.
 */
export function contentPath(folder: string, cid: string): string {
  assertCid(cid)
  return join(contentFolder(folder), cid.slice(-2, -1), cid)
}

export function noSuchContent(cid: string, cause?: unknown): Error {
  return new Error(`there is no content ${cid}`, { cause })
}

export function nothingArrived(upload: string, cause?: unknown): Error {
  return new Error(`nothing has arrived for the upload ${upload}`, { cause })
}
