import { hashBytes } from '../../files/content/hash-file.ts'
import type { UnpackedContent } from './content-frames.ts'
import type { ContentKeeper } from './content-keeper.ts'

/** Lost contents that are named; the others are only counted. */
const namedMax = 20

/** A content that is not what the state says, and why: a sentence. */
export interface LostContent {
  readonly cid: string
  readonly reason: string
}

/** What was found in the files of a backup. */
export interface CheckedContents {
  readonly files: number
  /** The first of those that the service had lost when the backup was made. */
  readonly lost: readonly LostContent[]
  readonly lostCount: number
}

/** What is found in a backup without contents. */
export const noContents: CheckedContents = { files: 0, lost: [], lostCount: 0 }

/**
 * Hashes each content, and keeps those that are what the state says. Others are kept nowhere: under
 * its CID there are the right bytes or none, so that the same file can be uploaded again.
 *
 * @throws DamagedBackup
 */
export async function checkContents(
  contents: AsyncIterable<UnpackedContent>,
  keeper: ContentKeeper | undefined,
): Promise<CheckedContents> {
  let files = 0
  let lostCount = 0
  const lost: LostContent[] = []
  for await (const content of contents) {
    files++
    const reason = await checkOne(content, keeper)
    if (reason === undefined) continue
    if (lostCount++ < namedMax) lost.push({ cid: content.cid, reason })
  }
  await keeper?.finish()
  return { files, lost, lostCount }
}

/** Goes through a list of contents, whose bytes are elsewhere. @throws DamagedBackup */
export async function countContents(
  contents: AsyncIterable<UnpackedContent>,
): Promise<CheckedContents> {
  let files = 0
  for await (const _ of contents) files++
  return { ...noContents, files }
}

/** Resolves with what is wrong with it. */
async function checkOne(
  { cid, size, sha256, bytes, content }: UnpackedContent,
  keeper: ContentKeeper | undefined,
): Promise<string | undefined> {
  if (bytes === null) return `content ${cid} was missing`
  if (bytes !== size) return `content ${cid} had ${bytes} bytes instead of ${size}`
  const hashed = await hashBytes(keeper ? keeper.write(cid, content) : content)
  if (hashed.cid === cid && hashed.sha256 === sha256) {
    await keeper?.keep(cid)
    return undefined
  }
  keeper?.discard(cid)
  return `content ${cid} was damaged: its bytes are those of ${hashed.cid}`
}
