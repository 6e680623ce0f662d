import { type Compilable, type RawBuilder, type Selectable, sql } from 'kysely'
import { forgottenAnchorsOf } from '../../anchors/intents/plan-anchor.ts'
import type { Clock } from '../../core/clock.ts'
import { type AttachmentId, newId, type SignatureId, type UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { SignatureAlgorithm } from '../../ledgers/signatures/signature-key.ts'
import { optional, type StateDatabase } from '../../storage/state/database.ts'
import { pageOf, type Slice } from '../../storage/state/listing.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import type { Attachment } from '../attachments/attachment.ts'
import { failedStatus, receivedStatus, startedProgress } from '../progress/progress.ts'
import { roleOf } from '../rights/shared-rows.ts'
import {
  type BroughtSignature,
  type ShownSignature,
  type Signature,
  signaturesMax,
} from './signature.ts'

/** Signatures that whoever has a CID is told of. The first ones: later ones cannot hide them. */
const listedMax = 100

export interface SignaturePage {
  readonly items: readonly ShownSignature[]
  readonly total: number
}

export interface SignatureStoreNeeds {
  readonly state: StateDatabase
  readonly clock: Clock
}

/** What is wanted: one that is brought along, or one by the service. */
export interface WantedSignature {
  readonly signerId: UserId
  readonly brought: BroughtSignature | undefined
  readonly network: string
}

export class SignatureStore {
  readonly #needs: SignatureStoreNeeds

  constructor(needs: SignatureStoreNeeds) {
    this.#needs = needs
  }

  /**
   * A new signature as it is received, and the changes that store it. They find nothing to change when its attachment
   * is gone or has failed, the signer may not write, there are too many, or this signer or key has signed already.
   */
  plan(
    attachment: Attachment,
    { signerId, brought, network }: WantedSignature,
  ): { readonly signature: Signature; readonly changes: readonly Compilable[] } {
    const { clock } = this.#needs
    const createdAtUs = clock.nowUs()
    const signature: Signature = {
      id: newId<SignatureId>(),
      ownerId: attachment.ownerId,
      signerId,
      createdAtUs,
      attachmentId: attachment.id,
      isByService: brought === undefined,
      algorithm: brought?.key.algorithm ?? 'Ed25519',
      keyId: brought?.key.id ?? '',
      publicKey: brought?.key.text ?? '',
      signature: brought?.signature ?? '',
      cid: '',
      ledger: attachment.ledger,
      network,
      status: receivedStatus,
      txHash: '',
      progress: startedProgress(createdAtUs, receivedStatus),
      failure: null,
    }
    return { signature, changes: [this.#insertion(signature), this.#counted(attachment.id)] }
  }

  #insertion(signature: Signature): Compilable {
    const { id, ownerId, signerId, createdAtUs, attachmentId, isByService, algorithm } = signature
    const { keyId, publicKey, signature: text, ledger, network, status, progress } = signature
    return this.#needs.state
      .insertInto('signatures')
      .columns(insertedColumns)
      .expression(
        sql`SELECT ${id}, ${ownerId}, ${signerId}, ${createdAtUs}, id, ${isByService ? 1 : 0}, ${algorithm},
              ${keyId}, ${publicKey}, ${text}, upload_due_at IS NULL, ${ledger}, ${network},
              ${status}, ${progress}
            FROM attachments
            WHERE id = ${attachmentId} AND status <> ${failedStatus}
              AND ${maySign(signerId, createdAtUs)}
              AND ${isBelow('signatures_of_attachment', attachmentId, signaturesMax)}`,
      )
      .onConflict((conflict) => conflict.doNothing())
  }

  #counted(attachmentId: AttachmentId): Compilable {
    return countChange(this.#needs.state, 'signatures_of_attachment', attachmentId, 1)
  }

  async hasRoom(attachmentId: AttachmentId): Promise<boolean> {
    const total = await totalOf(this.#needs.state, 'signatures_of_attachment', attachmentId)
    return total < signaturesMax
  }

  /** The name of a user; null for one who was deleted. */
  async nameOf(userId: UserId): Promise<string | null> {
    return (await namesOf(this.#needs.state, [userId])).get(userId) ?? null
  }

  async find(attachmentId: AttachmentId, id: SignatureId): Promise<ShownSignature | undefined> {
    const row = await this.#needs.state
      .selectFrom('signatures')
      .selectAll()
      .where('id', '=', id)
      .where('attachment_id', '=', attachmentId)
      .executeTakeFirst()
    const [shown] = await shownSignatures(this.#needs.state, row ? [row] : [])
    return shown
  }

  /** The signature of an attachment that was made with a key, and has not failed. */
  async ofKey(attachmentId: AttachmentId, keyId: string): Promise<Signature | undefined> {
    const row = await this.#needs.state
      .selectFrom('signatures')
      .selectAll()
      .where('attachment_id', '=', attachmentId)
      .where('key_id', '=', keyId)
      .where('by_service', '=', sql<number>`0`)
      .where('status', '<>', sql<string>`'FAILED'`)
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** The first that were made of a content, whoever has it, of those that were checked. */
  async ofContent(cid: string): Promise<readonly Signature[]> {
    const rows = await this.#needs.state
      .selectFrom('signatures')
      .selectAll()
      .where('cid', '=', cid)
      .where('cid', '<>', sql<string>`''`)
      .orderBy('created_at')
      .orderBy('id')
      .limit(listedMax)
      .execute()
    return rows.map(fromRow)
  }

  /** A page of the signatures of one attachment, the oldest first. */
  async listPage(attachmentId: AttachmentId, slice: Slice): Promise<SignaturePage> {
    const { state } = this.#needs
    const { rows, total } = await pageOf(
      state,
      {
        table: 'signatures',
        condition: sql<boolean>`attachment_id = ${attachmentId}`,
        orderBy: 'created_at',
        direction: 'asc',
        total: ['signatures_of_attachment', attachmentId],
      },
      slice,
    )
    return { items: await shownSignatures(state, rows), total }
  }
}

/** Whether a user may sign what a row of `attachments` is of: its owner, and who may write what it is attached to. */
export function maySign(signerId: UserId | RawBuilder<string>, nowUs: number): RawBuilder<boolean> {
  return sql`(EXISTS (SELECT 1 FROM users WHERE id = ${signerId} AND deleted_at IS NULL)
    AND (attachments.owner_id = ${signerId}
      OR ${roleOf(signerId, sql`attachments.stream_id`, nowUs)} = 'WRITE'))`
}

/** For the transaction that removes an attachment: its signatures go with it. */
export function forgottenSignatures(
  state: StateDatabase,
  attachmentId: AttachmentId,
): readonly Compilable[] {
  const ids = sql`SELECT id FROM signatures WHERE attachment_id = ${attachmentId}`
  return [
    ...forgottenAnchorsOf(state, ids),
    state.deleteFrom('signatures').where('attachment_id', '=', attachmentId),
    state
      .deleteFrom('totals')
      .where('list', '=', 'signatures_of_attachment')
      .where('owner_id', '=', attachmentId),
  ].map(optional)
}

/** Signatures with the names of those who have signed. */
export async function shownSignatures(
  state: StateDatabase,
  rows: readonly Selectable<StateSchema['signatures']>[],
): Promise<readonly ShownSignature[]> {
  const found = rows.map(fromRow)
  const names = await namesOf(
    state,
    found.map(({ signerId }) => signerId),
  )
  return found.map((signature) => ({
    signature,
    signedBy: names.get(signature.signerId) ?? null,
  }))
}

async function namesOf(
  state: StateDatabase,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<string, string>> {
  const ids = JSON.stringify([...new Set(userIds)])
  const rows = await state
    .selectFrom('users')
    .select(['id', 'username'])
    .where(sql<boolean>`id IN (SELECT value FROM json_each(${ids}))`)
    .where('deleted_at', 'is', null)
    .execute()
  return new Map(rows.map(({ id, username }) => [id, username]))
}

const insertedColumns = [
  'id',
  'owner_id',
  'signer_id',
  'created_at',
  'attachment_id',
  'by_service',
  'algorithm',
  'key_id',
  'public_key',
  'signature',
  'ready',
  'ledger',
  'network',
  'status',
  'progress',
] as const

/** A signature, made of what is stored. */
function fromRow(row: Selectable<StateSchema['signatures']>): Signature {
  return {
    id: row.id as SignatureId,
    ownerId: row.owner_id as UserId,
    signerId: row.signer_id as UserId,
    createdAtUs: row.created_at,
    attachmentId: row.attachment_id as AttachmentId,
    isByService: row.by_service === 1,
    algorithm: row.algorithm as SignatureAlgorithm,
    keyId: row.key_id,
    publicKey: row.public_key,
    signature: row.signature,
    cid: row.cid,
    ledger: row.ledger as Ledger,
    network: row.network,
    status: row.status,
    txHash: row.tx_hash,
    progress: row.progress,
    failure: row.failure,
  }
}
