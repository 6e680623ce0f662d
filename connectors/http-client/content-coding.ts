import { promisify } from 'node:util'
import {
  brotliDecompress,
  constants,
  gunzip,
  inflate,
  inflateRaw,
  type ZlibOptions,
  zstdDecompress,
} from 'node:zlib'
import { cutText } from '../../src/core/cut-text.ts'

type Inflate = (bytes: Buffer, options: ZlibOptions) => Promise<Buffer>

/** Log2 of the memory that a frame may ask for: 8 MiB (RFC 8878, section 3.1.1.1.2). */
const zstdWindowLogMax = 23

const [gunzipped, inflated, inflatedRaw, unbrotlied, unzstd] = [
  gunzip,
  inflate,
  inflateRaw,
  brotliDecompress,
  zstdDecompress,
].map((one) => promisify(one as never)) as [Inflate, Inflate, Inflate, Inflate, Inflate]

/** The codings that we say we take (RFC 9110, section 8.4.1, RFC 7932, RFC 8878). */
export const acceptedCodings = 'gzip, deflate, br, zstd'

const codings: Readonly<Record<string, Inflate>> = {
  gzip: gunzipped,
  'x-gzip': gunzipped,
  // Deflate means zlib, and some send it without its header: the first byte says which it is.
  deflate: (bytes, options) =>
    ((bytes[0] ?? 0) & 15) === 8 ? inflated(bytes, options) : inflatedRaw(bytes, options),
  br: unbrotlied,
  zstd: (bytes, options) => {
    const params = { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax }
    return unzstd(bytes, { ...options, params } as ZlibOptions)
  },
}

/**
 * A body as it was before it was compressed; undefined when it is longer than it may be.
 *
 * @throws Error for a coding that is not known, and for bytes that are not in it
 */
export async function decompressed(
  body: Buffer,
  coding: string,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const known = codings[coding]
  if (known === undefined) throw new Error(`the content coding ${cutText(coding, 50)} is not known`)
  if (body.length === 0) return body
  try {
    return await known(body, { maxOutputLength: bytesMax })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw new Error(`the answer is not ${coding} throughout`, { cause: error })
  }
}
