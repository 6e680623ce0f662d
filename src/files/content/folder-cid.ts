import type { ImporterOptions, InProgressImportResult } from 'ipfs-unixfs-importer'
import type { CID } from 'multiformats/cid'
import { cidProfile } from './content.ts'

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

/** Bytes of a block of a file, and links of a node of one, both by the profile (IPIP-499). */
const blockBytes = 1024 * 1024
const linksMax = 1_024

/** Bytes of a CIDv1 with SHA-256. */
const cidBytes = 36

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
  const [{ importer }, { BlackHoleBlockstore }, { CID: Cid }, sizes] = await Promise.all([
    import('ipfs-unixfs-importer'),
    import('blockstore-core/black-hole'),
    import('multiformats/cid'),
    import('ipfs-unixfs-importer/utils'),
  ])
  const linkTo = async (folder: Folder): Promise<Link> => {
    const links: InProgressImportResult[] = []
    for (const [path, child] of folder) {
      const { cid, dagSize } =
        child instanceof Map
          ? await linkTo(child)
          : { cid: Cid.parse(child.cid), dagSize: BigInt(dagSizeOf(child.size, sizes)) }
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

/** How many bytes parts of nodes have, as the importer counts them. */
interface EncodedSizes {
  readonly varintLen: (value: number) => number
  readonly linkSerializedSize: (nameBytes: number, cidLength: number, dagSize: number) => number
}

/**
 * Bytes of all blocks of a file, its own and those of the nodes above them: what a link to it says. It
 * follows from the size alone, because the profile leaves no choice.
 */
export function dagSizeOf(size: number, sizes: EncodedSizes): number {
  if (size <= blockBytes) return size
  const blocks = Math.ceil(size / blockBytes)
  let layer = Array.from({ length: blocks }, (_, at) => {
    const bytes = Math.min(blockBytes, size - at * blockBytes)
    return { bytes, dagSize: bytes }
  })
  while (layer.length > 1) {
    const above: typeof layer = []
    for (let at = 0; at < layer.length; at += linksMax) {
      above.push(nodeOver(layer.slice(at, at + linksMax), sizes))
    }
    layer = above
  }
  return layer[0]?.dagSize ?? 0
}

interface Part {
  /** Bytes of the file that it stands for. */
  readonly bytes: number
  readonly dagSize: number
}

/** A node of a file: links, and in its data (UnixFS v1) type, size, and the size of each part. */
function nodeOver(parts: readonly Part[], { varintLen, linkSerializedSize }: EncodedSizes): Part {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  let data = 2 + 1 + varintLen(bytes)
  let node = 0
  for (const part of parts) {
    data += 1 + varintLen(part.bytes)
    node += linkSerializedSize(0, cidBytes, part.dagSize)
  }
  node += 1 + varintLen(data) + data
  return { bytes, dagSize: node + parts.reduce((sum, part) => sum + part.dagSize, 0) }
}
