import { DomainError, messageOf } from '../../core/errors.ts'
import { flatFolderCid } from '../../files/content/flat-folder.ts'
import type { FolderFile } from '../../files/content/folder-cid.ts'
import {
  blockBytes,
  type HashedBytes,
  hashBlock,
  hashBytes,
} from '../../files/content/hash-file.ts'
import type { FileStore } from '../../files/store/file-store.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Finding } from './verification.ts'

/** What a vault is made of, as it is kept. */
export interface KeptVault {
  readonly id: string
  readonly jsonPayload: string | null
  readonly defaultImageCid: string
}

/** What was anchored. */
interface AnchoredPart {
  readonly name: string
  readonly cid: string
}

export interface KeptPartsNeeds {
  readonly state: StateDatabase
  readonly files: Pick<FileStore, 'read'>
}

/** Hashes what is kept of a vault, and says where that is not what was anchored. */
export async function comparedParts(
  needs: KeptPartsNeeds,
  vault: KeptVault,
  parts: readonly AnchoredPart[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const files: FolderFile[] = []
  for (const { name, cid } of parts) {
    if (name === '') continue
    const found = await hashedPart(needs, vault, name)
    if ('is' in found) {
      findings.push(found)
      continue
    }
    files.push({ name, cid: found.cid, size: found.size })
    if (found.cid !== cid) findings.push(otherBytes(name, found.cid, cid))
  }
  const folder = parts.find(({ name }) => name === '')
  // What is missing is said already: the folder cannot be the same without it.
  if (!folder || files.length + 1 !== parts.length) return findings
  const cid = await flatFolderCid(files)
  return cid === folder.cid ? findings : [...findings, otherBytes('the folder', cid, folder.cid)]
}

/** Hashes one of the contents that are kept. */
export async function comparedContent(
  { files }: Pick<KeptPartsNeeds, 'files'>,
  { name, cid }: AnchoredPart,
): Promise<readonly Finding[]> {
  const found = await hashedContent(files, name, cid)
  if ('is' in found) return [found]
  return found.cid === cid ? [] : [otherBytes(name, found.cid, cid)]
}

function otherBytes(name: string, found: string, anchored: string): Finding {
  const problem = `${name} is kept with other bytes: they are those of ${found}, and ${anchored} was anchored`
  return { is: 'contradicted', problem }
}

async function hashedPart(
  { state, files }: KeptPartsNeeds,
  { id, jsonPayload, defaultImageCid }: KeptVault,
  name: string,
): Promise<HashedBytes | Finding> {
  switch (name) {
    case 'metadata.json': {
      const row = await state
        .selectFrom('metadata')
        .select('bytes')
        .where('resource_id', '=', id)
        .executeTakeFirst()
      return row ? await hashBlock(row.bytes) : missing(name)
    }
    case 'payload.json':
      return jsonPayload === null ? missing(name) : await hashBlock(Buffer.from(jsonPayload))
    case 'image':
      return await hashedContent(files, name, defaultImageCid)
    default:
      return { is: 'contradicted', problem: `${name} was anchored, and a vault has no such part` }
  }
}

function missing(name: string): Finding {
  return { is: 'not_found', problem: `${name} is not kept any more` }
}

async function hashedContent(
  files: KeptPartsNeeds['files'],
  name: string,
  cid: string,
): Promise<HashedBytes | Finding> {
  if (cid === '') return missing(name)
  try {
    return await hashOf(files.read(cid))
  } catch (error) {
    const isAway = error instanceof DomainError && error.code === 'store_unavailable'
    const problem = `${name} cannot be read: ${messageOf(error)}`
    return { is: isAway ? 'unreachable' : 'not_found', problem }
  }
}

/** Most images are one block: what larger ones need takes as much memory as all of a thread. */
async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<HashedBytes> {
  const rest = chunks[Symbol.asyncIterator]()
  const begun: Uint8Array[] = []
  for (let size = 0; size <= blockBytes; ) {
    const next = await rest.next()
    if (next.done === true) return await hashBlock(Buffer.concat(begun))
    begun.push(Buffer.from(next.value))
    size += next.value.length
  }
  return await hashBytes(allOf(begun, rest))
}

async function* allOf(
  begun: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* begun
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}
