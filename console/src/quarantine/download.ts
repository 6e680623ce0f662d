/** Hands over a file that the page has made: it leaves the browser for nowhere. */
export function download(parts: readonly (Uint8Array | string)[], name: string): void {
  const type = 'application/octet-stream'
  const url = URL.createObjectURL(new Blob(parts as BlobPart[], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
