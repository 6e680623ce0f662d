/** Bytes of a block of a file, and links of a node of one, both by the profile (IPIP-499). */
const blockBytes = 1024 * 1024
const linksMax = 1_024

/** Bytes of a CIDv1 with SHA-256. */
const cidBytes = 36

/**
 * Bytes of all blocks of a file, its own and those of the nodes above them: what a link to it says. It
 * follows from the size alone, because the profile leaves no choice.
 */
export function dagSizeOf(size: number): number {
  if (size <= blockBytes) return size
  const blocks = Math.ceil(size / blockBytes)
  let layer: Part[] = Array.from({ length: blocks }, (_, at) => {
    const bytes = Math.min(blockBytes, size - at * blockBytes)
    return { bytes, dagSize: bytes }
  })
  while (layer.length > 1) {
    const above: Part[] = []
    for (let at = 0; at < layer.length; at += linksMax) {
      above.push(nodeOver(layer.slice(at, at + linksMax)))
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
function nodeOver(parts: readonly Part[]): Part {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  let data = 2 + 1 + varintBytes(bytes)
  let node = 0
  for (const part of parts) {
    data += 1 + varintBytes(part.bytes)
    node += linkBytes(part.dagSize)
  }
  node += 1 + varintBytes(data) + data
  return { bytes, dagSize: node + parts.reduce((sum, part) => sum + part.dagSize, 0) }
}

/** A link without a name, with its own length before it (PBLink of DAG-PB). */
function linkBytes(dagSize: number): number {
  const hash = 1 + varintBytes(cidBytes) + cidBytes
  const emptyName = 2
  const link = hash + emptyName + 1 + varintBytes(dagSize)
  return 1 + varintBytes(link) + link
}

/** A number as Protocol Buffers write it: seven bits a byte. */
function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes++
  return bytes
}
