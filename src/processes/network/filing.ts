import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../core/clock.ts'
import type { ContentThreadData } from '../../files/content/content-contract.ts'
import { ThreadedContent } from '../../files/content/threaded-content.ts'
import { ContentTurns } from '../../files/contents/content-turns.ts'
import { UnusedContents } from '../../files/contents/unused-contents.ts'
import { Downloads } from '../../files/downloads/downloads.ts'
import type { FileStore } from '../../files/store/file-store.ts'
import { imageUploads } from '../../files/uploads/image-uploads.ts'
import type { UploadKind } from '../../files/uploads/upload-kind.ts'
import { uploadRoutes } from '../../files/uploads/upload-routes.ts'
import { UploadWatch } from '../../files/uploads/upload-watch.ts'
import { Uploads } from '../../files/uploads/uploads.ts'
import { userPictureRoute } from '../../identity/users/user-picture-route.ts'
import { attachmentUploads, endOverdue } from '../../twins/attachments/attachment-uploads.ts'
import { templateUploads } from '../../twins/templates/template-uploads.ts'
import { vaultUploads } from '../../twins/vaults/vault-uploads.ts'
import type { Access } from './access.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'

/** The disk is asked once a second: what arrives meanwhile has to fit in as well. */
const spareBytes = 256 * 1024 * 1024

export interface FilingNeeds {
  readonly engine: Engine
  readonly config: Config
  readonly logger: Logger
  readonly store: FileStore
  readonly access: Access
  readonly domains: Domains
}

export type Filing = ReturnType<typeof openFiling>

/** Composition of everything that is about files: how they come in, are kept, and go out. */
export function openFiling(needs: FilingNeeds) {
  const { engine, config, logger, store, access, domains } = needs
  const { state, worker: writer } = engine
  const { signed, uploadUrls, users } = access
  const ending = new AbortController()
  const onFailure = failuresTo(logger, ending.signal)
  const turns = new ContentTurns()
  const unused = new UnusedContents({ store, state, writer, turns, onFailure })
  const content = new ThreadedContent({
    data: contentData(needs),
    onFailure,
    onLeft: (cids) => unused.note(cids),
  })
  const { uploadBytesMax, filesBytesMax } = config
  const attaching = { ...domains, writer, uploadBytesMax, nowUs: () => systemClock.nowUs() }
  const uploads = new Uploads({
    store,
    content,
    turns,
    unused,
    kinds: kindsOf(needs, attachmentUploads(attaching)),
    state,
    writer,
    clock: systemClock,
    filesBytesMax,
    roomBytes: () => roomOf(engine),
  })
  const watch = new UploadWatch({
    uploads,
    uploadUrls,
    isRemote: store.kind === 's3',
    isOverdue: async () => (await domains.attachments.due(1)).length > 0,
    endOverdue: () => endOverdue(attaching),
    onFailure,
  })
  const downloads = new Downloads({ state, store })
  let running: Promise<unknown> = Promise.resolve()
  return {
    uploads,
    unused,
    downloads,
    turns,
    openRoutes: [userPictureRoute({ users, downloads, signed })],
    signedRoutes: [uploadRoutes({ uploads, signed })],
    start(): void {
      running = Promise.all([watch.run(ending.signal), unused.run(ending.signal)])
    },
    async stop(): Promise<void> {
      ending.abort()
      // What is being looked at stays staged, and is looked at by the next start.
      await content.close()
      await running
      await store.close()
    },
  }
}

function contentData({ engine, config }: FilingNeeds): ContentThreadData {
  const { filesAddress: address, diskBytesMin } = config
  return { address, folder: engine.folder.files, spareBytes: diskBytesMin }
}

/** Failures go to the log, until the end is what they come from. */
function failuresTo(logger: Logger, ending: AbortSignal) {
  return (error: unknown): void => {
    if (!ending.aborted) logger.warn({ err: error }, 'files could not be looked at')
  }
}

/** What files may still take: they leave more to readings than these need to be taken. */
function roomOf({ diskSpace: { available = Number.MAX_SAFE_INTEGER, bytesMin } }: Engine): number {
  return Math.max(0, available - bytesMin - spareBytes)
}

function kindsOf({ engine: { state }, domains }: FilingNeeds, attachments: UploadKind) {
  return [
    attachments,
    ...templateUploads({ ...domains, state }),
    vaultUploads({ ...domains, state, clock: systemClock }),
    imageUploads('users', { state }),
  ]
}
