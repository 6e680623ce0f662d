import { extname } from 'node:path'

/** Bytes of a file that its type is told by: the first parts of office documents are in them. */
export const sniffedBytes = 64 * 1024

const unknownType = 'application/octet-stream'

/**
 * Types of formats that have no bytes of their own to be known by, as IANA has registered them. What a
 * browser would run as a page or draw as an image on its own is none of them: SVG is XML.
 */
const typesByEnding: ReadonlyMap<string, string> = new Map([
  ['.csv', 'text/csv'],
  ['.geojson', 'application/geo+json'],
  ['.htm', 'text/html'],
  ['.html', 'text/html'],
  ['.json', 'application/json'],
  ['.jsonld', 'application/ld+json'],
  ['.log', 'text/plain'],
  ['.markdown', 'text/markdown'],
  ['.md', 'text/markdown'],
  ['.ndjson', 'application/x-ndjson'],
  ['.svg', 'application/xml'],
  ['.tsv', 'text/tab-separated-values'],
  ['.txt', 'text/plain'],
  ['.xml', 'application/xml'],
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
])

/** Characters that no text has: all controls but tabs and ends of lines and pages. */
const notInText = /[^\P{Cc}\t\n\f\r]/u

/**
 * The type of a file by its first bytes, or else by the ending of its name. Where the ending says that it is
 * a text, and it is one, that counts more: a table whose first column is called BM begins as a bitmap does.
 *
 * @param head as many as `sniffedBytes`, or all of a file that has fewer
 */
export async function mediaTypeOf(head: Uint8Array, name: string): Promise<string> {
  const byEnding = typesByEnding.get(extname(name).toLowerCase())
  if (byEnding !== undefined && isText(head)) return byEnding
  return (await sniffedType(head)) ?? byEnding ?? unknownType
}

/** The type by bytes alone. */
export async function sniffedType(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type')
  try {
    return (await fileTypeFromBuffer(head))?.mime
  } catch {
    // It looks into containers, and whoever has made this one may have made it wrong on purpose.
    return undefined
  }
}

function isText(head: Uint8Array): boolean {
  try {
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    // As a part of a stream, because the last character may be cut.
    return !notInText.test(utf8.decode(head, { stream: true }))
  } catch {
    return false
  }
}
