import type { ImporterOptions, InProgressImportResult } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import { cidProfile } from './content.ts'
import { dagSizeOf } from './dag-size.ts'

/** A file of a folder. */
export interface FolderFile {
  /** Its path within the folder, with `/`. */
  readonly name: string
  readonly cid: string
  /** Bytes. */
  readonly size: number
}

/** What a folder of UnixFS links to. */
interface Link {
  readonly cid: CID
  /** Bytes of all its blocks. */
  readonly dagSize: bigint
}

type Folder = Map<string, Folder | FolderFile>

/**
 * The CID of a folder with these files, whose bytes are not read again. It is the one that `ipfs add -r`
 * gives for that tree, sharded directories included.
 *
 * Folders are built from the innermost to the outermost: the importer judges by the size of a directory
 * whether it becomes a shard, and as long as it does not know those within it, it leaves them out.
 *
 * @param files their names are as `checkName` wants them, and no two say the same place
 */
export async function folderCid(files: readonly FolderFile[]): Promise<string> {
  const [{ importer }, { BlackHoleBlockstore }, { CID: Cid }] = await Promise.all([
    import('ipfs-unixfs-importer'),
    import('blockstore-core/black-hole'),
    import('multiformats/cid'),
  ])
  const linkTo = async (folder: Folder): Promise<Link> => {
    const links: InProgressImportResult[] = []
    for (const [path, child] of folder) {
      const { cid, dagSize } =
        child instanceof Map
          ? await linkTo(child)
          : { cid: Cid.parse(child.cid), dagSize: BigInt(dagSizeOf(child.size)) }
      links.push({ cid, size: dagSize, path, originalPath: path })
    }
    const dagBuilder: ImporterOptions['dagBuilder'] = async function* () {
      for (const link of links) yield () => Promise.resolve(link)
    }
    const options = { profile: cidProfile, wrapWithDirectory: true, dagBuilder } as const
    let last: Link | undefined
    for await (const { cid, size } of importer([], new BlackHoleBlockstore(), options)) {
      last = { cid, dagSize: size }
    }
    if (!last) throw new Error('no CID came of the folder')
    return last
  }
  const { cid } = await linkTo(treeOf(files))
  return cid.toString()
}

function treeOf(files: readonly FolderFile[]): Folder {
  const root: Folder = new Map()
  for (const file of files) {
    const parts = file.name.split('/')
    const last = parts.pop() ?? ''
    let folder = root
    for (const part of parts) {
      const next = folder.get(part) ?? new Map()
      if (!(next instanceof Map)) throw new Error(`${part} is a file and a folder`)
      folder.set(part, next)
      folder = next
    }
    folder.set(last, file)
  }
  return root
}
