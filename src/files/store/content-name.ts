/** A CID in base32, as we make them: never a path, whatever else is in it. */
const cidForm = /^b[a-z2-7]{20,120}$/

export function isCid(text: string): boolean {
  return cidForm.test(text)
}

/** @throws Error for what can be the name of no content */
export function assertCid(text: string): void {
  if (!isCid(text)) throw new Error('a content is named by its CID in base32')
}

export function noSuchContent(cid: string, cause?: unknown): Error {
  return new Error(`there is no content ${cid}`, { cause })
}

export function nothingArrived(upload: string, cause?: unknown): Error {
  return new Error(`nothing has arrived for the upload ${upload}`, { cause })
}
