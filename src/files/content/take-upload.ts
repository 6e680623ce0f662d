import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DomainError } from '../../core/errors.ts'
import type { LocalFile } from '../store/file-store.ts'
import type { NamedContent, TakenUpload, UploadForm, UploadLimits } from './content.ts'
import { folderCid } from './folder-cid.ts'
import { hashFile } from './hash-file.ts'
import { imageTypeOf } from './image-type.ts'
import { mediaTypeOf, sniffedBytes } from './media-type.ts'

/** Where contents go. */
export interface ContentKeeper {
  /** A folder of this machine, on the disk that `keep` moves files to. */
  readonly scratch: string
  /** As `FileStore.keep`. */
  keep(files: readonly LocalFile[]): Promise<void>
}

/** What was uploaded, and what it has to be. */
export interface ArrivedUpload {
  /** A local file with its bytes. That of a file or an image becomes the content; an archive stays. */
  readonly path: string
  readonly form: UploadForm
  readonly limits: UploadLimits
}

/**
 * Looks at what was uploaded, and keeps what is in it. A refusal leaves nothing in `scratch`. Contents of an
 * archive that were kept before one of its files turned out to be broken stay, without anything that refers
 * to them.
 *
 * @throws DomainError `file_rejected`, `body_too_large`, `disk_full`
 */
export async function takeUpload(
  { path, form, limits }: ArrivedUpload,
  keeper: ContentKeeper,
): Promise<TakenUpload> {
  const { size } = await stat(path)
  if (size > limits.bytesMax) {
    throw new DomainError('body_too_large', `the file has more than ${limits.bytesMax} bytes`)
  }
  try {
    if (form.is === 'archive') return await takeArchive(path, limits, keeper)
    const file = await contentOf(path, form)
    await keeper.keep([{ cid: file.cid, path }])
    return { cid: file.cid, size: file.size, files: [file] }
  } catch (error) {
    throw asDiskFull(error)
  }
}

async function contentOf(
  path: string,
  form: Exclude<UploadForm, { readonly is: 'archive' }>,
): Promise<NamedContent> {
  const head = await headOf(path)
  if (form.is === 'file') {
    const mediaType = await mediaTypeOf(head, form.name)
    return { name: form.name, ...(await hashFile(path)), mediaType }
  }
  const { mediaType, ending } = await imageTypeOf(head)
  return { name: `image.${ending}`, ...(await hashFile(path)), mediaType }
}

async function headOf(path: string): Promise<Uint8Array> {
  await using file = await open(path)
  const head = Buffer.alloc(sniffedBytes)
  const { bytesRead } = await file.read(head, 0, sniffedBytes, 0)
  return head.subarray(0, bytesRead)
}

async function takeArchive(
  path: string,
  { unpackedBytesMax, roomBytes }: UploadLimits,
  keeper: ContentKeeper,
): Promise<TakenUpload> {
  const { unpack } = await import('./unpack.ts')
  const folder = await mkdtemp(join(keeper.scratch, 'archive-'))
  try {
    const files: NamedContent[] = []
    // Files with the bytes of another are kept once, and handed over once.
    const kept = new Set<string>()
    for await (const portion of unpack(path, { unpackedBytesMax, roomBytes, folder })) {
      const fresh = portion.flatMap(({ content: { cid }, path: at }) => {
        if (kept.has(cid)) return []
        kept.add(cid)
        return [{ cid, path: at }]
      })
      if (fresh.length > 0) await keeper.keep(fresh)
      files.push(...portion.map(({ content }) => content))
    }
    const size = files.reduce((sum, file) => sum + file.size, 0)
    return { cid: await folderCid(files), size, files }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function asDiskFull(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  if (error.code !== 'ENOSPC' && error.code !== 'EDQUOT') return error
  return new DomainError('disk_full', 'there is no space left on the disk', { cause: error })
}
