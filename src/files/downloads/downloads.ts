import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import type { ByteRange as SentRange } from '../../requests/http/byte-range.ts'
import { sendBytes } from '../../requests/http/sent-bytes.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { filesOf } from '../contents/content-rows.ts'
import type { ByteRange, FileStore } from '../store/file-store.ts'

export interface DownloadsNeeds {
  readonly state: StateDatabase
  readonly store: Pick<FileStore, 'read'>
}

/** What routes that send files answer beside others. */
export const downloadErrors = ['range_not_satisfiable', 'store_unavailable'] as const

/** A request for a file, and its reply. */
export interface Asking {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Files of a resource, to be sent as one archive. */
export interface SentFolder {
  readonly holderId: string
  /** The CID of the folder. */
  readonly cid: string
  /** Without an ending. */
  readonly name: string
}

/** Sends contents to those who may have them. */
export class Downloads {
  readonly #needs: DownloadsNeeds

  constructor(needs: DownloadsNeeds) {
    this.#needs = needs
  }

  /** @throws DomainError `not_found`, `range_not_satisfiable`, `store_unavailable` */
  async sendContent(
    { cid, name }: { readonly cid: string; readonly name: string },
    asking: Asking,
  ): Promise<FastifyReply> {
    const { state } = this.#needs
    const content = await state
      .selectFrom('contents')
      .select(['size', 'media_type'])
      .where('cid', '=', cid)
      .executeTakeFirst()
    if (!content)
      throw new DomainError('not_found', 'there is no file yet', {
        remedy:
          'Upload a file first: the resource has the address for it as long as it waits for one. docs/files.md shows how.',
      })
    const { size: bytes, media_type: mediaType } = content
    return await sendBytes(
      {
        bytes,
        name,
        mediaType,
        etag: cid,
        read: (range) => streamOf(this.#read(cid, partOf(range)), { objectMode: false }),
      },
      asking,
    )
  }

  /** @throws DomainError `not_found`, `range_not_satisfiable`, `store_unavailable` */
  async sendFolder({ holderId, cid, name }: SentFolder, asking: Asking): Promise<FastifyReply> {
    const { state } = this.#needs
    const all = { from: 0, below: Number.MAX_SAFE_INTEGER }
    const files = (await filesOf(state, [holderId], all)).map(({ file }) => file)
    if (files.length === 0)
      throw new DomainError('not_found', 'there are no files yet', {
        remedy:
          'Upload files first: the resource has the address for them as long as it waits for some. docs/files.md shows how.',
      })
    const { archiveOf } = await import('../content/write-archive.ts')
    const archive = await archiveOf(files, (content) => this.#read(content))
    return await sendBytes(
      {
        bytes: archive.size,
        name: name.toLowerCase().endsWith('.zip') ? name : `${name}.zip`,
        mediaType: 'application/zip',
        etag: cid,
        read: (range) => streamOf(archive.bytes(partOf(range)), { objectMode: false }),
      },
      asking,
    )
  }

  async *#read(cid: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#needs.store.read(cid, range)
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'store_unavailable') throw error
      // Where it is, and what it said, is for the log.
      const message = 'the store of files does not answer'
      throw new DomainError('store_unavailable', message, { cause: error })
    }
  }
}

function partOf(range: SentRange | undefined): ByteRange | undefined {
  return range && { start: range.first, length: range.last - range.first + 1 }
}
