import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { streamOf } from '../../core/heard-streams.ts'
import type { ByteRange } from '../../requests/http/byte-range.ts'
import { sendBytes } from '../../requests/http/sent-bytes.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { filesOf } from '../contents/content-rows.ts'
import type { FileStore } from '../store/file-store.ts'

export interface DownloadsNeeds {
  readonly state: StateDatabase
  readonly store: Pick<FileStore, 'read'>
}

/** A request for a file, and its reply. */
export interface Asking {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Files of a resource, to be sent as one archive. */
export interface SentFolder {
  readonly holderId: string
  /** Of the folder. */
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

  /** @throws DomainError `not_found`, `range_not_satisfiable` */
  async sendContent(
    { cid, name }: { readonly cid: string; readonly name: string },
    asking: Asking,
  ): Promise<FastifyReply> {
    const { state, store } = this.#needs
    const content = await state
      .selectFrom('contents')
      .select(['size', 'media_type'])
      .where('cid', '=', cid)
      .executeTakeFirst()
    if (!content) throw new DomainError('not_found', 'there is no file yet')
    const { size: bytes, media_type: mediaType } = content
    return sendBytes(
      {
        bytes,
        name,
        mediaType,
        etag: cid,
        read: (range) =>
          streamOf(
            store.read(cid, range && { start: range.first, length: range.last - range.first + 1 }),
            { objectMode: false },
          ),
      },
      asking,
    )
  }

  /** @throws DomainError `not_found`, `range_not_satisfiable` */
  async sendFolder({ holderId, cid, name }: SentFolder, asking: Asking): Promise<FastifyReply> {
    const { state, store } = this.#needs
    const all = { from: 0, below: Number.MAX_SAFE_INTEGER }
    const files = (await filesOf(state, [holderId], all)).map(({ file }) => file)
    if (files.length === 0) throw new DomainError('not_found', 'there are no files yet')
    const { writeArchive } = await import('../content/write-archive.ts')
    const archive = await writeArchive(files, (content) => store.read(content))
    return sendBytes(
      {
        bytes: archive.bytes,
        name: name.toLowerCase().endsWith('.zip') ? name : `${name}.zip`,
        mediaType: 'application/zip',
        etag: cid,
        read: (range) => streamOf(partOf(archive.read(), range), { objectMode: false }),
      },
      asking,
    )
  }
}

/** The part of a stream that is asked for: what comes before it is read, and left out. */
async function* partOf(
  bytes: AsyncIterable<Uint8Array>,
  range: ByteRange | undefined,
): AsyncGenerator<Uint8Array> {
  const { first, last } = range ?? { first: 0, last: Number.MAX_SAFE_INTEGER }
  let at = 0
  for await (const piece of bytes) {
    const part = piece.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at))
    at += piece.length
    if (part.length > 0) yield part
    if (at > last) return
  }
}
