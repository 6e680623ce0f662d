import { readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type FolderFile, folderCid } from '../files/content/folder-cid.ts'
import { hashFile } from '../files/content/hash-file.ts'
import { rawCidBySha256 } from '../ledgers/proofs/content-id.ts'
import { CommandError } from './command.ts'

/** Files of a folder: more than an archive can have. */
const filesMax = 10_000

/**
 * CIDs that the bytes at a path may be known by: that of the profile, and for a file also that of all its bytes as one
 * block, which is what metadata have.
 *
 * @throws CommandError when there is something in a folder that an archive has no place for
 */
export async function cidsOf(path: string): Promise<readonly string[]> {
  if (statSync(path).isDirectory()) return [await cidOfFolder(path)]
  const { cid, sha256 } = await hashFile(path)
  return [...new Set([cid, await rawCidBySha256(sha256)])]
}

async function cidOfFolder(path: string): Promise<string> {
  const entries = readdirSync(path, { withFileTypes: true, recursive: true })
  const other = entries.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (other) throw new CommandError('no_file', `${join(other.parentPath, other.name)} is no file`)
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((one) => join(one.parentPath, one.name))
  if (paths.length > filesMax) {
    throw new CommandError('too_many_files', `${path} has more than ${filesMax} files`)
  }
  const files: FolderFile[] = []
  for (const file of paths) {
    const { cid, size } = await hashFile(file)
    files.push({ name: relative(path, file).split(sep).join('/'), cid, size })
  }
  files.sort(({ name: one }, { name: another }) => (one < another ? -1 : 1))
  return await folderCid(files)
}
