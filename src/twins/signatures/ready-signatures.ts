import { type Compilable, type Selectable, sql } from 'kysely'
import { plannedAnchor } from '../../anchors/intents/plan-anchor.ts'
import { keptMetadata } from '../../anchors/metadata/metadata-rows.ts'
import type { Clocks } from '../../core/clock.ts'
import { isSignedBy, signed } from '../../ledgers/signatures/check-signature.ts'
import { parseSignatureKey, type SignatureKey } from '../../ledgers/signatures/signature-key.ts'
import { signingText } from '../../ledgers/signatures/signing-text.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { appendedProgress, appendedStep, failedStatus, storedStatus } from '../progress/progress.ts'
import type { ContentKeys } from './content-keys.ts'
import type { ShownSignature, Signature } from './signature.ts'
import { eventsOfSignature } from './signature-events.ts'
import { signatureMetadata } from './signature-metadata.ts'
import { maySign, shownSignatures } from './signature-store.ts'

/** Signatures that are looked at in one transaction: others get their turn between two. */
const portion = 100

export interface ReadySignaturesNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly clock: Clocks
  readonly keys: Pick<ContentKeys, 'current'>
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
}

/** A signature whose attachment waits no more, and what has come of that. */
interface Ready extends ShownSignature {
  /** The name of the attachment. */
  readonly name: string
  /** Empty where nothing has come. */
  readonly contentCid: string
  readonly maySign: boolean
}

interface Failure {
  readonly error: 'signature_mismatch' | 'content_failed' | 'permission_ended'
  readonly message: string
}

/**
 * Signs or checks some of those whose content is there, and ends those whose content never will be. Resolves with whether
 * there may be more.
 *
 * All that is to be known is in rows, and what is done of it is done once: the change of a row that was looked at finds it
 * no more.
 */
export async function treatReady(needs: ReadySignaturesNeeds): Promise<boolean> {
  const some = await readyOnes(needs)
  if (some.length === 0) return false
  const planned = await Promise.all(some.map((one) => changesOf(needs, one)))
  if (await needs.writer.attempt(...planned.flat())) return some.length === portion
  // One of them was changed in between: the others do not wait for it.
  let isAnyDone = false
  for (const changes of planned) isAnyDone = (await needs.writer.attempt(...changes)) || isAnyDone
  return isAnyDone
}

async function readyOnes({ state, clock }: ReadySignaturesNeeds): Promise<readonly Ready[]> {
  const { rows } = await sql<ReadyRow>`
    SELECT signatures.*, attachments.name AS attachment_name, attachments.cid AS content_cid,
      ${maySign(sql.ref('signatures.signer_id'), clock.nowUs())} AS may_sign
    FROM signatures JOIN attachments ON attachments.id = signatures.attachment_id
    WHERE signatures.ready = 1 ORDER BY signatures.created_at, signatures.id LIMIT ${portion}`.execute(
    state,
  )
  const shown = await shownSignatures(state, rows)
  return rows.map((row, at) => ({
    ...(shown[at] as ShownSignature),
    name: row.attachment_name,
    contentCid: row.content_cid,
    maySign: row.may_sign === 1,
  }))
}

interface ReadyRow extends Selectable<StateSchema['signatures']> {
  readonly attachment_name: string
  readonly content_cid: string
  readonly may_sign: number
}

async function changesOf(
  needs: ReadySignaturesNeeds,
  ready: Ready,
): Promise<readonly Compilable[]> {
  const { contentCid: cid, signature } = ready
  if (cid === '') return failedChanges(needs, ready, contentFailed)
  if (!ready.maySign) return failedChanges(needs, ready, permissionEnded)
  if (signature.isByService)
    return await storedChanges(needs, signedByService(needs, signature, cid))
  const isGood = isSignedBy(keyOf(signature), signingText(cid), signature.signature)
  if (!isGood) return failedChanges(needs, ready, mismatched)
  return await storedChanges(needs, { ...signature, cid })
}

const contentFailed: Failure = {
  error: 'content_failed',
  message: 'the attachment never got its content',
}

const permissionEnded: Failure = {
  error: 'permission_ended',
  message: 'when the content came, the signer was not let write any more',
}

const mismatched: Failure = {
  error: 'signature_mismatch',
  message: 'that key did not make the signature over the text that names the content',
}

function signedByService(
  { keys }: ReadySignaturesNeeds,
  signature: Signature,
  cid: string,
): Signature {
  const { key, privateKey } = keys.current
  return {
    ...signature,
    cid,
    keyId: key.id,
    publicKey: key.text,
    signature: signed(signingText(cid), privateKey),
  }
}

function keyOf({ algorithm, publicKey }: Signature): SignatureKey {
  const key = parseSignatureKey(algorithm, JSON.parse(publicKey) as Record<string, unknown>)
  if ('problem' in key) throw new Error(`a key that was kept ${key.problem}`)
  return key
}

/** Keeps what was signed or checked, and has it anchored: one leaf among those of others. */
async function storedChanges(
  needs: ReadySignaturesNeeds,
  signature: Signature,
): Promise<readonly Compilable[]> {
  const { state, clock } = needs
  const { id, attachmentId, cid, keyId, publicKey, signature: text, ledger, network } = signature
  const nowUs = clock.nowUs()
  const metadata = await signatureMetadata(signature)
  const update = state
    .updateTable('signatures')
    .set({
      status: storedStatus,
      progress: appendedProgress(storedStatus, nowUs),
      cid,
      key_id: keyId,
      public_key: publicKey,
      signature: text,
      ready: 0,
    })
    .where('id', '=', id)
    .where(sql<boolean>`ready = 1`)
    // A permission, and a key of the service, may have ended meanwhile: then it is looked at anew.
    .where(
      sql<boolean>`EXISTS (SELECT 1 FROM attachments
        WHERE id = ${attachmentId} AND ${maySign(signature.signerId, nowUs)})`,
    )
    .where(
      sql<boolean>`(by_service = 0 OR EXISTS (SELECT 1 FROM content_keys
        WHERE kid = ${keyId} AND retired_at IS NULL))`,
    )
  return [
    update,
    keptMetadata(state, id, metadata),
    ...plannedAnchor(needs, {
      resourceType: 'signature',
      resourceId: id,
      operation: 'creation',
      ledger,
      network,
      kind: 'root',
      parts: [{ name: '', cid: metadata.cid }],
    }),
  ]
}

function failedChanges(
  { state, clock, lifecycle }: ReadySignaturesNeeds,
  { signature, signedBy, name }: Ready,
  failure: Failure,
): readonly Compilable[] {
  const nowUs = clock.nowUs()
  const after: Signature = {
    ...signature,
    status: failedStatus,
    progress: appendedStep(signature.progress, failedStatus, nowUs),
    failure: JSON.stringify(failure),
  }
  const update = state
    .updateTable('signatures')
    .set({
      status: failedStatus,
      progress: appendedProgress(failedStatus, nowUs),
      failure: after.failure,
      ready: 0,
    })
    .where('id', '=', signature.id)
    .where(sql<boolean>`ready = 1`)
  const events = eventsOfSignature({ signature: after, signedBy }, { word: 'failed', name })
  return [update, ...events.flatMap((event) => lifecycle.record(event))]
}
