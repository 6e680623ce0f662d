import { createHash } from 'node:crypto'
import { dagSizeOf } from './dag-size.ts'
import type { FolderFile } from './folder-cid.ts'

/** Data of a node that is a directory (UnixFS v1): its type, and nothing else. */
const directory = Uint8Array.of(8, 1)

/** SHA-256 among the hashes of multiformats. */
const sha256Code = 0x12

/** Few enough that the directory is no shard, whatever they are called. */
const filesMax = 16

/** To ask for a module that is loaded takes longer than to use it. */
let loaded: ReturnType<typeof load> | undefined

function load() {
  return Promise.all([
    import('@ipld/dag-pb'),
    import('multiformats/cid'),
    import('multiformats/hashes/digest'),
  ])
}

/**
 * The CID of a folder of some files with nothing within it: the one that `folderCid` gives. The importer, which that
 * one stands on, is too large for a thread that has no other use for it.
 *
 * @param files no two have the same name, and none has a `/` in it
 * @throws RangeError for more than a few
 */
export async function flatFolderCid(files: readonly FolderFile[]): Promise<string> {
  if (files.length > filesMax) throw new RangeError(`a folder of ${files.length} files`)
  loaded ??= load()
  const [{ encode, prepare, code }, { CID: Cid }, { create }] = await loaded
  const links = files.map(({ name, cid, size }) => ({
    Name: name,
    Hash: Cid.parse(cid),
    Tsize: dagSizeOf(size),
  }))
  const node = encode(prepare({ Data: directory, Links: links }))
  const digest = createHash('sha256').update(node).digest()
  return Cid.createV1(code, create(sha256Code, digest)).toString()
}
