import { fileRejected } from './file-rejected.ts'
import { sniffedType } from './media-type.ts'

/** An image that can be shown in a page and cannot do anything there, which SVG can. */
export interface ImageType {
  readonly mediaType: string
  /** How names of such files end. */
  readonly ending: string
}

const imageTypes: ReadonlyMap<string | undefined, ImageType> = new Map([
  ['image/png', { mediaType: 'image/png', ending: 'png' }],
  // A PNG that moves, which whoever does not know that takes for one that does not.
  ['image/apng', { mediaType: 'image/png', ending: 'png' }],
  ['image/jpeg', { mediaType: 'image/jpeg', ending: 'jpg' }],
  ['image/webp', { mediaType: 'image/webp', ending: 'webp' }],
  ['image/gif', { mediaType: 'image/gif', ending: 'gif' }],
  ['image/avif', { mediaType: 'image/avif', ending: 'avif' }],
])

/**
 * What image a file is, whatever its name says.
 *
 * @param head its first bytes, as many as `sniffedBytes`
 * @throws DomainError `file_rejected`
 */
export async function imageTypeOf(head: Uint8Array): Promise<ImageType> {
  const found = await sniffedType(head)
  const type = imageTypes.get(found)
  // The library looks at three letters, with which a text may begin, too.
  const isText =
    found === 'image/gif' && !/^GIF8[79]a/.test(Buffer.from(head).toString('latin1', 0, 6))
  if (type && !isText) return type
  const seen = found === undefined ? '' : `, and these are ${found}`
  throw fileRejected(`an image has to have the bytes of PNG, JPEG, WebP, GIF or AVIF${seen}`)
}
