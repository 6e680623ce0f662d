import { createHash } from 'node:crypto'
import { messageOf } from '../../core/errors.ts'

/** What a CID says. */
export interface ContentId {
  /** CIDv1 in base32. */
  readonly cid: string
  /** `raw`: its hash is that of the bytes; `dag-pb`: that of a node of a larger file, or of a folder. */
  readonly codec: 'raw' | 'dag-pb'
  /** Hex. */
  readonly sha256: string
}

/** Why a text is no CID that can be asked for: a sentence. */
export interface ContentIdProblem {
  readonly problem: string
}

/** Characters of a CIDv1 with SHA-256 in base32, and room for what is none. */
const charsMax = 128

/** Codes of multicodec (https://github.com/multiformats/multicodec). */
const codecs = new Map([
  [0x55, 'raw'],
  [0x70, 'dag-pb'],
] as const)
const rawCode = 0x55
const sha256Code = 0x12
const digestBytes = 32

let loadedCids: Promise<typeof import('multiformats/cid')> | undefined
let loadedDigests: Promise<typeof import('multiformats/hashes/digest')> | undefined

/** To ask for a module that is loaded takes longer than what is wanted of it. */
function cids() {
  return (loadedCids ??= import('multiformats/cid'))
}

function digests() {
  return (loadedDigests ??= import('multiformats/hashes/digest'))
}

/** The CID of bytes that are a block of their own. */
export async function rawCidOf(bytes: Uint8Array): Promise<string> {
  return await rawCidBySha256(createHash('sha256').update(bytes).digest('hex'))
}

/** @param sha256 hex */
export async function rawCidBySha256(sha256: string): Promise<string> {
  const [{ CID }, { create }] = await Promise.all([cids(), digests()])
  return CID.createV1(rawCode, create(sha256Code, Buffer.from(sha256, 'hex'))).toString()
}

/** Takes a CID in the one way that it is written here, and says of all else why it is none of ours. */
export async function parseCid(text: string): Promise<ContentId | ContentIdProblem> {
  if (text.length > charsMax) return { problem: `a CID has not more than ${charsMax} characters` }
  if (/^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) {
    return { problem: 'this is a CIDv0: write it as CIDv1 in base32' }
  }
  if (!text.startsWith('b')) return { problem: 'it must be a CIDv1 in base32, which begins with b' }
  const { CID } = await cids()
  let parsed: ReturnType<typeof CID.parse>
  try {
    parsed = CID.parse(text)
  } catch (error) {
    return { problem: `it is not a CID: ${messageOf(error)}` }
  }
  const { version, code, multihash } = parsed
  const codec = codecs.get(code as 0x55)
  if (version !== 1) return { problem: `it must be a CIDv1, not version ${version}` }
  if (!codec) return { problem: `its codec must be raw or dag-pb, not 0x${code.toString(16)}` }
  if (multihash.code !== sha256Code || multihash.digest.length !== digestBytes) {
    return { problem: `its hash must be SHA-256, not 0x${multihash.code.toString(16)}` }
  }
  return { cid: text, codec, sha256: Buffer.from(multihash.digest).toString('hex') }
}
