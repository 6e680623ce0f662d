import { sql } from 'kysely'
import type { AssetStreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type AlsoListed, type Listing, pageIn, type Slice } from '../../storage/state/listing.ts'
import { attachmentsAlsoShared, type Looking, rightsWith } from '../rights/shared-rows.ts'
import type { SeenAttachment } from './attachment.ts'
import { listedFilesMax, shownAttachments } from './attachment-row.ts'
import { ManyShared, type ManySharedNeeds } from './many-shared.ts'

export interface AttachmentPage {
  readonly items: readonly SeenAttachment[]
  readonly total: number
}

export interface AttachmentListsNeeds extends ManySharedNeeds {
  readonly state: StateDatabase
}

/** Lists of attachments, oldest first. */
export class AttachmentLists {
  readonly #needs: AttachmentListsNeeds
  readonly #many: ManyShared

  constructor(needs: AttachmentListsNeeds) {
    this.#needs = needs
    this.#many = new ManyShared(needs)
  }

  /** One's own and those of asset streams that are shared with this user. */
  async page(userId: UserId, slice: Slice): Promise<AttachmentPage> {
    const { state, clock } = this.#needs
    const looking = { userId, nowUs: clock.nowUs() }
    const page = await state.transaction().execute(async (view) => {
      const also = await attachmentsAlsoShared(view, looking)
      return also && (await ownPage(view, looking, { also, slice }))
    })
    if (page) return page
    return await this.#many.read(userId, async (view, then, also) =>
      ownPage(view, then, { also, slice }),
    )
  }

  /** What is attached to one asset stream, which the user sees. */
  async pageOfStream(
    userId: UserId,
    streamId: AssetStreamId,
    slice: Slice,
  ): Promise<AttachmentPage> {
    const { state, clock } = this.#needs
    const looking = { userId, nowUs: clock.nowUs() }
    const condition = sql<boolean>`stream_id = ${streamId}`
    const listing = { condition, total: ['attachments_of_stream', streamId] } as const
    return await state
      .transaction()
      .execute(async (view) => await shownPage(view, looking, { listing, slice }))
  }
}

async function ownPage(
  view: StateDatabase,
  looking: Looking,
  { also, slice }: { readonly also: AlsoListed; readonly slice: Slice },
): Promise<AttachmentPage> {
  const { userId } = looking
  const condition = sql<boolean>`owner_id = ${userId}`
  const listing = { condition, total: ['attachments', userId], also } as const
  return await shownPage(view, looking, { listing, slice })
}

async function shownPage(
  view: StateDatabase,
  looking: Looking,
  {
    listing,
    slice,
  }: {
    readonly listing: Pick<Listing<'attachments'>, 'condition' | 'total' | 'also'>
    readonly slice: Slice
  },
): Promise<AttachmentPage> {
  const { rows, total } = await pageIn(
    view,
    { ...listing, table: 'attachments', orderBy: 'created_at', direction: 'asc' },
    slice,
  )
  const shown = await shownAttachments(view, rows, listedFilesMax)
  const rights = await rightsWith(
    view,
    looking,
    shown.map(({ stream }) => stream),
  )
  return { items: shown.map((one, at) => ({ ...one, right: rights[at] ?? 'read' })), total }
}
